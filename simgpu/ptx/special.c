/* SPDX-License-Identifier: Apache-2.0 */
/* Names of special registers. Source: PTX ISA 9.0, "Special registers". */
#include <string.h>

#include "simgpu/ptx/parser.h"

static const char *const names[] = {
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
};

/* Those that are numbered: %envreg0 to %envreg31, %pm0 to %pm7, %pm0_64, ... */
static const struct {
    const char *prefix, *suffix;
    unsigned count;
} numbered[] = {
    {"envreg", "", 32}, {"pm", "", 8}, {"pm", "_64", 8}, {"reserved_smem_offset_", "", 2}};

static bool is_numbered(const char *name)
{
    for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        size_t length = strlen(numbered[i].prefix);
        const char *digits = name + length;
        unsigned number = 0;

        if (strncmp(name, numbered[i].prefix, length) != 0 || *digits < '0' || *digits > '9') {
            continue;
        }
        while (*digits >= '0' && *digits <= '9' && number < numbered[i].count) {
            number = number * 10 + (unsigned)(*digits++ - '0');
        }
        if (number < numbered[i].count && strcmp(digits, numbered[i].suffix) == 0) {
            return true;
        }
    }
    return false;
}

bool ptx_is_special(const char *name)
{
    if (strlen(name) > 32) {
        return false;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return is_numbered(name);
}
