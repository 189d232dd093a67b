/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the software device counted of a launch into the spool. */
#include "libtrace/simulated/write.h"

#include <assert.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/spool.h"
#include "libtrace/simulated/sums.h"

#define SECTOR_BYTES UINT64_C(32)

/* The record's kinds are those of the device. */
#define SAME(ours, theirs) \
    static_assert((int)GMT_INST_##ours == (int)SIM_INST_##theirs, "kinds of instructions")
SAME(OTHER, OTHER);
SAME(GLOBAL_LOAD, GLOBAL_LOAD);
SAME(GLOBAL_STORE, GLOBAL_STORE);
SAME(GLOBAL_ATOMIC, GLOBAL_ATOMIC);
SAME(LOCAL_LOAD, LOCAL_LOAD);
SAME(LOCAL_STORE, LOCAL_STORE);
SAME(SHARED_LOAD, SHARED_LOAD);
SAME(SHARED_STORE, SHARED_STORE);
SAME(SHARED_ATOMIC, SHARED_ATOMIC);
SAME(CONSTANT_LOAD, CONST_LOAD);
SAME(ASYNC_COPY, ASYNC_COPY);
SAME(BARRIER, BARRIER);
SAME(BRANCH, BRANCH);
SAME(GENERIC, GENERIC);
SAME(KINDS, KINDS);
#undef SAME

void gmt_simulated_write_sums(const struct gmt_simulated_launch *launch)
{
    struct gmt_counter_value values[GMT_SIMULATED_METRICS];
    struct gmt_counters record = {
        .launch_seq = launch->launch_seq,
        .kernel_class = launch->kernel_class,
        .group = GMT_GROUP_SIMULATED,
        .source = GMT_SOURCE_SIMULATED,
        .count = (uint16_t)gmt_simulated_sums(launch->counts, values),
    };
    (void)gmt_spool_side_data(GMT_REC_COUNTERS, &record, sizeof(record), values,
                              record.count * sizeof(values[0]));
}

/* Of the sites that anything was inlined at. */
static void write_inlining(const struct gmt_simulated_launch *launch, size_t index)
{
    const struct sim_inst_info *info = &launch->sites[index];
    const char *texts[2 * GMT_INLINE_LEVELS];
    size_t kept[GMT_INLINE_LEVELS], shown = 0;
    struct gmt_inlining record = {.kernel_class = launch->kernel_class, .site = (uint32_t)index};
    while (shown < info->level_count && info->levels[shown].level < 0) {
        shown++;
    }
    record.count = (uint32_t)gmt_inline_pick(info->level_count, shown, kept);
    for (size_t i = 0; i < record.count; i++) {
        const struct sim_source_level *level = &info->levels[kept[i]];
        record.level[i] = level->level;
        record.line[i] = level->line;
        texts[2 * i] = level->function;
        texts[2 * i + 1] = level->file;
    }
    if (record.count > 1) {
        (void)gmt_spool_side(GMT_REC_INLINING, &record, sizeof(record), texts,
                             (size_t)2 * record.count);
    }
}

static void write_site(const struct gmt_simulated_launch *launch, size_t index)
{
    const struct sim_inst_counts *counts = &launch->counts->sites[index];
    const struct sim_inst_info *info = &launch->sites[index];
    struct gmt_instruction record = {
        .launch_seq = launch->launch_seq,
        .kernel_class = launch->kernel_class,
        .site = (uint32_t)index,
        .line = info->line,
        .column = info->column,
        .ptx_line = info->ptx_line,
        .width = info->width,
        .max_degree = counts->max_degree,
        .executed = counts->executed,
        .lanes = counts->lanes,
        .requests = counts->requests,
        .bytes = counts->bytes,
        .sectors = counts->sectors,
        .ideal_sectors = counts->ideal_sectors,
        .lines = counts->lines,
        .wavefronts = counts->wavefronts,
        .ideal_wavefronts = counts->ideal_wavefronts,
        .addresses = counts->addresses,
        .kind = counts->kind,
        .caller_line = info->caller_line,
    };
    (void)gmt_spool_side(
        GMT_REC_INSTRUCTION, &record, sizeof(record),
        (const char *[]){info->function, info->opcode, info->file, info->caller_file}, 4);
}

static void write_footprint(const struct gmt_simulated_launch *launch,
                            const struct sim_footprint *footprint)
{
    uint32_t alloc = launch->allocation_at != NULL ? launch->allocation_at(footprint->base) : 0;
    struct gmt_footprint record = {
        .launch_seq = launch->launch_seq,
        .kernel_class = launch->kernel_class,
        .alloc = alloc,
        .address = footprint->base,
        .bytes = footprint->bytes,
        .read_bytes = footprint->read_sectors * SECTOR_BYTES,
        .write_bytes = footprint->write_sectors * SECTOR_BYTES,
        .read_traffic_bytes = footprint->read_traffic * SECTOR_BYTES,
        .write_traffic_bytes = footprint->write_traffic * SECTOR_BYTES,
    };
    (void)gmt_spool_side(GMT_REC_FOOTPRINT, &record, sizeof(record),
                         (const char *[]){footprint->name}, 1);
}

static void write_race(const struct gmt_simulated_launch *launch, const struct sim_race *race)
{
    if (race->first_site >= launch->site_count || race->second_site >= launch->site_count) {
        return;
    }
    const struct sim_inst_info *first = &launch->sites[race->first_site];
    const struct sim_inst_info *second = &launch->sites[race->second_site];
    struct gmt_race record = {
        .launch_seq = launch->launch_seq,
        .kernel_class = launch->kernel_class,
        .line = {first->line, second->line},
        .ptx_line = {first->ptx_line, second->ptx_line},
        .caller_line = {first->caller_line, second->caller_line},
        .count = race->count,
    };
    (void)gmt_spool_side(GMT_REC_RACE, &record, sizeof(record),
                         (const char *[]){first->opcode, first->file, first->caller_file,
                                          second->opcode, second->file, second->caller_file},
                         6);
}

void gmt_simulated_write_details(const struct gmt_simulated_launch *launch)
{
    const struct sim_counts *counts = launch->counts;
    if (launch->sites == NULL || launch->site_count != counts->site_count) {
        gmt_spool_loss("instruction counts", launch->kernel_name, 1);
    } else {
        for (size_t i = 0; i < counts->site_count; i++) {
            if (counts->sites[i].executed != 0) {
                write_site(launch, i);
                write_inlining(launch, i);
            }
        }
        for (size_t i = 0; i < counts->race_count; i++) {
            write_race(launch, &counts->races[i]);
        }
    }
    for (size_t i = 0; i < counts->footprint_count; i++) {
        write_footprint(launch, &counts->footprints[i]);
    }
}
