/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the software device counts: exact for the PTX it executed. No times, no caches.
 *
 * A "request" is one executed warp-level memory instruction with at least one active lane. Sectors
 * are 32 bytes, lines 128 bytes, aligned. All counts are per launch, over all warps.
 */
#ifndef SIMGPU_COUNTS_H
#define SIMGPU_COUNTS_H

#include <stddef.h>
#include <stdint.h>

enum sim_inst_kind {
    SIM_INST_OTHER = 0, /* arithmetic, control */
    SIM_INST_GLOBAL_LOAD,
    SIM_INST_GLOBAL_STORE,
    SIM_INST_GLOBAL_ATOMIC, /* atom and red */
    SIM_INST_LOCAL_LOAD,
    SIM_INST_LOCAL_STORE,
    SIM_INST_SHARED_LOAD,
    SIM_INST_SHARED_STORE,
    SIM_INST_SHARED_ATOMIC,
    SIM_INST_CONST_LOAD, /* ld.const; kernel parameters are not counted */
    SIM_INST_ASYNC_COPY, /* cp.async: global side in sectors, shared side in wavefronts */
    SIM_INST_BARRIER,
    SIM_INST_BRANCH,
    SIM_INST_GENERIC, /* generic load, store or atomic: see the note at sim_inst_counts */
    SIM_INST_KINDS
};

/*
 * One instruction of a function. A generic access is counted as what its lanes turned out to touch:
 * `kind` becomes that of the space (and SIM_INST_GENERIC stays where one instruction touched several).
 */
struct sim_inst_counts {
    uint64_t executed; /* times a warp issued it, also with no lane active by predicate */
    uint64_t lanes;    /* active lanes, summed */
    uint64_t requests; /* of memory instructions: executed with at least one active lane */
    uint64_t bytes;    /* distinct bytes asked for, per request: what CUPTI's counters call bytes */
    uint64_t sectors;  /* global, local, atomics: 32-byte sectors touched */
    uint64_t
        ideal_sectors; /* fewest sectors that the active lanes' bytes would fill: see exec/count.h */
    uint64_t lines;    /* 128-byte lines touched */
    uint64_t wavefronts; /* shared: passes through the data stage */
    uint64_t ideal_wavefronts;
    uint64_t addresses;    /* constant loads: distinct addresses; barriers: lanes idle at it;
                               branches: times it split the warp */
    uint32_t max_degree;   /* shared: most distinct words in one bank in one pass group (n-way) */
    uint8_t kind;          /* enum sim_inst_kind */
    uint8_t touched_kinds; /* reserved for exec: bit set of spaces a generic access touched */
    uint16_t reserved;
};

/* One of the lines that an instruction stands for, which were inlined into each other. */
struct sim_source_level {
    const char
        *function;    /* mangled, inlined: the line stands in it; NULL = none was, or not known */
    const char *file; /* NULL = unknown */
    uint32_t line;
    int32_t level; /* 0: the site's own line; from there outwards 1, 2, ...; inwards -1, -2, ... */
};

/* What an instruction is; one per site, fixed when the module is loaded. */
struct sim_inst_info {
    const char *function; /* mangled */
    const char *opcode;   /* "ld.global.v4.u32": opcode with modifiers */
    const char *file;     /* source file of ptx_place_of(), NULL = unknown */
    uint32_t line, column;
    const char *caller_file; /* outermost call that the line was inlined at, NULL = not inlined */
    uint32_t caller_line;
    const struct sim_source_level *levels; /* innermost first; none where nothing was inlined */
    uint32_t level_count;
    uint32_t ptx_line;
    uint32_t width; /* bytes per lane of memory instructions, else 0 */
    uint8_t kind;   /* enum sim_inst_kind as written */
};

/* An allocation the launch touched: distinct 32-byte sectors (first-touch bitmaps). */
struct sim_footprint {
    uint64_t base, bytes;
    uint32_t region_id;
    uint32_t flags;         /* enum sim_region_flags */
    uint64_t read_sectors;  /* distinct sectors read at least once */
    uint64_t write_sectors; /* distinct sectors written at least once */
    uint64_t
        read_traffic; /* sectors of all requests: read_traffic / read_sectors = re-read factor */
    uint64_t write_traffic;
    const char *name; /* sim_region.name: of a module's variable; NULL = an allocation */
};

/* A shared-memory race: two lanes of different warps, one of them storing, no barrier between. */
struct sim_race {
    uint32_t first_site, second_site; /* index in `sites` */
    uint64_t count;
};

struct sim_counts {
    struct sim_inst_counts *sites; /* order of sim_kernel_insts() */
    size_t site_count;
    struct sim_footprint *footprints;
    size_t footprint_count;
    struct sim_race *races;
    size_t race_count;
    uint64_t warps, blocks, threads;
};

void sim_counts_clear(struct sim_counts *counts);

#endif
