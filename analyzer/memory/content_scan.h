/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the pass that content.c makes over a trace, for its parts. */
#ifndef GMT_ANALYZER_MEMORY_CONTENT_SCAN_H
#define GMT_ANALYZER_MEMORY_CONTENT_SCAN_H

#include "analyzer/base/thresholds.h"
#include "analyzer/memory/content.h"
#include "analyzer/memory/content_ranges.h"

/* What a buffer of the host was last filled with by a copy from a device. */
struct gmt_content_arrival {
    uint64_t address;
    int64_t bytes;
    int32_t copy;
};

/* Work handed to a stream that nobody is known to have waited for. */
struct gmt_content_pending {
    int64_t serial, stream; /* serial 0: none; stream -1: of several */
};

struct gmt_content_memory {
    int64_t id;
    uint64_t address;
    int64_t free_ns;
    struct gmt_content_ranges places;
    struct gmt_content_ranges reads;   /* since copies to the host that hashing had no time for */
    struct gmt_content_pending writes; /* the last ones */
    bool foreign;                      /* others write to it, too */
    bool handed;                       /* some launch gets a pointer into it */
    bool host;                         /* page-locked memory of the host */
    bool filled;                       /* by anything but what had been parked on the host */
    int64_t parked_from;               /* id of the memory that it was parked from; 0: none */
    bool unseen;                       /* it changed, and nothing in the trace wrote to it */
};

struct gmt_content_scan {
    const struct gmt_timeline *timeline;
    struct gmt_copy_content *contents;
    struct gmt_writers writers;
    struct gmt_content_memory *memories; /* by id */
    size_t memory_count;
    struct gmt_content_arrival *arrivals; /* hashed by address */
    size_t arrival_slots;
    struct gmt_content_ranges host; /* by address: content of host memory, as known from copies */
    int32_t *prints; /* hashed by fingerprint: the last copy that has it, and 1; 0: none */
    int64_t serial;  /* number of the event; never 0 */
    int64_t wait_all, wait[GMT_CONTENT_STREAMS]; /* the last ones */
    struct gmt_content_pending
        anything;          /* launches of unknown arguments, and work of the host in streams */
    int64_t unknown;       /* the last event that may have written anywhere */
    int32_t unknown_doubt; /* and what it was */
    bool shared, failed;
};

/* By id, as gmt_content_memory_find needs them. */
void gmt_content_memories_sort(struct gmt_content_scan *scan);

/* NULL: no memory has that id. */
struct gmt_content_memory *gmt_content_memory_find(const struct gmt_content_scan *scan, int64_t id);

bool gmt_content_is_pending(const struct gmt_content_scan *scan,
                            const struct gmt_content_pending *work);

/* What may have written there since the content of the place was known. */
int32_t gmt_content_doubt_of(const struct gmt_content_scan *scan,
                             const struct gmt_content_memory *memory,
                             const struct gmt_content_range *place);

/* Where in an allocation an address lies; -1: not there, whatever a damaged trace says. */
static inline int64_t gmt_content_offset_in(const struct gmt_content_memory *memory,
                                            uint64_t address)
{
    uint64_t offset = address - memory->address;

    return memory->address != 0 && offset <= GMT_CONTENT_MOST_BYTES ? (int64_t)offset : -1;
}

/* ---- content_elsewhere.c ---------------------------------------------------------------------- */

/* Copy `i` read these bytes of the host, or wrote them. What rows touch is not known. */
void gmt_content_note_host(struct gmt_content_scan *scan, size_t i, uint64_t address);
/* Whether the host has the bytes of download `i`: there, or where they came from, or went to, before. */
enum gmt_host_holds gmt_content_host_holds(const struct gmt_content_scan *scan, size_t i);

/* From copy `i` the content of memory of a device is known. */
void gmt_content_note_print(struct gmt_content_scan *scan, size_t i);
/* Finds memory of a device that certainly holds the bytes of upload `i`, which does not go there. */
void gmt_content_find_twin(struct gmt_content_scan *scan, size_t i);

#endif
