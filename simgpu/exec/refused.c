/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that are known and not executed: a launch that reaches one fails and names it.
 *
 * Tensor cores, textures and surfaces, the tensor memory accelerator, clusters, and what else has no
 * meaning on a device that executes PTX text one warp at a time.
 */
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/decode.h"

struct refused {
    const char *opcode;
    const char *why;
};

static const struct refused table[] = {
    {"wmma", "tensor cores"},
    {"mma", "tensor cores"},
    {"wgmma", "tensor cores"},
    {"ldmatrix", "tensor cores"},
    {"stmatrix", "tensor cores"},
    {"movmatrix", "tensor cores"},
    {"tcgen05", "tensor cores"},
    {"tex", "textures"},
    {"tld4", "textures"},
    {"txq", "textures"},
    {"istypep", "textures"},
    {"suld", "surfaces"},
    {"sust", "surfaces"},
    {"sured", "surfaces"},
    {"suq", "surfaces"},
    {"cp", "bulk and tensor copies"},
    {"tensormap", "bulk and tensor copies"},
    {"mbarrier", "asynchronous barriers"},
    {"multimem", "multicast memory"},
    {"mapa", "clusters"},
    {"getctarank", "clusters"},
    {"clusterlaunchcontrol", "clusters"},
    {"setmaxnreg", "warp groups"},
    {"alloca", "allocation on the stack"},
    {"stacksave", "allocation on the stack"},
    {"stackrestore", "allocation on the stack"},
    {"createpolicy", "cache policies"},
};

enum sim_decode_result sim_decode_refused(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    char name[96];
    size_t used = (size_t)snprintf(name, sizeof(name), "%s", instruction->opcode);

    (void)op;
    for (uint32_t i = 0; i < instruction->modifier_count && used < sizeof(name); i++) {
        used += (size_t)snprintf(name + used, sizeof(name) - used, ".%s",
                                 instruction->modifiers[i]);
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(instruction->opcode, table[i].opcode) == 0) {
            return sim_decode_refuse(decoder, "%s (%s)", name, table[i].why);
        }
    }
    return SIM_NOT_MINE;
}
