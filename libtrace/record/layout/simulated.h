/* SPDX-License-Identifier: Apache-2.0 */
/* Side records of the software device: instructions, footprints and races. A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_SIMULATED_H
#define GMT_RECORD_LAYOUT_SIMULATED_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

#include "libtrace/record/inlining.h"

/* What an instruction of a simulated launch is, after what its lanes turned out to touch. */
enum gmt_inst_kind {
    GMT_INST_OTHER = 0,
    GMT_INST_GLOBAL_LOAD,
    GMT_INST_GLOBAL_STORE,
    GMT_INST_GLOBAL_ATOMIC,
    GMT_INST_LOCAL_LOAD,
    GMT_INST_LOCAL_STORE,
    GMT_INST_SHARED_LOAD,
    GMT_INST_SHARED_STORE,
    GMT_INST_SHARED_ATOMIC,
    GMT_INST_CONSTANT_LOAD,
    GMT_INST_ASYNC_COPY,
    GMT_INST_BARRIER,
    GMT_INST_BRANCH,
    GMT_INST_GENERIC, /* one instruction touched several spaces */
    GMT_INST_KINDS
};

/* Counts of one instruction over all warps of one launch; text: function (mangled), opcode, source
 * file or "", file of the caller that the line was inlined into or "". Members that mean nothing for
 * the kind are 0. */
struct gmt_instruction {
    struct gmt_side_head head;
    uint32_t launch_seq;
    uint32_t kernel_class;
    uint32_t site; /* index among the instructions of the kernel */
    uint32_t line; /* source, 0 = unknown, likewise the column */
    uint32_t column;
    uint32_t ptx_line;
    uint32_t width;      /* bytes per lane, 0 = no memory instruction */
    uint32_t max_degree; /* shared: most distinct words in one bank in one pass */
    uint64_t executed;   /* times a warp issued it */
    uint64_t lanes;      /* active lanes */
    uint64_t requests;   /* executed with at least one active lane */
    uint64_t bytes;      /* lanes x width */
    uint64_t sectors;    /* of 32 bytes */
    uint64_t ideal_sectors;
    uint64_t lines;      /* of 128 bytes */
    uint64_t wavefronts; /* passes through shared memory */
    uint64_t ideal_wavefronts;
    uint64_t
        addresses; /* constant: distinct ones; barrier: idle lanes; branch: times it diverged */
    uint8_t kind;  /* enum gmt_inst_kind */
    uint8_t reserved[3];
    uint32_t caller_line; /* where `line` was inlined: the outermost call; 0 = not inlined */
};

/* The calls that an instruction's line was inlined at. Text: for each level its function (mangled, the
 * inlined one that the line stands in; "": the kernel or device function itself) and file. */
struct gmt_inlining {
    struct gmt_side_head head;
    uint32_t kernel_class;
    uint32_t site;
    uint32_t count;                   /* levels, innermost first */
    int32_t level[GMT_INLINE_LEVELS]; /* 0: gmt_instruction.line; from there outwards 1, 2, ...;
                                         what was inlined into it -1, -2, ... */
    uint32_t line[GMT_INLINE_LEVELS];
    uint32_t reserved;
};

struct gmt_footprint { /* text: name of a module's variable, else "" */
    struct gmt_side_head head;
    uint32_t launch_seq;
    uint32_t kernel_class;
    uint32_t alloc; /* gmt_alloc.id, 0 = none: a module's variable */
    uint32_t reserved;
    uint64_t address;
    uint64_t bytes;      /* of the allocation */
    uint64_t read_bytes; /* distinct, in whole sectors; likewise written */
    uint64_t write_bytes;
    uint64_t read_traffic_bytes; /* sectors of all requests */
    uint64_t write_traffic_bytes;
};

/* Lanes of different warps on one word of shared memory, one of them storing, no barrier between.
 * Text: opcode, source file and caller's file of the one, then of the other. */
struct gmt_race {
    struct gmt_side_head head;
    uint32_t launch_seq;
    uint32_t kernel_class;
    uint32_t line[2]; /* source, 0 = unknown */
    uint32_t ptx_line[2];
    uint32_t caller_line[2]; /* as in gmt_instruction */
    uint64_t count;
};

static_assert(sizeof(struct gmt_instruction) == 136, "instruction counts");
static_assert(sizeof(struct gmt_inlining) == 160, "inlining");
static_assert(sizeof(struct gmt_footprint) == 80, "footprint");
static_assert(sizeof(struct gmt_race) == 56, "race");

#endif
