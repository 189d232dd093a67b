/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program was while a device was idle: pieces of idle time, summed up by cause and place. */
#ifndef GMT_ANALYZER_SUMMARY_IDLE_PLACES_H
#define GMT_ANALYZER_SUMMARY_IDLE_PLACES_H

#include "analyzer/findings/common_place.h"
#include "analyzer/summary/idle_causes.h"

struct gmt_idle_place {
    /* What makes it one place: site of the call, or frames of the function that ran, from where and to where; and what it was in. */
    uint64_t key[3];
    double count, time_ns, longest_ns;
    size_t call, until;  /* of one of its pieces */
    size_t positions[2]; /* of the function that ran, in the stacks of these calls */
    size_t inner;        /* of a function that it was in, in the stack of `call`; SIZE_MAX: none */
    bool inner_ran;      /* from one of its lines to another one */
    enum gmt_time_part part;
    bool is_common; /* a function that both calls have on their stacks */
};

struct gmt_idle_index {
    uint64_t key[4];
    size_t value; /* one more than an index; 0: not in use */
};

struct gmt_idle_hash {
    struct gmt_idle_index *slots;
    size_t count, capacity;
};

struct gmt_idle_places {
    const struct gmt_host_calls *calls;
    const struct gmt_stack_frames *frames;
    struct gmt_idle_place *rows;
    size_t count, room;
    struct gmt_idle_hash places,
        pairs; /* by cause and key; by cause and the stacks of both calls */
};

/* Adds a piece; *place: index of its place. 0 or -ENOMEM. Zeros, with calls and frames, are empty. */
int gmt_idle_places_add(struct gmt_idle_places *places, const struct gmt_idle_cause *cause,
                        size_t *place);
void gmt_idle_places_free(struct gmt_idle_places *places);

/* Its name, for a report. */
struct gmt_call_place gmt_idle_place_name(struct gmt_analysis *analysis,
                                          const struct gmt_idle_places *places,
                                          const struct gmt_idle_place *place);

#endif
