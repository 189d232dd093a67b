/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of one run is which of another (try_match.h). */
#include "launcher/try/try_match.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a run brought ------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct gmt_try_download *x = a, *y = b;
    int order = (x->process > y->process) - (x->process < y->process);
    order = order != 0 ? order : (x->thread > y->thread) - (x->thread < y->thread);
    return order != 0 ? order : (x->call > y->call) - (x->call < y->call);
}

/* By the call and its bytes, whoever made it. */
static int by_content(const struct gmt_try_download *x, const struct gmt_try_download *y)
{
    int order = (x->call > y->call) - (x->call < y->call);
    order = order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
    order = order != 0 ? order : (x->high > y->high) - (x->high < y->high);
    return order != 0 ? order : (x->low > y->low) - (x->low < y->low);
}

static int by_sequence(const void *a, const void *b)
{
    const struct gmt_try_thread *x = a, *y = b;
    int order = 0;
    for (size_t i = 0; i < x->count && i < y->count && order == 0; i++) {
        order = by_content(&x->downloads[i], &y->downloads[i]);
    }
    return order != 0 ? order : (x->count > y->count) - (x->count < y->count);
}

static int by_threads(const struct gmt_try_member *x, const struct gmt_try_member *y)
{
    int order = 0;
    for (size_t i = 0; i < x->count && i < y->count && order == 0; i++) {
        order = by_sequence(&x->threads[i], &y->threads[i]);
    }
    return order != 0 ? order : (x->count > y->count) - (x->count < y->count);
}

/* Downloads are in the order of place: each thread, and each process, is a piece of them. */
static int split(const struct gmt_try_note *note, struct gmt_try_results *results)
{
    const struct gmt_try_download *last = NULL;
    for (size_t i = 0; i < results->count; i++) {
        struct gmt_try_download *download = &results->downloads[i];
        if (last == NULL || last->process != download->process) {
            struct gmt_try_member *member = &results->members[results->member_count++];
            const char *command = note->identity[download->process].command;
            member->threads = &results->threads[results->thread_count];
            member->command = strndup(command, GMT_TRY_COMMAND_BYTES);
            if (member->command == NULL) {
                return -ENOMEM;
            }
        }
        if (last == NULL || last->process != download->process ||
            last->thread != download->thread) {
            results->threads[results->thread_count++] = (struct gmt_try_thread){
                .downloads = download};
            results->members[results->member_count - 1].count++;
        }
        results->threads[results->thread_count - 1].count++;
        last = download;
    }
    return 0;
}

int gmt_try_results_make(const struct gmt_try_note *note, struct gmt_try_results *results)
{
    uint32_t claimed = note->downloads < GMT_TRY_DOWNLOADS ? note->downloads : GMT_TRY_DOWNLOADS;
    *results = (struct gmt_try_results){0};
    results->downloads = malloc((claimed + 1) * sizeof(*results->downloads));
    results->threads = malloc((claimed + 1) * sizeof(*results->threads));
    if (results->downloads == NULL || results->threads == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < claimed; i++) { /* one that was claimed and not written has no bytes */
        if (note->download[i].bytes != 0 && note->download[i].process < GMT_TRY_PROCESSES) {
            results->downloads[results->count++] = note->download[i];
        }
    }
    qsort(results->downloads, results->count, sizeof(*results->downloads), by_place);
    int error = split(note, results);
    for (size_t i = 0; i < results->member_count && error == 0; i++) {
        qsort(results->members[i].threads, results->members[i].count,
              sizeof(*results->members[i].threads), by_sequence);
    }
    return error;
}

void gmt_try_results_free(struct gmt_try_results *results)
{
    for (size_t i = 0; i < results->member_count; i++) {
        free(results->members[i].command);
    }
    free(results->downloads);
    free(results->threads);
    *results = (struct gmt_try_results){0};
}

/* ---- two runs ----------------------------------------------------------------------------------- */

static void pair_members(struct gmt_try_member *a, struct gmt_try_member *b)
{
    a->match = b;
    b->match = a;
}

/* Has the run a process of that command? */
static bool has_command(const struct gmt_try_results *results, const char *command)
{
    bool has = false;
    for (size_t i = 0; i < results->member_count; i++) {
        has = has || strcmp(results->members[i].command, command) == 0;
    }
    return has;
}

/* Which two processes may be the same, from the surest to the least sure. A command may have in it what is another one each
 * time, as a temporary file: such a process is known by its threads. */
enum match_step { EQUAL, EQUAL_OF_OTHER_COMMAND, LAST_OF_COMMAND, LAST_OF_OTHER_COMMAND, STEPS };

struct run_pair {
    struct gmt_try_results *a, *b;
};

static bool may_be(const struct run_pair *of, enum match_step step, const struct gmt_try_member *a,
                   const struct gmt_try_member *b)
{
    if (a->match != NULL || b->match != NULL) {
        return false;
    }
    if (step == EQUAL || step == LAST_OF_COMMAND) {
        return strcmp(a->command, b->command) == 0 && (step != EQUAL || by_threads(a, b) == 0);
    }
    return !has_command(of->b, a->command) && !has_command(of->a, b->command) &&
           (step != EQUAL_OF_OTHER_COMMAND || by_threads(a, b) == 0);
}

/* The only one of `b` for it; NULL: there is none, or several. `any`: the first of several does, since they are equal. */
static struct gmt_try_member *find_member(const struct run_pair *of, enum match_step step,
                                          const struct gmt_try_member *a, bool any)
{
    struct gmt_try_member *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < of->b->member_count; i++) {
        if (may_be(of, step, a, &of->b->members[i])) {
            found = found == NULL ? &of->b->members[i] : found;
            count++;
        }
    }
    return any || count == 1 ? found : NULL;
}

/* How many of `a` it could be as well. */
static size_t count_rivals(const struct run_pair *of, enum match_step step,
                           const struct gmt_try_member *b)
{
    size_t count = 0;
    for (size_t i = 0; i < of->a->member_count; i++) {
        count += may_be(of, step, &of->a->members[i], b);
    }
    return count;
}

static void match_members(const struct run_pair *of)
{
    for (enum match_step step = EQUAL; step < STEPS; step++) {
        bool equal = step == EQUAL || step == EQUAL_OF_OTHER_COMMAND;
        for (size_t i = 0; i < of->a->member_count; i++) {
            struct gmt_try_member *member = &of->a->members[i];
            struct gmt_try_member *found = find_member(of, step, member, equal);
            if (found != NULL && (equal || count_rivals(of, step, found) == 1)) {
                pair_members(member, found);
            }
        }
    }
}

/* Both are in the order of sequences: what is equal is found side by side. */
static void match_threads(struct gmt_try_member *a, struct gmt_try_member *b)
{
    struct gmt_try_thread *left_of_a = NULL, *left_of_b = NULL;
    size_t left_a = 0, left_b = 0;
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : by_sequence(&a->threads[i], &b->threads[k]);
        if (order == 0) {
            a->threads[i].match = &b->threads[k];
            b->threads[k++].match = &a->threads[i++];
        } else if (order < 0) {
            left_of_a = &a->threads[i++];
            left_a++;
        } else {
            left_of_b = &b->threads[k++];
            left_b++;
        }
    }
    if (left_a == 1 && left_b == 1) {
        left_of_a->match = left_of_b;
        left_of_b->match = left_of_a;
    }
}

static void forget_matches(struct gmt_try_results *results)
{
    for (size_t i = 0; i < results->member_count; i++) {
        results->members[i].match = NULL;
    }
    for (size_t i = 0; i < results->thread_count; i++) {
        results->threads[i].match = NULL;
    }
}

void gmt_try_results_match(struct gmt_try_results *a, struct gmt_try_results *b)
{
    const struct run_pair runs = {a, b};
    forget_matches(a);
    forget_matches(b);
    match_members(&runs);
    for (size_t i = 0; i < a->member_count; i++) {
        if (a->members[i].match != NULL) {
            match_threads(&a->members[i], a->members[i].match);
        }
    }
}
