/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel needs: the functions it can reach, its shared memory, its stack, its parameters.
 *
 * A call through a pointer can reach every function of the module whose address is taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/code.h"

struct callee_search {
    struct sim_kernel *kernel;
    uint32_t *found; /* ptx function indexes, in the order found; [0] is the kernel */
    uint32_t count;
    bool indirect; /* calls through a pointer were seen */
};

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static void reach(struct callee_search *search, const struct ptx_function *function)
{
    function = sim_definition(search->kernel->module, function);
    if (function != NULL && search->kernel->code_of[function->index] == UINT32_MAX) {
        search->kernel->code_of[function->index] = search->count;
        search->found[search->count++] = function->index;
    }
}

static void use_shared(struct sim_kernel *kernel, const struct ptx_variable *variable)
{
    variable = sim_variable_definition(kernel->module, variable);
    if (variable != NULL && variable->space == PTX_SHARED && variable->function == NULL &&
        !variable->is_external) {
        kernel->shared_offsets[variable->index] = 0; /* in use: placed later */
    }
}

static void scan_operand(struct callee_search *search, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VARIABLE) {
        use_shared(search->kernel, operand->variable);
    } else if (operand->kind == PTX_OPERAND_FUNCTION) {
        reach(search, operand->function);
    } else if (operand->kind == PTX_OPERAND_TABLE && operand->table != NULL &&
               operand->table->functions != NULL) {
        for (uint32_t i = 0; i < operand->table->count; i++) {
            reach(search, operand->table->functions[i]);
        }
    }
    for (uint32_t i = 0; operand->items != NULL && i < operand->count; i++) {
        scan_operand(search, &operand->items[i]);
    }
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->items != NULL && operand->count == 0) {
        scan_operand(search, operand->items);
    }
}

static bool is_call(const struct ptx_instruction *instruction)
{
    return strcmp(instruction->opcode, "call") == 0;
}

static bool calls_pointer(const struct ptx_instruction *instruction)
{
    if (!is_call(instruction)) {
        return false;
    }
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        if (instruction->operands[i].kind == PTX_OPERAND_REGISTER) {
            return true;
        }
    }
    return false;
}

static void scan_function(struct callee_search *search, const struct ptx_function *function)
{
    const struct sim_module *module = search->kernel->module;

    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];

        for (uint32_t k = 0; k < instruction->operand_count; k++) {
            scan_operand(search, &instruction->operands[k]);
        }
        if (!search->indirect && calls_pointer(instruction)) {
            search->indirect = true;
            for (uint32_t k = 0; k < module->ptx->function_count; k++) {
                if (module->address_taken[k]) {
                    reach(search, module->ptx->functions[k]);
                }
            }
        }
    }
}

/* ---- shared memory -------------------------------------------------------------------------- */

/* Returns false when the sizes of a hostile module do not add up. */
static bool place(uint64_t *at, uint64_t *offset, const struct ptx_variable *variable)
{
    const uint64_t align = variable->align != 0 ? variable->align : 1;

    *offset = round_up(*at, align);
    *at = *offset + variable->bytes;
    return variable->bytes <= (UINT64_C(1) << 40) && *at <= (UINT64_C(1) << 40);
}

/* All variables of dynamic shared memory begin at one place. */
static uint64_t dynamic_align(const struct sim_kernel *kernel)
{
    const struct ptx_module *ptx = kernel->module->ptx;
    uint64_t align = 16;

    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = ptx->variables[i];

        if (variable->space == PTX_SHARED && variable->is_external && variable->align > align &&
            variable->align <= 1024) {
            align = variable->align;
        }
    }
    return align;
}

static bool place_shared(struct sim_kernel *kernel)
{
    const struct ptx_module *ptx = kernel->module->ptx;
    uint64_t at = 0;
    bool fits = true;

    for (uint32_t i = 0; i < ptx->variable_count && fits; i++) {
        if (kernel->shared_offsets[i] != SIM_NOT_LAID_OUT) {
            fits = place(&at, &kernel->shared_offsets[i], ptx->variables[i]);
        }
    }
    for (uint32_t i = 0; i < kernel->code_count && fits; i++) {
        const struct sim_code *code = &kernel->codes[i];

        for (uint32_t k = 0; k < code->ptx->local_count && fits; k++) {
            const struct ptx_variable *variable = code->ptx->locals[k];

            if (variable->space == PTX_SHARED && !variable->is_external) {
                fits = place(&at, &code->local_offsets[k], variable);
            }
        }
    }
    kernel->shared_bytes = at;
    kernel->dynamic_at = round_up(at, dynamic_align(kernel));
    return fits;
}

static bool place_locals(struct sim_code *code)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < code->ptx->local_count; k++) {
        const struct ptx_variable *variable = code->ptx->locals[k];

        if (variable->space == PTX_LOCAL && !place(&at, &code->local_offsets[k], variable)) {
            return false;
        }
    }
    code->local_bytes = round_up(at, SIM_CALL_BYTES);
    return true;
}

/* ---- the kernel ----------------------------------------------------------------------------- */

static int make_params(struct sim_kernel *kernel)
{
    const struct ptx_function *ptx = kernel->ptx;
    struct sim_param *params = gmt_arena_alloc(&kernel->module->arena,
                                               (ptx->param_count + 1) * sizeof(*params));
    uint64_t at = 0;

    if (params == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        uint64_t offset;

        if (!place(&at, &offset, &ptx->params[i])) {
            return -E2BIG;
        }
        params[i] = (struct sim_param){.offset = offset, .bytes = ptx->params[i].bytes};
    }
    kernel->info.params = params;
    kernel->info.param_count = ptx->param_count;
    kernel->info.param_bytes = at;
    return at <= SIM_MAX_PARAM_BYTES ? 0 : -E2BIG;
}

static unsigned max_threads(const struct ptx_function *ptx)
{
    const uint32_t *bound = ptx->required_threads[0] != 0 ? ptx->required_threads
                                                          : ptx->max_threads;
    uint64_t threads = 1;

    if (bound[0] == 0) {
        return SIM_MAX_THREADS;
    }
    for (unsigned i = 0; i < 3; i++) {
        threads *= bound[i] != 0 ? bound[i] : 1;
        threads = threads < SIM_MAX_THREADS ? threads : SIM_MAX_THREADS;
    }
    return (unsigned)threads;
}

static int make_info(struct sim_kernel *kernel)
{
    const struct sim_module *module = kernel->module;
    struct sim_kernel_info *info = &kernel->info;

    info->name = kernel->ptx->name;
    info->static_shared_bytes = kernel->shared_bytes;
    info->local_bytes = kernel->codes[0].local_bytes;
    for (size_t i = 0; i < module->global_count; i++) {
        info->const_bytes += module->globals[i].is_const ? module->globals[i].bytes : 0;
    }
    info->max_threads_per_block = max_threads(kernel->ptx);
    info->registers = 0;
    info->needs_cluster = kernel->ptx->needs_cluster;
    return make_params(kernel);
}

static int make_codes(struct sim_kernel *kernel, const struct callee_search *search)
{
    struct sim_module *module = kernel->module;

    kernel->code_count = search->count;
    kernel->codes = gmt_arena_alloc(&module->arena, search->count * sizeof(*kernel->codes));
    if (kernel->codes == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < search->count; i++) {
        struct sim_code *code = &kernel->codes[i];

        code->ptx = module->ptx->functions[search->found[i]];
        code->kernel = kernel;
        code->number = i;
        code->first_site = (uint32_t)kernel->site_count;
        kernel->site_count += code->ptx->instruction_count;
        code->local_offsets = gmt_arena_alloc(&module->arena, (code->ptx->local_count + 1) *
                                                                  sizeof(*code->local_offsets));
        if (code->local_offsets == NULL) {
            return -ENOMEM;
        }
        if (!place_locals(code)) {
            return -E2BIG;
        }
    }
    return 0;
}

int sim_kernel_lay_out(struct sim_kernel *kernel)
{
    struct sim_module *module = kernel->module;
    const struct ptx_module *ptx = module->ptx;
    struct callee_search search = {.kernel = kernel};
    int rc = -ENOMEM;

    search.found = malloc((ptx->function_count + 1) * sizeof(*search.found));
    kernel->code_of = gmt_arena_alloc(&module->arena,
                                      (ptx->function_count + 1) * sizeof(*kernel->code_of));
    kernel->shared_offsets = gmt_arena_alloc(&module->arena, (ptx->variable_count + 1) *
                                                                 sizeof(*kernel->shared_offsets));
    if (search.found == NULL || kernel->code_of == NULL || kernel->shared_offsets == NULL) {
        goto out;
    }
    memset(kernel->code_of, 0xff, ptx->function_count * sizeof(*kernel->code_of));
    memset(kernel->shared_offsets, 0xff, ptx->variable_count * sizeof(*kernel->shared_offsets));
    reach(&search, kernel->ptx);
    for (uint32_t i = 0; i < search.count; i++) {
        scan_function(&search, ptx->functions[search.found[i]]);
    }
    rc = make_codes(kernel, &search);
    if (rc == 0) {
        rc = place_shared(kernel) ? 0 : -E2BIG;
    }
    if (rc == 0) {
        rc = make_info(kernel);
    }
out:
    free(search.found);
    return rc;
}
