/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels wait for kernels elsewhere, of another rank or on another device: the one list of parts of their names. */
#ifndef GMT_LIBTRACE_RECORD_COMMUNICATION_H
#define GMT_LIBTRACE_RECORD_COMMUNICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * A measured launch of such a kernel would wait for ever, and its time says nothing about how it uses its device. Some get
 * the addresses of what they wait for in tables, where no argument shows them.
 */
#define GMT_COMMUNICATION_PARTS(X) \
    X("nccl") \
    X("nvshmem") \
    X("rccl") \
    X("deep_ep") \
    X("all_reduce") \
    X("allreduce") \
    X("all_gather") \
    X("allgather") \
    X("alltoall") \
    X("all_to_all") \
    X("reduce_scatter") \
    X("symm_mem") \
    X("symmetric_mem") \
    X("multimem") \
    X("mscclpp") \
    X("cross_device_reduce")

/* `name`: mangled or not. */
static inline bool gmt_kernel_communicates(const char *name)
{
#define GMT_PART(part) part,
    static const char *const parts[] = {GMT_COMMUNICATION_PARTS(GMT_PART)};
#undef GMT_PART

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

#endif
