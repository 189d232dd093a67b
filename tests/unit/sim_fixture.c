/* SPDX-License-Identifier: Apache-2.0 */
/* Trying kernels written in PTX on the interpreter. */
#include "sim_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void add_region(struct sim_try *trial, const void *base, size_t bytes, uint32_t flags)
{
    size_t at = trial->map.count++;

    cr_assert_lt(at, sizeof(trial->regions) / sizeof(trial->regions[0]));
    while (at > 0 && trial->regions[at - 1].base > (uint64_t)(uintptr_t)base) {
        trial->regions[at] = trial->regions[at - 1];
        at--;
    }
    trial->regions[at] = (struct sim_region){
        .base = (uint64_t)(uintptr_t)base, .bytes = bytes, .flags = flags, .id = (uint32_t)at};
}

struct sim_try *sim_try_new(const char *ptx)
{
    struct sim_try *trial = calloc(1, sizeof(*trial));
    struct sim_global *globals;
    struct ptx_error error;

    cr_assert_not_null(trial);
    struct ptx_module *module = ptx_parse(ptx, strlen(ptx), &error);
    cr_assert_not_null(module, "line %u: %s", error.line, error.text);
    trial->module = sim_module_new(module, &trial->error);
    cr_assert_not_null(trial->module, "%s", trial->error.text);
    const size_t count = sim_module_globals(trial->module, &globals);
    for (size_t i = 0; i < count; i++) {
        add_region(trial, globals[i].data, globals[i].bytes,
                   globals[i].is_const ? SIM_REGION_CONST : SIM_REGION_GLOBAL);
    }
    add_region(trial, trial->out, sizeof(trial->out), 0);
    trial->map.regions = trial->regions;
    trial->launch = (struct sim_launch){
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .map = &trial->map, .count = true, .workers = 1};
    return trial;
}

void sim_try_end(struct sim_try *trial)
{
    sim_counts_clear(&trial->counts);
    sim_module_free(trial->module);
    free(trial);
}

enum sim_status sim_try_run(struct sim_try *trial, const char *kernel)
{
    trial->launch.kernel = sim_module_find_kernel(trial->module, kernel);
    cr_assert_not_null(trial->launch.kernel, "no kernel %s", kernel);
    trial->params.out = (uint64_t)(uintptr_t)trial->out;
    trial->params.n = trial->n;
    trial->launch.params = &trial->params;
    trial->launch.map = &trial->map;
    sim_counts_clear(&trial->counts);
    trial->status = sim_run(&trial->launch, &trial->counts, &trial->error);
    return trial->status;
}

void sim_try_ok(struct sim_try *trial, const char *kernel)
{
    const enum sim_status status = sim_try_run(trial, kernel);

    cr_assert_eq(status, SIM_OK, "%s", trial->error.text);
}

const struct sim_inst_counts *sim_try_inst(const struct sim_try *trial, const char *opcode,
                                           unsigned n)
{
    size_t count;
    const struct sim_inst_info *sites = sim_kernel_insts(trial->launch.kernel, &count);

    cr_assert_eq(trial->counts.site_count, count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(sites[i].opcode, opcode, strlen(opcode)) == 0 && n-- == 0) {
            return &trial->counts.sites[i];
        }
    }
    cr_assert_fail("no %s", opcode);
    return NULL;
}
