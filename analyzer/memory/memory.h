/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a trace: how long each allocation lived, when it was used, and what the peak is made of. */
#ifndef GMT_ANALYZER_MEMORY_MEMORY_H
#define GMT_ANALYZER_MEMORY_MEMORY_H

#include "analyzer/memory/heaps.h"
#include "analyzer/trace/timeline.h"

/* Of enum gmt_alloc_kind; "unknown" where the trace has none. */
const char *gmt_memory_kind_name(unsigned kind);

/* A row of `allocation` or `host_allocation`; GMT_UNKNOWN in a field: not known. */
struct gmt_memory_row {
    int64_t id, bytes, address;
    int64_t begin_ns, end_ns, free_begin_ns, free_end_ns, first_use_ns, last_use_ns;
    int64_t stack_id, free_stack_id, context_id, stream_id, caller;
    int64_t thread_id, free_thread_id, api_id, free_api_id;
    int64_t lives_ns;  /* from then on; always known                              */
    int64_t device_id; /* 0 in a trace of one device; -1: not known               */
    int64_t copied_begin,
        copied_end;   /* bytes from the start that copies touched; begin > end: none */
    uint64_t site;    /* as gmt_tl_call.site                                     */
    uint8_t kind;     /* enum gmt_alloc_kind                                    */
    bool host;        /* page-locked memory of the host                          */
    bool in_kernels;  /* a kernel got a pointer into it, or was seen to touch it                  */
    bool open_end;    /* the device may have used it longer than last_use_ns says                 */
    bool segment;     /* an allocator of the program's hands out parts of it                      */
    bool indirect;    /* no kernel got a pointer into it, but one may find it: see below          */
    bool copied_from; /* by a copy                                                               */
    bool sent;        /* a copy brought something that does not come from the same device        */
    bool unread;      /* filled on the device, and nothing takes it: memory_indirect.c           */
};

struct gmt_memory {
    const struct gmt_timeline *timeline;
    struct gmt_memory_row *rows; /* by lives_ns */
    size_t count, host_count, segment_count;
    struct gmt_heaps heaps; /* what allocators said */
    /* Launches that may have used anything: their arguments are not known. By begin. */
    struct gmt_interval *doubts;
    size_t doubt_count;
    struct gmt_interval *syncs; /* by begin; only where a row has an open end */
    size_t sync_count;
    int64_t last_failure_ns; /* when the program last got no memory; GMT_NO_TIME: never */
    bool shared;             /* others may use some of it: see sharing.h */
    /* A call failed, and no kernel or copy came after it; not being ready is no failure. */
    bool failed;
};

/* 0, -ENOMEM or -EIO; to be given to gmt_memory_free in any case. */
int gmt_memory_load(struct gmt_memory *memory, const struct gmt_timeline *timeline);
void gmt_memory_free(struct gmt_memory *memory);

/* Parts of gmt_memory_load. The first two while rows are in the order of their ids. */
int gmt_memory_find_uses(struct gmt_memory *memory);
int gmt_memory_find_indirect(struct gmt_memory *memory);
int gmt_memory_find_segments(struct gmt_memory *memory);

/* NULL: no allocation has that id. While rows are in the order of their ids. */
struct gmt_memory_row *gmt_memory_find(const struct gmt_memory *memory, int64_t id);

/* Whether the device allocation of that id is a segment. */
bool gmt_memory_is_segment(const struct gmt_memory *memory, int64_t id);

/*
 * Whether a copy may bring a table of pointers, by which kernels reach memory that is not among their
 * arguments: few whole pointers. Memory that such a copy may point to is indirect, and so are arrays, which
 * kernels get as textures and surfaces; the software device sees what pointers in memory lead to.
 */
bool gmt_memory_may_be_table(const struct gmt_tl_copy *copy);

/* Whether a launch whose arguments are not known was under way in the interval. */
bool gmt_memory_in_doubt(const struct gmt_memory *memory, struct gmt_interval interval);

/* Another process's, or another API's: they use it unseen. */
static inline bool gmt_memory_is_foreign(const struct gmt_memory_row *row)
{
    return row->kind == GMT_ALLOC_IPC || row->kind == GMT_ALLOC_EXTERNAL;
}

/* Device memory whose addresses are known: an array has a handle. */
static inline bool gmt_memory_has_place(const struct gmt_memory_row *row)
{
    return !row->host && row->bytes > 0 && row->address > 0 &&
           row->address <= INT64_MAX - row->bytes && row->kind != GMT_ALLOC_ARRAY &&
           row->kind != GMT_ALLOC_MIPMAP;
}

/* Until it was freed; INT64_MAX: never. */
static inline int64_t gmt_memory_freed_ns(const struct gmt_memory_row *row)
{
    return row->free_begin_ns != GMT_NO_TIME ? row->free_begin_ns : INT64_MAX;
}

/*
 * The part of a row's life in which it was, or may have been, in use; empty where it never was. All
 * of its life where uses are not known: managed memory, segments, kinds not known, memory that other
 * processes or APIs may use, or that kernels may reach without getting a pointer to it.
 */
struct gmt_interval gmt_memory_needed(const struct gmt_memory *memory,
                                      const struct gmt_memory_row *row);

/* How long each row lived, by its index; the caller frees. NULL: no memory. */
struct gmt_interval *gmt_memory_lives(const struct gmt_memory *memory);

/* The call that allocated it. */
struct gmt_tl_call gmt_memory_call(const struct gmt_memory *memory,
                                   const struct gmt_memory_row *row);

struct gmt_memory_peak {
    int64_t bytes, at_ns; /* 0, GMT_NO_TIME: there was none              */
    int64_t until_ns;     /* when something was freed; INT64_MAX: nothing */
};

/*
 * The most that rows of one place (device, or page-locked host memory) held at once if each lived as
 * `lives` has it. 0 or -ENOMEM.
 */
int gmt_memory_peak(const struct gmt_memory *memory, const struct gmt_interval *lives, bool host,
                    struct gmt_memory_peak *peak);

#endif
