/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from ranges and launches; which of them are slow. */
#include "libtrace/store/live/step_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/live/launch_pattern.h"
#include "libtrace/store/live/step_window.h"

enum { MOST_NAMES = 64, MOST_OPEN = 4096, MOST_THREADS = 16, SHOWN_BYTES = 40 };

/* Steps of one name; the last is of launch patterns, which have none. */
struct named_steps {
    char name[GMT_LIVE_NAME_BYTES];
    struct gmt_step_window window;
};

/* A range that is open, if its record came before that of its end. */
struct open_step {
    uint32_t id; /* 0: none */
    uint32_t steps;
};

struct gmt_step_watch {
    char wanted[GMT_LIVE_NAME_BYTES], wanted_domain[GMT_LIVE_NAME_BYTES];
    struct named_steps *steps[MOST_NAMES];
    size_t count;
    struct open_step open[MOST_OPEN];
    size_t open_count; /* places that were ever used */
    struct {
        uint32_t thread; /* 0: none */
        struct gmt_launch_pattern pattern;
        struct gmt_step_window *window;
    } threads[MOST_THREADS];
    bool has_ranges;
    struct gmt_live_steps state;
};

struct gmt_step_watch *gmt_step_watch_open(const char *name)
{
    struct gmt_step_watch *watch = calloc(1, sizeof(*watch));
    const char *at = strrchr(name, '@');
    if (watch == NULL) {
        return NULL;
    }
    (void)snprintf(watch->wanted, sizeof(watch->wanted), "%.*s",
                   at != NULL ? (int)(at - name) : (int)strlen(name), name);
    (void)snprintf(watch->wanted_domain, sizeof(watch->wanted_domain), "%s",
                   at != NULL ? at + 1 : "");
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
    for (size_t i = 0; i < MOST_THREADS; i++) {
        gmt_launch_pattern_free(&watch->threads[i].pattern);
        free(watch->threads[i].window);
    }
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

/* Its place + 1; 0: there are too many names, or no memory. */
static uint32_t steps_of(struct gmt_step_watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (strncmp(watch->steps[i]->name, name, sizeof(watch->steps[i]->name) - 1) == 0) {
            return (uint32_t)i + 1;
        }
    }
    struct named_steps *steps = watch->count < MOST_NAMES ? calloc(1, sizeof(*steps)) : NULL;
    if (steps == NULL) {
        return 0;
    }
    (void)snprintf(steps->name, sizeof(steps->name), "%s", name);
    watch->steps[watch->count++] = steps;
    return (uint32_t)watch->count;
}

static bool is_step(const struct gmt_step_watch *watch, const struct gmt_user_range *range,
                    const char *name, const char *domain)
{
    if (range->kind == GMT_RANGE_PROFILER) {
        return false;
    }
    if (watch->wanted[0] == '\0') {
        return range->kind == GMT_RANGE_START || range->depth == 0;
    }
    return strncmp(name, watch->wanted, sizeof(watch->wanted) - 1) == 0 &&
           (watch->wanted_domain[0] == '\0' || strcmp(domain, watch->wanted_domain) == 0);
}

static void note_open(struct gmt_step_watch *watch, uint32_t id, uint32_t steps)
{
    size_t at = 0;
    while (at < watch->open_count && watch->open[at].id != 0) {
        at++;
    }
    if (at < MOST_OPEN) {
        watch->open[at] = (struct open_step){id, steps};
        watch->open_count = at == watch->open_count ? at + 1 : watch->open_count;
    }
}

/* As steps_of, of a range that was open. */
static uint32_t take_open(struct gmt_step_watch *watch, uint32_t id)
{
    for (size_t i = watch->open_count; i-- > 0;) {
        if (watch->open[i].id == id) {
            watch->open[i].id = 0;
            while (watch->open_count > 0 && watch->open[watch->open_count - 1].id == 0) {
                watch->open_count--;
            }
            return watch->open[i].steps;
        }
    }
    return 0;
}

static bool look_at_range(struct gmt_step_watch *watch, struct gmt_timebase *time,
                          const struct gmt_user_range *range, size_t room, char cause[static 128])
{
    char name[GMT_LIVE_NAME_BYTES], domain[GMT_LIVE_NAME_BYTES] = "";
    const char *texts = (const char *)(range + 1);
    size_t length = strnlen(texts, room);
    (void)snprintf(name, sizeof(name), "%.*s", (int)length, texts);
    if (length + 1 < room) {
        (void)snprintf(domain, sizeof(domain), "%.*s",
                       (int)strnlen(texts + length + 1, room - length - 1), texts + length + 1);
    }
    uint32_t steps = 0;
    if (name[0] == '\0' && range->end_ticks != 0) {
        steps = take_open(watch, range->id);
    } else if (is_step(watch, range, name, domain)) {
        steps = steps_of(watch, name);
    }
    if (steps == 0) {
        return false;
    }
    watch->has_ranges = true;
    if (range->end_ticks == 0) {
        note_open(watch, range->id, steps);
        return false;
    }
    uint64_t begin_ns = gmt_timebase_ns(time, range->begin_ticks);
    uint64_t end_ns = gmt_timebase_ns(time, range->end_ticks);
    struct named_steps *of = watch->steps[steps - 1];
    return end_step(watch, &of->window, of->name, end_ns > begin_ns ? end_ns - begin_ns : 0, cause);
}

/* ---- launches --------------------------------------------------------------------------------- */

static uint64_t key_of(const struct gmt_launch *launch)
{
    uint64_t key = launch->kind == GMT_LAUNCH_GRAPH ? launch->graph : launch->kernel;
    for (int i = 0; i < 3; i++) {
        key = (key ^ launch->grid[i]) * UINT64_C(0x9e3779b97f4a7c15);
        key = (key ^ launch->block[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return key != 0 ? key : 1;
}

static bool look_at_launch(struct gmt_step_watch *watch, struct gmt_timebase *time,
                           const struct gmt_call *call, char cause[static 128])
{
    const uint8_t not_its_own = GMT_CALL_CAPTURING | GMT_CALL_OUTSIDE | GMT_CALL_STEP;
    uint64_t step_ns;
    size_t i = 0;
    while (i < MOST_THREADS && watch->threads[i].thread != 0 &&
           watch->threads[i].thread != call->thread) {
        i++;
    }
    if (i == MOST_THREADS || call->thread == 0 || (call->flags & not_its_own) != 0) {
        return false;
    }
    watch->threads[i].thread = call->thread;
    if (!gmt_launch_pattern_add(&watch->threads[i].pattern, key_of((const void *)(call + 1)),
                                gmt_timebase_ns(time, call->begin_ticks), &step_ns)) {
        return false;
    }
    if (watch->threads[i].window == NULL) {
        watch->threads[i].window = calloc(1, sizeof(*watch->threads[i].window));
    }
    return watch->threads[i].window != NULL &&
           end_step(watch, watch->threads[i].window, "launch pattern", step_ns, cause);
}

bool gmt_step_watch_record(struct gmt_step_watch *watch, struct gmt_timebase *time,
                           const struct gmt_spool_record *record, char cause[static 128])
{
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES;
    if (record->type == GMT_REC_RANGE && bytes > sizeof(struct gmt_user_range)) {
        return look_at_range(watch, time, record->data, bytes - sizeof(struct gmt_user_range),
                             cause);
    }
    bool is_pattern = watch->wanted[0] == '\0' && !watch->has_ranges;
    return record->type == GMT_REC_LAUNCH && bytes >= sizeof(struct gmt_call) + GMT_SLOT_BYTES &&
           is_pattern && look_at_launch(watch, time, record->data, cause);
}
