/* SPDX-License-Identifier: Apache-2.0 */
/* Are the results of a run with fixes those of untouched runs, where these agree among each other? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"

static bool is_same(const struct gmt_try_download *a, const struct gmt_try_download *b)
{
    return a->low == b->low && a->high == b->high && a->bytes == b->bytes;
}

/* That of the same call; NULL: the thread has none. */
static const struct gmt_try_download *find(const struct gmt_try_thread *among, uint64_t call)
{
    size_t from = 0, to = among != NULL ? among->count : 0;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (among->downloads[middle].call == call) {
            return &among->downloads[middle];
        }
        from = among->downloads[middle].call < call ? middle + 1 : from;
        to = among->downloads[middle].call < call ? to : middle;
    }
    return NULL;
}

static bool *agreed(const struct gmt_try_reference *reference,
                    const struct gmt_try_download *download)
{
    return &reference->agreed[download - reference->results.downloads];
}

/* Keeps of the reference what the run has, too. What no thread is known for is not kept: by chance it may be equal in some. */
static int keep_agreed(struct gmt_try_reference *reference, const struct gmt_try_run *run)
{
    struct gmt_try_results others;
    int error = gmt_try_results_make(run->note, &others);
    if (error == 0) {
        gmt_try_results_match(&reference->results, &others);
    }
    for (size_t i = 0; i < reference->results.thread_count && error == 0; i++) {
        const struct gmt_try_thread *thread = &reference->results.threads[i];
        for (size_t k = 0; k < thread->count; k++) {
            const struct gmt_try_download *own = &thread->downloads[k];
            const struct gmt_try_download *other = find(thread->match, own->call);
            if (*agreed(reference, own) && (other == NULL || !is_same(other, own))) {
                *agreed(reference, own) = false;
                reference->count--;
                reference->bytes -= own->bytes;
                reference->unchecked_calls++;
                reference->unchecked_bytes += own->bytes;
            }
        }
    }
    gmt_try_results_free(&others);
    return error;
}

uint32_t gmt_try_unseen_in(const struct gmt_try_note *note)
{
    uint32_t unseen = note->processes > GMT_TRY_PROCESSES ? GMT_UNSEEN_PROCESS : 0;
    for (uint32_t i = 0; i < note->processes && i < GMT_TRY_PROCESSES; i++) {
        unseen |= note->process[i].unseen;
    }
    return unseen;
}

uint64_t gmt_try_bytes_in(const struct gmt_try_note *note)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < note->processes && i < GMT_TRY_PROCESSES; i++) {
        bytes += note->process[i].unchecked_bytes;
    }
    for (uint32_t i = 0; i < note->downloads && i < GMT_TRY_DOWNLOADS; i++) {
        bytes += note->download[i].bytes;
    }
    return bytes;
}

static void take_unchecked(struct gmt_try_reference *reference, const struct gmt_try_note *note)
{
    for (uint32_t i = 0; i < note->processes && i < GMT_TRY_PROCESSES; i++) {
        reference->unchecked_calls += note->process[i].unchecked_calls;
        reference->unchecked_bytes += note->process[i].unchecked_bytes;
    }
    reference->unseen = gmt_try_unseen_in(note);
}

static int begin_reference(const struct gmt_try_run *run, struct gmt_try_reference *reference)
{
    *reference = (struct gmt_try_reference){
        .status = run->status, .status_agrees = true, .output_agrees = run->output[0] != '\0'};
    (void)snprintf(reference->output, sizeof(reference->output), "%s", run->output);
    take_unchecked(reference, run->note);
    int error = gmt_try_results_make(run->note, &reference->results);
    if (error != 0) {
        return error;
    }
    reference->count = reference->results.count;
    reference->agreed = malloc(reference->count + 1);
    if (reference->agreed == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < reference->count; i++) {
        reference->agreed[i] = true;
        reference->bytes += reference->results.downloads[i].bytes;
    }
    return gmt_try_programs_make(run->note, &reference->programs, &reference->program_count);
}

int gmt_try_reference_narrow(struct gmt_try_reference *reference, const struct gmt_try_run *run)
{
    reference->status_agrees &= run->status == reference->status;
    reference->output_agrees &= strcmp(run->output, reference->output) == 0;
    reference->unseen |= gmt_try_unseen_in(run->note);
    return keep_agreed(reference, run);
}

int gmt_try_reference_make(const struct gmt_try_run runs[static GMT_TRY_CHECKS],
                           struct gmt_try_reference *reference)
{
    int error = begin_reference(&runs[0], reference);
    for (unsigned i = 1; i < GMT_TRY_CHECKS && error == 0; i++) {
        error = gmt_try_reference_narrow(reference, &runs[i]);
    }
    return error;
}

void gmt_try_reference_free(struct gmt_try_reference *reference)
{
    gmt_try_results_free(&reference->results);
    free(reference->agreed);
    reference->agreed = NULL;
    gmt_try_programs_free(reference->programs, reference->program_count);
    reference->programs = NULL;
    reference->program_count = 0;
}

/* ---- a run with fixes --------------------------------------------------------------------------- */

/* The first download of the thread that agreed and is not in the other one; NULL: there is none. `equal`: how many come before. */
static const struct gmt_try_download *first_difference(const struct gmt_try_reference *reference,
                                                       const struct gmt_try_thread *thread,
                                                       const struct gmt_try_thread *other,
                                                       size_t *equal)
{
    *equal = 0;
    for (size_t i = 0; i < thread->count; i++) {
        const struct gmt_try_download *own = &thread->downloads[i];
        const struct gmt_try_download *got = find(other, own->call);
        if (*agreed(reference, own) && (got == NULL || !is_same(got, own))) {
            return own;
        }
        *equal += *agreed(reference, own);
    }
    return NULL;
}

/* The thread that nobody is known for is compared with the one that is equal for the longest time, so that a place can be named. */
static const struct gmt_try_thread *nearest(const struct gmt_try_reference *reference,
                                            const struct gmt_try_thread *thread,
                                            const struct gmt_try_results *found)
{
    const struct gmt_try_thread *best = NULL;
    size_t most = 0, equal;
    for (size_t i = 0; i < found->thread_count; i++) {
        const struct gmt_try_thread *other = &found->threads[i];
        if (other->match == NULL) {
            (void)first_difference(reference, thread, other, &equal);
            if (best == NULL || equal > most) {
                best = other;
                most = equal;
            }
        }
    }
    return best;
}

static void name_difference(const struct gmt_try_download *wanted,
                            const struct gmt_try_thread *other, char *what, size_t bytes)
{
    const struct gmt_try_download *got = find(other, wanted->call);
    (void)snprintf(what, bytes,
                   "download %" PRIu64 " of thread %" PRIu32 " of process %" PRIu32 " (%" PRIu64
                   " bytes) %s",
                   wanted->call + 1, wanted->thread + 1, wanted->process + 1, wanted->bytes,
                   got == NULL                   ? "is missing"
                   : got->bytes != wanted->bytes ? "has another size"
                                                 : "has other bytes");
}

/* The downloads of threads that nobody is known for, so that it can be seen whether threads shared the same work in another way. */
struct loose {
    struct gmt_try_download *downloads;
    size_t count, threads;
};

static int by_digest(const void *a, const void *b)
{
    const struct gmt_try_download *x = a, *y = b;
    int order = (x->high > y->high) - (x->high < y->high);
    order = order != 0 ? order : (x->low > y->low) - (x->low < y->low);
    return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* reference: only of what agreed; NULL: of all. */
static int collect_loose(const struct gmt_try_results *results,
                         const struct gmt_try_reference *reference, struct loose *loose)
{
    *loose = (struct loose){.downloads = malloc((results->count + 1) * sizeof(*loose->downloads))};
    if (loose->downloads == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < results->thread_count; i++) {
        const struct gmt_try_thread *thread = &results->threads[i];
        size_t before = loose->count;
        for (size_t k = 0; k < thread->count && thread->match == NULL; k++) {
            if (reference == NULL || *agreed(reference, &thread->downloads[k])) {
                loose->downloads[loose->count++] = thread->downloads[k];
            }
        }
        loose->threads += loose->count != before;
    }
    qsort(loose->downloads, loose->count, sizeof(*loose->downloads), by_digest);
    return 0;
}

/* Did all of it come back, but not to threads as before? Threads that take work from a common list do so by chance. */
static bool is_moved(const struct gmt_try_reference *reference, const struct gmt_try_results *found)
{
    struct loose wanted, got = {0};
    bool moved = collect_loose(&reference->results, reference, &wanted) == 0 &&
                 collect_loose(found, NULL, &got) == 0 && (wanted.threads > 1 || got.threads > 1);
    size_t at = 0;
    for (size_t i = 0; i < wanted.count && moved; i++) {
        while (at < got.count && by_digest(&got.downloads[at], &wanted.downloads[i]) < 0) {
            at++;
        }
        moved = at < got.count && by_digest(&got.downloads[at++], &wanted.downloads[i]) == 0;
    }
    free(wanted.downloads);
    free(got.downloads);
    return moved;
}

/* Both are matched. */
static enum gmt_try_equality compare_results(const struct gmt_try_reference *reference,
                                             const struct gmt_try_results *found, char *what,
                                             size_t bytes)
{
    size_t equal;
    const struct gmt_try_download *wanted;
    bool any_loose = false;
    for (size_t i = 0; i < reference->results.thread_count; i++) {
        const struct gmt_try_thread *thread = &reference->results.threads[i];
        wanted = first_difference(reference, thread, thread->match, &equal);
        if (wanted != NULL && thread->match != NULL) {
            name_difference(wanted, thread->match, what, bytes);
            return GMT_TRY_DIFFERENT;
        }
        any_loose = any_loose || wanted != NULL;
    }
    if (!any_loose || is_moved(reference, found)) {
        return any_loose ? GMT_TRY_MOVED : GMT_TRY_EQUAL;
    }
    for (size_t i = 0; i < reference->results.thread_count; i++) {
        const struct gmt_try_thread *thread = &reference->results.threads[i];
        const struct gmt_try_thread *other = nearest(reference, thread, found);
        wanted = thread->match == NULL ? first_difference(reference, thread, other, &equal) : NULL;
        if (wanted != NULL) {
            name_difference(wanted, other, what, bytes);
            break;
        }
    }
    return GMT_TRY_DIFFERENT;
}

static enum gmt_try_equality downloads_equal(struct gmt_try_reference *reference,
                                             const struct gmt_try_run *run, char *what,
                                             size_t bytes)
{
    struct gmt_try_results found;
    enum gmt_try_equality equality = GMT_TRY_DIFFERENT;
    if (gmt_try_results_make(run->note, &found) == 0) {
        gmt_try_results_match(&reference->results, &found);
        equality = compare_results(reference, &found, what, bytes);
    }
    gmt_try_results_free(&found);
    return equality;
}

enum gmt_try_equality gmt_try_equals(struct gmt_try_reference *reference,
                                     const struct gmt_try_run *run, char *what, size_t bytes)
{
    enum gmt_try_equality equality = GMT_TRY_EQUAL;
    (void)snprintf(what, bytes, "there is no memory to compare results");
    if (run->note != NULL && run->note->watch != 0) {
        equality = downloads_equal(reference, run, what, bytes);
    }
    if (equality == GMT_TRY_DIFFERENT) {
        return equality;
    }
    if (reference->status_agrees && run->status != reference->status) {
        (void)snprintf(what, bytes, "the exit status is %d, not %d",
                       gmt_launcher_exit_status(run->status),
                       gmt_launcher_exit_status(reference->status));
        return GMT_TRY_DIFFERENT;
    }
    if (reference->output_agrees && strcmp(run->output, reference->output) != 0) {
        (void)snprintf(what, bytes, "standard output differs");
        return GMT_TRY_DIFFERENT;
    }
    what[0] = '\0';
    return equality;
}
