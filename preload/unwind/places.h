/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack that was read last at each place, for calls whose own is not read.
 *
 * A place is what is known of a call without a walk. Calls of one place may have different stacks; what is taken is an
 * estimate: the distances of the calls that are read do not depend on what the program does, so each stack gets its
 * share of the place's calls on average. Only the first calls of a place are where the program puts them: so all of these are
 * read, and the distances grow with the calls that the place has had. The table forgets a place when another needs its room.
 */
#ifndef GMT_PRELOAD_UNWIND_PLACES_H
#define GMT_PRELOAD_UNWIND_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct gmt_place {
    uint64_t caller, frame; /* of the hook: return address, frame pointer */
    uint64_t outer;         /* the frame pointer of its caller, 0: it has none */
    uint64_t kind;          /* of the call */
    uint64_t python;        /* where its outer functions are (gmt_python_outer), 0: not known */
    uint64_t thread_and_api;
};

/* True: *stack is what was read last there. False: the call's own is to be read, and put. */
bool gmt_places_take(const struct gmt_place *place, uint32_t *stack);
/* It was read. One in `one_in` is to be, once the place has had so many calls. Returns how many calls take it at most. */
uint32_t gmt_places_put(const struct gmt_place *place, uint32_t stack, uint32_t one_in);
/* False: so many calls were of places that were not known, by `python`, that reading their first calls would cost what reading all
 * does, as in a recursion in which each path is another one. Leave it 0 then; from time to time it is tried again. */
bool gmt_places_have_python(void);
/* All of them are forgotten: numbers of stacks have begun anew. */
void gmt_places_reset(void);

#endif
