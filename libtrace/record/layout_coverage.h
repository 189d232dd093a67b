/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file `coverage` of a spool: through which lookup paths the process asked for driver entry points, which,
 * and how often those without a hook were called; and what its allocators said that was not understood.
 *
 * Written in place while the process runs, so that it survives the process however that ends. An entry
 * is filled in before `count` includes it (release store); counters are updated with relaxed atomics.
 */
#ifndef GMT_RECORD_LAYOUT_COVERAGE_H
#define GMT_RECORD_LAYOUT_COVERAGE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GMT_COVERAGE_FILE "coverage"
#define GMT_COVERAGE_MAGIC UINT64_C(0x7265766f63746d67) /* "gmtcover" */
#define GMT_COVERAGE_VERSION 1u

/* Ways to ask:  GMT_LOOKUP_PATH(id, name in the trace). Names that a module imports are not asked for. */
#define GMT_LOOKUP_PATH_TABLE \
    GMT_LOOKUP_PATH(DLSYM, "dlsym") \
    GMT_LOOKUP_PATH(PROC, "cuGetProcAddress") \
    GMT_LOOKUP_PATH(PROC_V2, "cuGetProcAddress_v2") \
    GMT_LOOKUP_PATH(INJECTION, "injection")

enum gmt_lookup_path {
#define GMT_LOOKUP_PATH(id, name) GMT_LOOKUP_##id,
    GMT_LOOKUP_PATH_TABLE
#undef GMT_LOOKUP_PATH
        GMT_LOOKUP_PATHS
};

/* Bits of gmt_coverage_entry.flags: what requests were answered with. */
#define GMT_COVERAGE_HOOKED 1u  /* a hook */
#define GMT_COVERAGE_REAL 2u    /* the driver's own, calls are not counted */
#define GMT_COVERAGE_COUNTED 4u /* the driver's own, behind a jump that counts */

/* Why a call of NVTX's memory extension was not recorded as it was made:  X(id, detail of the loss). */
#define GMT_REGION_FAULT_LOSS "NVTX memory call not understood"
#define GMT_REGION_FAULTS(X) \
    X(VERSION, "a structure of another version, or none") \
    X(TYPE, "memory that has no virtual addresses") \
    X(NOWHERE, "no address, or one that the size goes beyond") \
    X(UNKNOWN_HEAP, "a heap that is not registered") \
    X(UNKNOWN_REGION, "a region that is not registered") \
    X(OUTSIDE, "a region outside of its heap") \
    X(AGAIN, "registered while it was: the older one has ended") \
    X(MANY, "more than 262144 heaps and regions at one time")

#define GMT_REGION_FAULT_ENUMERATOR(id, detail) GMT_REGION_##id,
enum gmt_region_fault { GMT_REGION_FAULTS(GMT_REGION_FAULT_ENUMERATOR) GMT_REGION_FAULT_COUNT };
#undef GMT_REGION_FAULT_ENUMERATOR
#define GMT_REGION_FAULT_COUNTERS 8u /* room for them */

struct gmt_coverage_entry {
    char name[64]; /* as asked for */
    uint64_t calls;
    uint32_t requests[GMT_LOOKUP_PATHS];
    uint32_t flags;
    uint32_t reserved;
};

struct gmt_coverage_head {
    uint64_t magic;
    uint32_t version;
    uint32_t count; /* entries */
    uint64_t requests[GMT_LOOKUP_PATHS];
    uint64_t not_kept;        /* requests for names that had no room */
    uint32_t highest_version; /* of CUDA, that cuGetProcAddress was given; 0: none */
    uint32_t reserved32;
    /* By enum gmt_region_fault. Spools that do not have it have zeros here. */
    uint64_t region_faults[GMT_REGION_FAULT_COUNTERS];
};

#define GMT_COVERAGE_BYTES ((size_t)80 << 10)
#define GMT_COVERAGE_ENTRIES \
    ((GMT_COVERAGE_BYTES - sizeof(struct gmt_coverage_head)) / sizeof(struct gmt_coverage_entry))

struct gmt_coverage_file {
    struct gmt_coverage_head head;
    struct gmt_coverage_entry entry[GMT_COVERAGE_ENTRIES];
};

static_assert(sizeof(struct gmt_coverage_entry) == 96, "coverage entry");
static_assert(sizeof(struct gmt_coverage_head) == 128, "coverage head");
static_assert(GMT_REGION_FAULT_COUNT <= GMT_REGION_FAULT_COUNTERS, "each fault has a counter");
static_assert(sizeof(struct gmt_coverage_file) <= GMT_COVERAGE_BYTES, "coverage file");

#endif
