/* SPDX-License-Identifier: Apache-2.0 */
/* Over a thousand access patterns: the software device counts what an H200's counters read. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/exec.h"
#include "tests/simgpu/access/fixture.h"

TestSuite(sim_access, .timeout = 60);

static const struct metric {
    const char *name;
    enum access_kernel kernel;
    enum sim_inst_kind kind;
    const char *opcode;
    size_t member;
} metrics[] = {
#define METRIC(name, kernel, kind, opcode, member) \
    {#name, ACCESS_##kernel, SIM_INST_##kind, opcode, offsetof(struct sim_inst_counts, member)},
#include "tests/simgpu/access/metrics.def"
#undef METRIC
};
#define METRIC_COUNT (sizeof metrics / sizeof metrics[0])

#define KERNEL_CONSTANTS 3 /* reads of parameters that the hardware counts with ours */

/* What the GPU read, as one PTX instruction would show it; not measured where it cannot be. */
static double expected(const struct access_fixture *fixture, size_t index,
                       const struct access_pattern *pattern, const struct metric *metric)
{
    double value = access_reading_of(fixture, metric->kernel, index, metric->name);

    /* CUPTI's software counter strays where lanes of wide loads are off; the hardware's is right. */
    if (strcmp(metric->name, "shared_load_wavefronts") == 0 && pattern->width >= 8) {
        value = access_reading_of(fixture, metric->kernel, index, "hw_shared_load_wavefronts");
    }
    /* A 64-bit atomic addition in shared memory is a loop of loads and exchanges in machine code. */
    if (metric->kind == SIM_INST_SHARED_ATOMIC && pattern->width == 8) {
        return ACCESS_NOT_MEASURED;
    }
    if (pattern->kernel == ACCESS_CONST) { /* 16 bytes are four loads there */
        return (value - KERNEL_CONSTANTS) / (pattern->width == 16 ? 4 : 1);
    }
    return value;
}

static double counted(const struct sim_counts *counts, const struct sim_inst_info *sites,
                      const struct metric *metric)
{
    uint64_t sum = 0, value;

    for (size_t i = 0; i < counts->site_count; i++) {
        const uint8_t *site = (const uint8_t *)&counts->sites[i];
        memcpy(&value, site + metric->member, sizeof value);
        if (counts->sites[i].kind == metric->kind &&
            strncmp(sites[i].opcode, metric->opcode, strlen(metric->opcode)) == 0) {
            sum += value;
        }
    }
    return (double)sum;
}

static _Alignas(256) uint8_t buffer[ACCESS_BUFFER_BYTES];

static void run(struct sim_module *module, const struct access_pattern *pattern,
                const struct sim_kernel *kernel, struct sim_counts *counts)
{
    struct access_params params = {.buffer = (uint64_t)(uintptr_t)buffer, .mask = pattern->mask};
    struct sim_region regions[2] = {{.base = params.buffer, .bytes = sizeof buffer}};
    const struct sim_map map = {regions, 2};
    struct sim_launch launch = {.kernel = kernel,
                                .grid = {1, 1, 1},
                                .block = {ACCESS_LANES, 1, 1},
                                .params = &params,
                                .map = &map,
                                .workers = 1,
                                .count = true};
    struct sim_global *globals;
    struct sim_error error;

    cr_assert_eq(sim_module_globals(module, &globals), 1);
    const unsigned at = (uint64_t)(uintptr_t)globals->data > params.buffer ? 1 : 0;
    regions[1 - at] = regions[0];
    regions[at] = (struct sim_region){.base = (uint64_t)(uintptr_t)globals->data,
                                      .bytes = globals->bytes,
                                      .flags = SIM_REGION_CONST};
    memcpy(params.table, pattern->offset, sizeof params.table);
    memcpy(buffer, pattern->offset, sizeof pattern->offset); /* for the constant kernels */
    cr_assert_eq(sim_run(&launch, counts, &error), SIM_OK, "%s", error.text);
}

Test(sim_access, counts_are_those_of_an_h200)
{
    static struct access_pattern patterns[ACCESS_MAX_PATTERNS];
    static struct access_fixture fixture;
    const size_t count = access_patterns(patterns);
    size_t compared = 0, wrong = 0;
    struct ptx_error error;
    struct sim_error module_error;
    char *ptx = access_ptx();

    cr_assert_eq(access_fixture_read(ACCESS_FIXTURE, &fixture), 0);
    cr_assert_eq(fixture.count, count);
    struct ptx_module *parsed = ptx_parse(ptx, strlen(ptx), &error);
    cr_assert_not_null(parsed, "line %u: %s", error.line, error.text);
    struct sim_module *module = sim_module_new(parsed, &module_error);
    cr_assert_not_null(module, "%s", module_error.text);
    for (size_t i = 0; i < count; i++) {
        const struct sim_kernel *kernel = sim_module_find_kernel(module, fixture.rows[i].kernel);
        struct sim_counts counts = {0};
        size_t sites;

        cr_assert_str_eq(fixture.rows[i].pattern, patterns[i].name);
        run(module, &patterns[i], kernel, &counts);
        const struct sim_inst_info *infos = sim_kernel_insts(kernel, &sites);
        for (size_t m = 0; m < METRIC_COUNT; m++) {
            const double want = metrics[m].kernel == patterns[i].kernel
                                    ? expected(&fixture, i, &patterns[i], &metrics[m])
                                    : ACCESS_NOT_MEASURED;
            const double got = counted(&counts, infos, &metrics[m]);
            if (want < 0) {
                continue;
            }
            compared++;
            wrong += got != want;
            cr_expect_eq(got, want, "%s %s %s: %g, the GPU %g", fixture.rows[i].kernel,
                         patterns[i].name, metrics[m].name, got, want);
        }
        sim_counts_clear(&counts);
    }
    cr_log_info("%zu patterns, %zu values compared, %zu wrong\n", count, compared, wrong);
    cr_expect_gt(compared, 10000);
    sim_module_free(module);
    free(ptx);
}
