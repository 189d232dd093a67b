/* SPDX-License-Identifier: Apache-2.0 */
/* From the counts of the instructions of a launch to its metrics (libtrace/metrics.def). */
#include "libtrace/simulated/sums.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum metric_id {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) METRIC_##name = (id),
#include "libtrace/metrics.def"
#undef GMT_METRIC
};

#define EVERY_KIND SIM_INST_KINDS

/* A metric is a member of the sites' counts, summed over the sites of one kind. */
struct metric_sum {
    uint16_t metric;
    uint8_t kind;
    uint8_t member; /* offset in struct sim_inst_counts */
};

#define SUM(metric, kind, member) \
    { \
        METRIC_##metric, (kind), offsetof(struct sim_inst_counts, member) \
    }

static const struct metric_sum sums[] = {
    SUM(global_load_bytes, SIM_INST_GLOBAL_LOAD, bytes),
    SUM(global_load_sectors, SIM_INST_GLOBAL_LOAD, sectors),
    SUM(global_load_ideal_sectors, SIM_INST_GLOBAL_LOAD, ideal_sectors),
    SUM(global_load_lines, SIM_INST_GLOBAL_LOAD, lines),
    SUM(global_load_requests, SIM_INST_GLOBAL_LOAD, requests),
    SUM(global_store_bytes, SIM_INST_GLOBAL_STORE, bytes),
    SUM(global_store_sectors, SIM_INST_GLOBAL_STORE, sectors),
    SUM(global_store_ideal_sectors, SIM_INST_GLOBAL_STORE, ideal_sectors),
    SUM(global_store_lines, SIM_INST_GLOBAL_STORE, lines),
    SUM(global_store_requests, SIM_INST_GLOBAL_STORE, requests),
    SUM(global_atomic_requests, SIM_INST_GLOBAL_ATOMIC, requests),
    SUM(global_atomic_sectors, SIM_INST_GLOBAL_ATOMIC, sectors),
    SUM(local_load_requests, SIM_INST_LOCAL_LOAD, requests),
    SUM(local_load_sectors, SIM_INST_LOCAL_LOAD, sectors),
    SUM(local_store_requests, SIM_INST_LOCAL_STORE, requests),
    SUM(local_store_sectors, SIM_INST_LOCAL_STORE, sectors),
    SUM(shared_load_bytes, SIM_INST_SHARED_LOAD, bytes),
    SUM(shared_load_wavefronts, SIM_INST_SHARED_LOAD, wavefronts),
    SUM(shared_load_ideal_wavefronts, SIM_INST_SHARED_LOAD, ideal_wavefronts),
    SUM(shared_load_requests, SIM_INST_SHARED_LOAD, requests),
    SUM(shared_store_bytes, SIM_INST_SHARED_STORE, bytes),
    SUM(shared_store_wavefronts, SIM_INST_SHARED_STORE, wavefronts),
    SUM(shared_store_ideal_wavefronts, SIM_INST_SHARED_STORE, ideal_wavefronts),
    SUM(shared_store_requests, SIM_INST_SHARED_STORE, requests),
    SUM(shared_atomic_requests, SIM_INST_SHARED_ATOMIC, requests),
    SUM(shared_atomic_wavefronts, SIM_INST_SHARED_ATOMIC, wavefronts),
    SUM(constant_load_instructions, SIM_INST_CONST_LOAD, requests),
    SUM(constant_distinct_addresses, SIM_INST_CONST_LOAD, addresses),
    SUM(async_copy_instructions, SIM_INST_ASYNC_COPY, requests),
    SUM(async_copy_bytes, SIM_INST_ASYNC_COPY, bytes),
    SUM(async_copy_sectors, SIM_INST_ASYNC_COPY, sectors),
    SUM(async_copy_ideal_sectors, SIM_INST_ASYNC_COPY, ideal_sectors),
    SUM(async_copy_wavefronts, SIM_INST_ASYNC_COPY, wavefronts),
    SUM(barriers, SIM_INST_BARRIER, executed),
    SUM(barrier_idle_lanes, SIM_INST_BARRIER, addresses),
    SUM(divergent_branches, SIM_INST_BRANCH, addresses),
    SUM(mixed_space_requests, SIM_INST_GENERIC, requests),
    SUM(instructions, EVERY_KIND, executed),
    SUM(thread_instructions, EVERY_KIND, lanes),
};
#define SUMS (sizeof(sums) / sizeof(sums[0]))

static_assert(SUMS + 3 <= GMT_SIMULATED_METRICS, "room for the sums and what is no sum");
static_assert(sizeof(struct sim_inst_counts) <= UINT8_MAX, "offsets of members fit");

static uint64_t member(const struct sim_inst_counts *site, uint8_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)site + offset, sizeof(value));
    return value;
}

static uint64_t sum_of(const struct sim_counts *counts, const struct metric_sum *sum)
{
    uint64_t total = 0;
    for (size_t i = 0; i < counts->site_count; i++) {
        if (sum->kind == EVERY_KIND || counts->sites[i].kind == sum->kind) {
            total += member(&counts->sites[i], sum->member);
        }
    }
    return total;
}

size_t gmt_simulated_sums(const struct sim_counts *counts,
                          struct gmt_counter_value values[static GMT_SIMULATED_METRICS])
{
    size_t n = 0;
    for (size_t i = 0; i < SUMS; i++) {
        values[n++] = (struct gmt_counter_value){.metric = sums[i].metric,
                                                 .value = (double)sum_of(counts, &sums[i])};
    }
    uint32_t degree = 0;
    for (size_t i = 0; i < counts->site_count; i++) {
        degree = counts->sites[i].max_degree > degree ? counts->sites[i].max_degree : degree;
    }
    uint64_t read_sectors = 0, write_sectors = 0;
    for (size_t i = 0; i < counts->footprint_count; i++) {
        read_sectors += counts->footprints[i].read_sectors;
        write_sectors += counts->footprints[i].write_sectors;
    }
    values[n++] = (struct gmt_counter_value){.metric = METRIC_shared_conflict_degree,
                                             .value = (double)degree};
    values[n++] = (struct gmt_counter_value){.metric = METRIC_footprint_read_bytes,
                                             .value = (double)read_sectors * 32};
    values[n++] = (struct gmt_counter_value){.metric = METRIC_footprint_write_bytes,
                                             .value = (double)write_sectors * 32};
    return n;
}
