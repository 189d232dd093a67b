/* SPDX-License-Identifier: Apache-2.0 */
/* Are the results of a run with fixes those of untouched runs, where these agree among each other? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"

static int by_place(const void *a, const void *b)
{
    const struct gmt_try_download *x = a, *y = b;
    int order = (x->process > y->process) - (x->process < y->process);
    order = order != 0 ? order : (x->thread > y->thread) - (x->thread < y->thread);
    return order != 0 ? order : (x->call > y->call) - (x->call < y->call);
}

static bool is_same(const struct gmt_try_download *a, const struct gmt_try_download *b)
{
    return a->low == b->low && a->high == b->high && a->bytes == b->bytes;
}

/* In order; NULL: no memory. */
static struct gmt_try_download *sorted(const struct gmt_try_run *run, size_t *count)
{
    uint32_t claimed = run->note->downloads;
    *count = claimed < GMT_TRY_DOWNLOADS ? claimed : GMT_TRY_DOWNLOADS;
    struct gmt_try_download *copy = malloc((*count + 1) * sizeof(*copy));
    if (copy != NULL) {
        memcpy(copy, run->note->download, *count * sizeof(*copy));
        qsort(copy, *count, sizeof(*copy), by_place);
    }
    return copy;
}

/* The one at the same place; NULL: there is none. */
static const struct gmt_try_download *find(const struct gmt_try_download *among, size_t count,
                                           const struct gmt_try_download *place)
{
    return bsearch(place, among, count, sizeof(*among), by_place);
}

/* Keeps of the reference what the run has, too. */
static int keep_agreed(struct gmt_try_reference *reference, const struct gmt_try_run *run)
{
    size_t count, kept = 0;
    struct gmt_try_download *others = sorted(run, &count);
    if (others == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < reference->count; i++) {
        const struct gmt_try_download *own = &reference->downloads[i];
        const struct gmt_try_download *other = find(others, count, own);
        if (other != NULL && is_same(other, own)) {
            reference->downloads[kept++] = *own;
        } else {
            reference->unchecked_calls++;
            reference->unchecked_bytes += own->bytes;
        }
    }
    reference->count = kept;
    free(others);
    return 0;
}

static void take_unchecked(struct gmt_try_reference *reference, const struct gmt_try_run *run)
{
    uint32_t processes = run->note->processes;
    for (uint32_t i = 0; i < processes && i < GMT_TRY_PROCESSES; i++) {
        const struct gmt_try_process *process = &run->note->process[i];
        reference->unchecked_calls += process->unchecked_calls;
        reference->unchecked_bytes += process->unchecked_bytes;
        reference->unseen |= process->unseen;
    }
}

int gmt_try_reference_make(const struct gmt_try_run runs[static GMT_TRY_CHECKS],
                           struct gmt_try_reference *reference)
{
    *reference = (struct gmt_try_reference){.status = runs[0].status,
                                            .status_agrees = true,
                                            .output_agrees = runs[0].output[0] != '\0'};
    (void)snprintf(reference->output, sizeof(reference->output), "%s", runs[0].output);
    take_unchecked(reference, &runs[0]);
    reference->downloads = sorted(&runs[0], &reference->count);
    int error = reference->downloads != NULL ? 0 : -ENOMEM;
    if (error == 0) {
        error = gmt_try_programs_make(runs[0].note, &reference->programs,
                                      &reference->program_count);
    }
    for (unsigned i = 1; i < GMT_TRY_CHECKS && error == 0; i++) {
        reference->status_agrees &= runs[i].status == runs[0].status;
        reference->output_agrees &= strcmp(runs[i].output, runs[0].output) == 0;
        error = keep_agreed(reference, &runs[i]);
    }
    for (size_t i = 0; error == 0 && i < reference->count; i++) {
        reference->bytes += reference->downloads[i].bytes;
    }
    return error;
}

void gmt_try_reference_free(struct gmt_try_reference *reference)
{
    free(reference->downloads);
    reference->downloads = NULL;
    gmt_try_programs_free(reference->programs, reference->program_count);
    reference->programs = NULL;
    reference->program_count = 0;
}

static bool downloads_equal(const struct gmt_try_reference *reference,
                            const struct gmt_try_run *run, char *what, size_t bytes)
{
    size_t count;
    struct gmt_try_download *found = sorted(run, &count);
    bool equal = found != NULL;
    for (size_t i = 0; i < reference->count && equal; i++) {
        const struct gmt_try_download *wanted = &reference->downloads[i];
        const struct gmt_try_download *got = find(found, count, wanted);
        equal = got != NULL && is_same(got, wanted);
        if (!equal) {
            (void)snprintf(what, bytes,
                           "download %" PRIu64 " of thread %" PRIu32 " of process %" PRIu32
                           " (%" PRIu64 " bytes) %s",
                           wanted->call + 1, wanted->thread + 1, wanted->process + 1, wanted->bytes,
                           got == NULL                   ? "is missing"
                           : got->bytes != wanted->bytes ? "has another size"
                                                         : "has other bytes");
        }
    }
    free(found);
    return equal;
}

bool gmt_try_equals(const struct gmt_try_reference *reference, const struct gmt_try_run *run,
                    char *what, size_t bytes)
{
    (void)snprintf(what, bytes, "there is no memory to compare results");
    if (run->note != NULL && run->note->watch != 0 &&
        !downloads_equal(reference, run, what, bytes)) {
        return false;
    }
    if (reference->status_agrees && run->status != reference->status) {
        (void)snprintf(what, bytes, "the exit status is %d, not %d",
                       gmt_launcher_exit_status(run->status),
                       gmt_launcher_exit_status(reference->status));
        return false;
    }
    if (reference->output_agrees && strcmp(run->output, reference->output) != 0) {
        (void)snprintf(what, bytes, "standard output differs");
        return false;
    }
    what[0] = '\0';
    return true;
}
