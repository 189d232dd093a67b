/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX or a fat binary for the software device: unpacked, parsed, checked for what the parser promises; every
 * kernel is run with a small grid, little memory and a bound on instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/exec.h"
#include "simgpu/fatbin/fatbin.h"
#include "simgpu/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

enum {
    ARRAY_BYTES = 4096,          /* the memory a kernel gets by pointer */
    GLOBAL_BYTES = 1 << 20,      /* of variables in a module that is run */
    PARAM_WORDS = 32764 / 8 + 1, /* as much as a kernel may have */
    INSTRUCTIONS = 20000,        /* of a launch */
    REGIONS = 256,
};

/* ---- what the parser promises ---------------------------------------------------------------- */

static void check_operand(const struct ptx_function *function, const struct ptx_operand *operand)
{
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_NONE);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_REGISTER ||
                     operand->reg < function->register_count);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_LABEL ||
                     operand->label <= function->instruction_count);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_SPECIAL || operand->special != NULL);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_VARIABLE || operand->variable != NULL);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_FUNCTION || operand->function != NULL);
    GMT_FUZZ_REQUIRE(operand->kind != PTX_OPERAND_ADDRESS || operand->count > 0);
    if (operand->kind == PTX_OPERAND_TABLE && operand->table->labels != NULL) {
        for (uint32_t i = 0; i < operand->table->count; i++) {
            GMT_FUZZ_REQUIRE(operand->table->labels[i] <= function->instruction_count);
        }
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        check_operand(function, &operand->items[i]);
    }
}

static void check_function(const struct ptx_module *module, const struct ptx_function *function)
{
    uint32_t count = function->instruction_count;
    uint32_t *meet = malloc(((size_t)count + 1) * sizeof(*meet));

    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];

        GMT_FUZZ_REQUIRE(instruction->loc < module->loc_count);
        GMT_FUZZ_REQUIRE((size_t)instruction->text_offset + instruction->text_bytes <=
                         module->text_bytes);
        GMT_FUZZ_REQUIRE(!instruction->guarded || instruction->guard < function->register_count);
        for (uint32_t j = 0; j < instruction->operand_count; j++) {
            check_operand(function, &instruction->operands[j]);
        }
    }
    if (meet != NULL && ptx_reconvergence(function, meet) == 0) {
        for (uint32_t i = 0; i < count; i++) {
            GMT_FUZZ_REQUIRE(meet[i] < count || meet[i] == PTX_NO_RECONVERGENCE);
        }
    }
    free(meet);
}

static void check_locs(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->loc_count; i++) {
        const struct ptx_loc *loc = &module->locs[i];

        GMT_FUZZ_REQUIRE(loc->inlined_at == 0 || loc->inlined_at < i);
        GMT_FUZZ_REQUIRE(loc->shown <= i && loc->caller <= i);
        GMT_FUZZ_REQUIRE(loc->inlined_function == NULL ||
                         strlen(loc->inlined_function) < UINT32_MAX);
    }
}

static uint64_t variable_bytes(const struct ptx_module *module)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = module->variables[i];

        GMT_FUZZ_REQUIRE(variable->align != 0 && (variable->align & (variable->align - 1)) == 0);
        for (size_t j = 0; j < variable->relocation_count; j++) {
            const struct ptx_relocation *relocation = &variable->relocations[j];

            GMT_FUZZ_REQUIRE(relocation->at + relocation->bytes <= variable->bytes);
            GMT_FUZZ_REQUIRE((relocation->variable != NULL) != (relocation->function != NULL));
        }
        if (variable->space == PTX_GLOBAL || variable->space == PTX_CONST) {
            bytes += variable->bytes < GLOBAL_BYTES ? variable->bytes : GLOBAL_BYTES + 1;
        }
    }
    return bytes;
}

/* ---- running kernels ------------------------------------------------------------------------- */

struct memory {
    struct sim_region regions[REGIONS];
    size_t count;
    uint8_t *array;
};

static int by_base(const void *a, const void *b)
{
    const struct sim_region *left = a, *right = b;

    return left->base < right->base ? -1 : left->base > right->base;
}

static void map_globals(struct memory *memory, struct sim_module *module)
{
    struct sim_global *globals;
    size_t count = sim_module_globals(module, &globals);

    for (size_t i = 0; i < count && memory->count < REGIONS; i++) {
        if (globals[i].bytes != 0) {
            memory->regions[memory->count++] = (struct sim_region){
                .base = (uint64_t)(uintptr_t)globals[i].data,
                .bytes = globals[i].bytes,
                .flags = SIM_REGION_GLOBAL | (globals[i].is_const ? SIM_REGION_CONST : 0U),
                .name = globals[i].name};
        }
    }
    qsort(memory->regions, memory->count, sizeof(memory->regions[0]), by_base);
}

/* Parameters of 8 bytes are taken for pointers, others for small numbers. */
static void fill_params(uint64_t *params, const struct sim_kernel_info *info,
                        const struct memory *memory)
{
    uint64_t pointer = (uint64_t)(uintptr_t)memory->array;
    uint32_t number = 37;

    memset(params, 0, (size_t)PARAM_WORDS * 8);
    for (unsigned i = 0; i < info->param_count; i++) {
        uint8_t *at = (uint8_t *)params + info->params[i].offset;

        GMT_FUZZ_REQUIRE(info->params[i].offset + info->params[i].bytes <= info->param_bytes);
        GMT_FUZZ_REQUIRE(info->param_bytes <= (size_t)PARAM_WORDS * 8);
        if (info->params[i].bytes == 8) {
            memcpy(at, &pointer, 8);
        } else if (info->params[i].bytes >= 4) {
            memcpy(at, &number, 4);
        }
    }
}

static void run_kernel(const struct sim_kernel *kernel, const struct memory *memory)
{
    static uint64_t params[PARAM_WORDS];
    const struct sim_kernel_info *info = sim_kernel_info(kernel);
    struct sim_map map = {memory->regions, memory->count};
    struct sim_launch launch = {.kernel = kernel,
                                .grid = {2, 1, 1},
                                .block = {20, 2, 1},
                                .dynamic_shared_bytes = 512,
                                .params = params,
                                .map = &map,
                                .stack_bytes = 2048,
                                .grid_id = 1,
                                .workers = 1,
                                .count = true,
                                .check_races = true,
                                .instruction_limit = INSTRUCTIONS};
    struct sim_counts counts = {0};
    struct sim_error error = {{0}};
    size_t sites;
    enum sim_status status;

    fill_params(params, info, memory);
    sim_kernel_insts(kernel, &sites);
    status = sim_run(&launch, &counts, &error);
    GMT_FUZZ_REQUIRE(status == SIM_OK || error.text[0] != '\0');
    GMT_FUZZ_REQUIRE(strnlen(error.text, sizeof(error.text)) < sizeof(error.text));
    GMT_FUZZ_REQUIRE(status != SIM_OK || counts.site_count == sites);
    sim_counts_clear(&counts);
}

static void run_module(struct sim_module *module)
{
    struct memory memory = {.array = aligned_alloc(256, ARRAY_BYTES)};

    if (memory.array == NULL) {
        return;
    }
    memset(memory.array, 0, ARRAY_BYTES);
    memory.regions[memory.count++] = (struct sim_region){
        .base = (uint64_t)(uintptr_t)memory.array, .bytes = ARRAY_BYTES, .id = 1};
    map_globals(&memory, module);
    for (size_t i = 0; i < sim_module_kernel_count(module) && i < 8; i++) {
        run_kernel(sim_module_kernel(module, i), &memory);
    }
    sim_print_flush();
    free(memory.array);
}

/* ---- one execution --------------------------------------------------------------------------- */

static void execute_ptx(const char *text, size_t bytes)
{
    struct ptx_error parse_error;
    struct sim_error error = {{0}};
    struct ptx_module *ptx = ptx_parse(text, bytes, &parse_error);
    struct sim_module *module;

    GMT_FUZZ_REQUIRE(ptx != NULL || parse_error.text[0] != '\0');
    GMT_FUZZ_REQUIRE(ptx != NULL || strchr(parse_error.text, '\n') == NULL);
    if (ptx == NULL) {
        return;
    }
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        check_function(ptx, ptx->functions[i]);
    }
    check_locs(ptx);
    if (variable_bytes(ptx) > GLOBAL_BYTES) { /* legal, but slow to make again and again */
        ptx_free(ptx);
        return;
    }
    module = sim_module_new(ptx, &error);
    GMT_FUZZ_REQUIRE(module != NULL || error.text[0] != '\0');
    if (module == NULL) {
        return;
    }
    run_module(module);
    sim_module_free(module);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    size_t ptx_bytes;
    char *ptx = NULL;

    if (fatbin_ptx(data, bytes, 90, &ptx, &ptx_bytes) == FATBIN_OK) {
        GMT_FUZZ_REQUIRE(ptx[ptx_bytes] == '\0');
        execute_ptx(ptx, ptx_bytes);
    }
    free(ptx);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned int seed)
{
    uint64_t state = seed;

    return memchr(data, 0, bytes) == NULL ? gmt_fuzz_mutate_text(&state, data, bytes, limit)
                                          : gmt_fuzz_mutate_bytes(&state, data, bytes, limit);
}
