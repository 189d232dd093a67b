/* SPDX-License-Identifier: Apache-2.0 */
/* Finds in a module what a name, an address or a declaration stands for. */
#include "simgpu/exec/code.h"
#include "simgpu/exec/warp.h"

const struct ptx_function *sim_definition(const struct sim_module *module,
                                          const struct ptx_function *function)
{
    if (function != NULL && !function->is_defined) {
        function = ptx_find_function(module->ptx, function->name);
    }
    return function != NULL && function->is_defined ? function : NULL;
}

const struct ptx_variable *sim_variable_definition(const struct sim_module *module,
                                                   const struct ptx_variable *variable)
{
    if (variable != NULL && variable->is_external && variable->space != PTX_SHARED) {
        variable = ptx_find_variable(module->ptx, variable->name);
    }
    return variable;
}

uint64_t sim_function_address(const struct ptx_function *function)
{
    return SIM_CODE_WINDOW + 16 * ((uint64_t)function->index + 1);
}

const struct sim_code *sim_code_at(const struct sim_kernel *kernel, uint64_t address)
{
    const uint64_t index = (address - SIM_CODE_WINDOW) / 16 - 1;

    if (address % 16 != 0 || address <= SIM_CODE_WINDOW ||
        index >= kernel->module->ptx->function_count || kernel->code_of[index] == UINT32_MAX) {
        return NULL;
    }
    return &kernel->codes[kernel->code_of[index]];
}

const struct sim_kernel_info *sim_kernel_info(const struct sim_kernel *kernel)
{
    return &kernel->info;
}
