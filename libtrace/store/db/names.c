/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerators -> database text, demangling, shell quoting. */
#include "libtrace/store/db/names.h"

#include <stdlib.h>
#include <string.h>

#include "libtrace/record/layout.h"

/* libstdc++; declared here because the store is written in C. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

#define GMT_LOOK_UP(table, index, otherwise) \
    ((index) < sizeof(table) / sizeof((table)[0]) && (table)[index] != NULL ? (table)[index] \
                                                                            : (otherwise))

const char *gmt_name_family(unsigned family)
{
    static const char *const names[] = {
        [GMT_FAMILY_OTHER] = "other",       [GMT_FAMILY_ALLOC] = "alloc",
        [GMT_FAMILY_TRANSFER] = "transfer", [GMT_FAMILY_MEMSET] = "memset",
        [GMT_FAMILY_LAUNCH] = "launch",     [GMT_FAMILY_SYNC] = "sync",
        [GMT_FAMILY_MODULE] = "module",     [GMT_FAMILY_STREAM] = "stream",
    };
    return GMT_LOOK_UP(names, family, "other");
}

#define GMT_NAME(id, name) name,

const char *gmt_name_direction(unsigned direction)
{
    static const char *const names[] = {GMT_DIRECTIONS(GMT_NAME)};
    return GMT_LOOK_UP(names, direction, "unknown");
}

const char *gmt_name_mem_class(unsigned mem_class)
{
    static const char *const names[] = {GMT_MEM_CLASSES(GMT_NAME)};
    return GMT_LOOK_UP(names, mem_class, "unknown");
}

const char *gmt_name_fingerprint_skip(unsigned state)
{
    static const char *const names[] = {
        [GMT_PRINT_OVER_BUDGET] = "over_budget",
        [GMT_PRINT_UNREADABLE] = "unreadable",
        [GMT_PRINT_ASYNCHRONOUS] = "asynchronous",
    };
    return GMT_LOOK_UP(names, state, NULL);
}

const char *gmt_name_alloc_kind(unsigned kind)
{
    static const char *const names[] = {GMT_ALLOC_KINDS(GMT_NAME)};
    return GMT_LOOK_UP(names, kind, NULL);
}

const char *gmt_name_graph_node_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_NODE_KERNEL] = "kernel", [GMT_NODE_COPY] = "copy",   [GMT_NODE_MEMSET] = "memset",
        [GMT_NODE_HOST] = "host",     [GMT_NODE_EMPTY] = "empty", [GMT_NODE_ALLOC] = "alloc",
        [GMT_NODE_FREE] = "free",
    };
    return GMT_LOOK_UP(names, kind, "other");
}

const char *gmt_name_launch_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_LAUNCH_COOPERATIVE] = "cooperative",
        [GMT_LAUNCH_GRAPH] = "graph",
    };
    return GMT_LOOK_UP(names, kind, "kernel");
}

const char *gmt_name_sync_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_SYNC_CONTEXT] = "context",
        [GMT_SYNC_EVENT] = "event",
        [GMT_SYNC_DEVICE] = "device",
    };
    return GMT_LOOK_UP(names, kind, "stream");
}

const char *gmt_name_args_state(unsigned state)
{
    static const char *const names[] = {
        [GMT_ARGS_COMPLETE] = "complete",
        [GMT_ARGS_TRUNCATED] = "truncated",
    };
    return GMT_LOOK_UP(names, state, "unknown");
}

const char *gmt_name_group(unsigned group)
{
    static const char *const names[] = {
        [GMT_GROUP_PATCHED] = "patched", [GMT_GROUP_HARDWARE] = "hardware",
        [GMT_GROUP_SPILL] = "spill",     [GMT_GROUP_SIMULATED] = "simulated",
        [GMT_GROUP_SASS] = "sass",
    };
    return GMT_LOOK_UP(names, group, NULL);
}

const char *gmt_name_source(unsigned source)
{
    static const char *const names[] = {
        [GMT_SOURCE_PATCHED] = "patched",
        [GMT_SOURCE_SIMULATED] = "simulated",
    };
    return GMT_LOOK_UP(names, source, "hardware");
}

/* ---- tensor maps: the numbers are those of cuda.h, CUtensorMapDataType and others --------------- */

static const struct {
    const char *name;
    unsigned bits;
} tensor_types[] = {
    {"uint8", 8},         {"uint16", 16},     {"uint32", 32},      {"int32", 32},
    {"uint64", 64},       {"int64", 64},      {"float16", 16},     {"float32", 32},
    {"float64", 64},      {"bfloat16", 16},   {"float32_ftz", 32}, {"tfloat32", 32},
    {"tfloat32_ftz", 32}, {"16u4_align8", 4}, {"16u4_align16", 4}, {"16u6_align16", 6},
};

const char *gmt_name_tensor_type(unsigned type)
{
    return type < sizeof(tensor_types) / sizeof(tensor_types[0]) ? tensor_types[type].name : NULL;
}

unsigned gmt_tensor_type_bits(unsigned type)
{
    return type < sizeof(tensor_types) / sizeof(tensor_types[0]) ? tensor_types[type].bits : 0;
}

const char *gmt_name_tensor_map_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_MAP_IM2COL] = "im2col",
        [GMT_MAP_IM2COL_WIDE] = "im2col_wide",
    };
    return GMT_LOOK_UP(names, kind, "tiled");
}

const char *gmt_name_tensor_interleave(unsigned interleave)
{
    static const char *const names[] = {"none", "16b", "32b"};
    return GMT_LOOK_UP(names, interleave, NULL);
}

const char *gmt_name_tensor_swizzle(unsigned swizzle)
{
    static const char *const names[] = {
        "none", "32b", "64b", "128b", "128b_atom_32b", "128b_atom_32b_flip_8b", "128b_atom_64b"};
    return GMT_LOOK_UP(names, swizzle, NULL);
}

const char *gmt_name_tensor_promotion(unsigned promotion)
{
    static const char *const names[] = {"none", "64b", "128b", "256b"};
    return GMT_LOOK_UP(names, promotion, NULL);
}

const char *gmt_name_tensor_fill(unsigned fill)
{
    static const char *const names[] = {"zero", "nan"};
    return GMT_LOOK_UP(names, fill, NULL);
}

const char *gmt_name_own_work(unsigned work)
{
    static const char *const names[] = {
        [GMT_OWN_SESSION] = "session",
        [GMT_OWN_LAUNCH] = "launch",
        [GMT_OWN_INSTRUCTIONS] = "instructions",
        [GMT_OWN_CODE] = "code",
        [GMT_OWN_HANDOVER] = "handover",
        [GMT_OWN_WAIT] = "wait",
        [GMT_OWN_EXIT] = "exit",
        [GMT_OWN_REPEAT] = "repeat",
        [GMT_OWN_GRAPH] = "graph",
    };
    return GMT_LOOK_UP(names, work, "setup");
}

const char *gmt_name_managed_kind(unsigned kind)
{
    static const char *const names[] = {
#define NAME(id, name, counter) name,
        GMT_MANAGED_KINDS(NAME)
#undef NAME
    };
    return GMT_LOOK_UP(names, kind, NULL);
}

/* Numbers are those of cupti_activity.h: CUpti_ActivityUnifiedMemoryMigrationCause, ...AccessType, ...RemoteMapCause. */
const char *gmt_name_managed_cause(unsigned kind, unsigned cause)
{
    static const char *const migrations[] = {NULL,       "user",     "coherence",
                                             "prefetch", "eviction", "access_counters"};
    static const char *const accesses[] = {NULL, "read", "write", "atomic", "prefetch"};
    static const char *const maps[] = {NULL,     "coherence",     "thrashing",
                                       "policy", "out_of_memory", "eviction"};
    switch (kind) {
    case GMT_MANAGED_H2D:
    case GMT_MANAGED_D2H:
    case GMT_MANAGED_D2D: return GMT_LOOK_UP(migrations, cause, NULL);
    case GMT_MANAGED_GPU_FAULT:
    case GMT_MANAGED_HOST_FAULT: return GMT_LOOK_UP(accesses, cause, NULL);
    case GMT_MANAGED_REMOTE_MAP: return GMT_LOOK_UP(maps, cause, NULL);
    default: return NULL;
    }
}

unsigned gmt_cupti_copy_direction(unsigned copy_kind)
{
    switch (copy_kind) {
    case 1: /* HTOD */
    case 3: /* HTOA */ return GMT_DIR_H2D;
    case 2: /* DTOH */
    case 4: /* ATOH */ return GMT_DIR_D2H;
    case 5: /* ATOA */
    case 6: /* ATOD */
    case 7: /* DTOA */
    case 8: /* DTOD */ return GMT_DIR_D2D;
    case 9: /* HTOH */ return GMT_DIR_H2H;
    case 10: /* PTOP */ return GMT_DIR_PEER;
    default: return GMT_DIR_UNKNOWN;
    }
}

const char *gmt_name_op_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_OP_KERNEL] = "kernel",
        [GMT_OP_COPY] = "copy",
        [GMT_OP_MEMSET] = "memset",
    };
    return GMT_LOOK_UP(names, kind, NULL);
}

const char *gmt_name_inst_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_INST_GLOBAL_LOAD] = "global_load",
        [GMT_INST_GLOBAL_STORE] = "global_store",
        [GMT_INST_GLOBAL_ATOMIC] = "global_atomic",
        [GMT_INST_LOCAL_LOAD] = "local_load",
        [GMT_INST_LOCAL_STORE] = "local_store",
        [GMT_INST_SHARED_LOAD] = "shared_load",
        [GMT_INST_SHARED_STORE] = "shared_store",
        [GMT_INST_SHARED_ATOMIC] = "shared_atomic",
        [GMT_INST_CONSTANT_LOAD] = "constant_load",
        [GMT_INST_ASYNC_COPY] = "async_copy",
        [GMT_INST_BARRIER] = "barrier",
        [GMT_INST_BRANCH] = "branch",
        [GMT_INST_GENERIC] = "generic",
    };
    return GMT_LOOK_UP(names, kind, "other");
}

const char *gmt_name_range_kind(unsigned kind)
{
    static const char *const names[] = {
        [GMT_RANGE_START] = "start",
        [GMT_RANGE_PROFILER] = "profiler",
    };
    return GMT_LOOK_UP(names, kind, "push");
}

const char *gmt_name_heap_usage(unsigned usage)
{
#define USAGE_NAME(id, name, number) [number] = (name),
    static const char *const names[] = {GMT_HEAP_USAGES(USAGE_NAME)};
    return GMT_LOOK_UP(names, usage, "other");
}

const char *gmt_name_capability_state(unsigned state)
{
    static const char *const names[] = {
        [GMT_CAP_OK] = "ok",
        [GMT_CAP_MISSING] = "missing",
        [GMT_CAP_OFF] = "off",
    };
    return GMT_LOOK_UP(names, state, "partial");
}

char *gmt_name_demangle(const char *mangled)
{
    int status = -1;
    char *name = NULL;
    /* Anything else would be read as an encoded type: "f" as "float". */
    if (strncmp(mangled, "_Z", 2) == 0) {
        name = __cxa_demangle(mangled, NULL, NULL, &status);
    }
    return status == 0 && name != NULL ? name : strdup(mangled);
}

static int needs_quotes(const char *text, size_t bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    for (size_t i = 0; i < bytes; i++) {
        if (strchr(plain, text[i]) == NULL || text[i] == '\0') {
            return 1;
        }
    }
    return bytes == 0;
}

char *gmt_name_shell_quote(const char *joined, size_t bytes, char separator)
{
    /* Worst case: every byte a quote (4 bytes), quotes around, a blank between. */
    char *line = malloc(4 * bytes + 4);
    char *out = line;
    if (line == NULL) {
        return NULL;
    }
    const char *at = joined, *end = joined + bytes;
    while (bytes != 0) {
        const char *next = memchr(at, separator, (size_t)(end - at));
        size_t length = (size_t)((next != NULL ? next : end) - at);
        int quotes = needs_quotes(at, length);
        if (quotes) {
            *out++ = '\'';
        }
        for (size_t i = 0; i < length; i++) {
            if (at[i] == '\'') {
                memcpy(out, "'\\''", 4);
                out += 4;
            } else {
                *out++ = at[i];
            }
        }
        if (quotes) {
            *out++ = '\'';
        }
        if (next == NULL) {
            break;
        }
        *out++ = ' ';
        at = next + 1;
    }
    *out = '\0';
    return line;
}
