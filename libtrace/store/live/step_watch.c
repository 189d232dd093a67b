/* SPDX-License-Identifier: Apache-2.0 */
/* How long the steps of records take; which of them are slow. */
#include "libtrace/store/live/step_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/live/open_ranges.h"
#include "libtrace/store/live/step_finder.h"
#include "libtrace/store/live/step_window.h"

enum { MOST_NAMES = 64, SHOWN_BYTES = 40 };

/* Steps of one name. */
struct named_steps {
    char name[GMT_LIVE_NAME_BYTES];
    struct gmt_step_window window;
};

struct gmt_step_watch {
    struct gmt_step_finder *finder;
    struct gmt_open_ranges open;
    struct named_steps *steps[MOST_NAMES];
    size_t count;
    struct gmt_step_window *windows[GMT_STEP_THREADS]; /* of launch patterns, which have no names */
    struct gmt_live_steps state;
};

struct gmt_step_watch *gmt_step_watch_open(const char *name)
{
    struct gmt_step_watch *watch = calloc(1, sizeof(*watch));
    if (watch != NULL && (watch->finder = gmt_step_finder_open(name)) == NULL) {
        free(watch);
        watch = NULL;
    }
    return watch;
}

void gmt_step_watch_close(struct gmt_step_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    for (size_t i = 0; i < watch->count; i++) {
        free(watch->steps[i]);
    }
    for (size_t i = 0; i < GMT_STEP_THREADS; i++) {
        free(watch->windows[i]);
    }
    gmt_open_ranges_free(&watch->open);
    gmt_step_finder_close(watch->finder);
    free(watch);
}

const struct gmt_live_steps *gmt_step_watch_steps(const struct gmt_step_watch *watch)
{
    return &watch->state;
}

/* A step has ended. True: it was slow. */
static bool end_step(struct gmt_step_watch *watch, struct gmt_step_window *window, const char *name,
                     uint64_t ns, char cause[static 128])
{
    struct gmt_live_steps *state = &watch->state;
    uint64_t median_ns = gmt_step_window_quantile(window, 50);
    uint64_t p99_ns = gmt_step_window_quantile(window, 99);
    bool is_slow = gmt_step_window_add(window, ns);
    state->count++;
    state->slow += is_slow;
    state->last_ns = ns;
    state->median_ns = gmt_step_window_quantile(window, 50);
    state->p99_ns = gmt_step_window_quantile(window, 99);
    (void)snprintf(state->name, sizeof(state->name), "%s", name);
    if (is_slow) {
        (void)snprintf(cause, 128, "slow step: %.*s took %.4g ms (median %.4g ms, p99 %.4g ms)",
                       (int)SHOWN_BYTES, name, (double)ns / 1e6, (double)median_ns / 1e6,
                       (double)p99_ns / 1e6);
    }
    return is_slow;
}

/* ---- ranges ----------------------------------------------------------------------------------- */

/* NULL: there are too many names, or no memory. */
static struct named_steps *steps_of(struct gmt_step_watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (strncmp(watch->steps[i]->name, name, sizeof(watch->steps[i]->name) - 1) == 0) {
            return watch->steps[i];
        }
    }
    struct named_steps *steps = watch->count < MOST_NAMES ? calloc(1, sizeof(*steps)) : NULL;
    if (steps != NULL) {
        (void)snprintf(steps->name, sizeof(steps->name), "%s", name);
        watch->steps[watch->count++] = steps;
    }
    return steps;
}

static bool look_at_range(struct gmt_step_watch *watch, struct gmt_timebase *time,
                          const struct gmt_user_range *record, size_t room, char cause[static 128])
{
    struct gmt_range_names names;
    gmt_range_names_read(&names, (const char *)(record + 1), room);
    bool is_open = record->end_ticks == 0;
    if (!is_open && names.name[0] == '\0') {
        (void)gmt_open_ranges_take(&watch->open, record->id, &names);
    }
    struct gmt_step_range range = {.begin_ns = gmt_timebase_ns(time, record->begin_ticks),
                                   .end_ns = is_open ? 0 : gmt_timebase_ns(time, record->end_ticks),
                                   .thread = record->thread,
                                   .depth = record->depth,
                                   .kind = record->kind,
                                   .names = &names};
    if (is_open) {
        gmt_open_ranges_note(&watch->open, record->id, &names);
    }
    struct named_steps *of = gmt_step_finder_range(watch->finder, &range)
                                 ? steps_of(watch, names.name)
                                 : NULL;
    return of != NULL &&
           end_step(watch, &of->window, of->name,
                    range.end_ns > range.begin_ns ? range.end_ns - range.begin_ns : 0, cause);
}

/* ---- launches --------------------------------------------------------------------------------- */

static bool look_at_launch(struct gmt_step_watch *watch, struct gmt_timebase *time,
                           const struct gmt_call *call, char cause[static 128])
{
    const uint8_t not_its_own = GMT_CALL_CAPTURING | GMT_CALL_OUTSIDE | GMT_CALL_STEP;
    const struct gmt_launch *launch = (const void *)(call + 1);
    uint64_t step_ns, what = launch->kind == GMT_LAUNCH_GRAPH ? launch->graph : launch->kernel;
    unsigned slot;
    if ((call->flags & not_its_own) != 0 ||
        !gmt_step_finder_launch(watch->finder, call->thread,
                                gmt_step_finder_key(what, launch->grid, launch->block),
                                gmt_timebase_ns(time, call->begin_ticks), &step_ns, &slot)) {
        return false;
    }
    if (watch->windows[slot] == NULL) {
        watch->windows[slot] = calloc(1, sizeof(*watch->windows[slot]));
    }
    return watch->windows[slot] != NULL &&
           end_step(watch, watch->windows[slot], "launch pattern", step_ns, cause);
}

bool gmt_step_watch_record(struct gmt_step_watch *watch, struct gmt_timebase *time,
                           const struct gmt_spool_record *record, char cause[static 128])
{
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES;
    if (record->type == GMT_REC_RANGE && bytes > sizeof(struct gmt_user_range)) {
        return look_at_range(watch, time, record->data, bytes - sizeof(struct gmt_user_range),
                             cause);
    }
    return record->type == GMT_REC_LAUNCH && bytes >= sizeof(struct gmt_call) + GMT_SLOT_BYTES &&
           look_at_launch(watch, time, record->data, cause);
}
