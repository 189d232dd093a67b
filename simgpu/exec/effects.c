/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does beside reading and writing memory, by the functions without a body that it names. */
#include <errno.h>
#include <string.h>

#include "simgpu/exec/code.h"

/* Names that PTX of NVIDIA's compilers declares and the driver defines. All of these have effects, but for an assertion:
 * it fails at the first execution, and then the context is lost. */
static const struct {
    const char *name;
    bool is_prefix;
    int means;
} effects[] = {
    {"vprintf", false, -EPERM},
    {"malloc", false, -EPERM},
    {"free", false, -EPERM},
    {"__assertfail", false, 0},
    {"cudaGetParameterBuffer", true, -EPERM},
    {"cudaLaunchDevice", true, -EPERM},
    {"__cudaCDP2", true,
     -EPERM}, /* the same two, and the rest of the device runtime, from CUDA 11.6 on */
};

static int effect_of(const char *name)
{
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
        if (effects[i].is_prefix ? strncmp(name, effects[i].name, strlen(effects[i].name)) == 0
                                 : strcmp(name, effects[i].name) == 0) {
            return effects[i].means;
        }
    }
    return -ENOENT;
}

/* An effect that is certain counts for more than a function that is not known. */
static int worse(int one, int other)
{
    return one == -EPERM || other == -EPERM ? -EPERM : one != 0 ? one : other;
}

static int function_effect(const struct sim_module *module, const struct ptx_function *function)
{
    return function == NULL || sim_definition(module, function) != NULL ? 0
                                                                        : effect_of(function->name);
}

/* Calls, and addresses that are taken: the latter may be called later. */
static int operand_effect(const struct sim_module *module, const struct ptx_operand *operand)
{
    int effect = 0;

    if (operand->kind == PTX_OPERAND_FUNCTION) {
        effect = function_effect(module, operand->function);
    } else if (operand->kind == PTX_OPERAND_TABLE && operand->table != NULL &&
               operand->table->functions != NULL) {
        for (uint32_t i = 0; i < operand->table->count; i++) {
            effect = worse(effect, function_effect(module, operand->table->functions[i]));
        }
    }
    for (uint32_t i = 0; operand->items != NULL && i < operand->count; i++) {
        effect = worse(effect, operand_effect(module, &operand->items[i]));
    }
    return effect;
}

bool sim_module_allocates(const struct sim_module *module)
{
    const struct ptx_function *found = ptx_find_function(module->ptx, "malloc");

    return found != NULL && !found->is_defined;
}

int sim_kernel_effects(const struct sim_kernel *kernel)
{
    int effect = 0;

    for (uint32_t i = 0; i < kernel->code_count && effect != -EPERM; i++) {
        const struct ptx_function *function = kernel->codes[i].ptx;

        for (uint32_t k = 0; k < function->instruction_count; k++) {
            const struct ptx_instruction *instruction = &function->instructions[k];

            for (uint32_t o = 0; o < instruction->operand_count; o++) {
                effect = worse(effect, operand_effect(kernel->module, &instruction->operands[o]));
            }
        }
    }
    return effect;
}
