/* SPDX-License-Identifier: Apache-2.0 */
/* Text that kernels have printed: kept per worker and block, then in block order until it is flushed. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/print.h"

/* What one worker keeps of a launch; more is dropped, as the device's own buffer would overflow. */
#define MAX_KEPT ((size_t)64 << 20)

struct segment { /* text of one block, without another block's between */
    uint64_t block;
    size_t at, bytes;
    const struct sim_printer *printer;
};

struct sim_printer {
    char *text;
    size_t used, capacity;
    struct segment *segments;
    size_t segment_count, segment_capacity;
};

static struct {
    pthread_mutex_t lock;
    char *text;
    size_t used;
} pending = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct sim_printer *sim_printer_new(void)
{
    return calloc(1, sizeof(struct sim_printer));
}

static int make_room(struct sim_printer *printer, size_t bytes)
{
    size_t capacity = printer->capacity != 0 ? printer->capacity : 4096;

    if (printer->used + bytes > MAX_KEPT) {
        return -ENOMEM;
    }
    while (capacity < printer->used + bytes) {
        capacity *= 2;
    }
    if (capacity != printer->capacity) {
        char *grown = realloc(printer->text, capacity);

        if (grown == NULL) {
            return -ENOMEM;
        }
        printer->text = grown;
        printer->capacity = capacity;
    }
    return 0;
}

static struct segment *segment_of(struct sim_printer *printer, uint64_t block)
{
    if (printer->segment_count != 0 &&
        printer->segments[printer->segment_count - 1].block == block) {
        return &printer->segments[printer->segment_count - 1];
    }
    if (printer->segment_count == printer->segment_capacity) {
        const size_t capacity = printer->segment_capacity * 2 + 16;
        struct segment *grown = realloc(printer->segments, capacity * sizeof(*grown));

        if (grown == NULL) {
            return NULL;
        }
        printer->segments = grown;
        printer->segment_capacity = capacity;
    }
    struct segment *segment = &printer->segments[printer->segment_count++];
    *segment = (struct segment){.block = block, .at = printer->used, .printer = printer};
    return segment;
}

int sim_print_append(struct sim_printer *printer, uint64_t block, const char *text, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    struct segment *segment = make_room(printer, bytes) == 0 ? segment_of(printer, block) : NULL;
    if (segment == NULL) {
        return -ENOMEM;
    }
    memcpy(printer->text + printer->used, text, bytes);
    printer->used += bytes;
    segment->bytes += bytes;
    return 0;
}

static int by_block(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;

    if (a->block != b->block) {
        return a->block < b->block ? -1 : 1;
    }
    return a->at < b->at ? -1 : a->at > b->at;
}

/* With the lock held. Without memory for it the text is written out of order rather than lost. */
static void keep(const struct segment *segments, size_t count, size_t bytes)
{
    char *grown = realloc(pending.text, pending.used + bytes);

    if (grown != NULL) {
        pending.text = grown;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = segments[i].printer->text + segments[i].at;

        if (grown != NULL) {
            memcpy(pending.text + pending.used, text, segments[i].bytes);
            pending.used += segments[i].bytes;
        } else {
            fwrite(text, 1, segments[i].bytes, stdout);
        }
    }
}

static void flush_locked(void)
{
    if (pending.used != 0) {
        fwrite(pending.text, 1, pending.used, stdout);
        fflush(stdout);
    }
    free(pending.text);
    pending.text = NULL;
    pending.used = 0;
}

void sim_print_collect(struct sim_printer *const *printers, size_t count)
{
    struct segment *all = NULL;
    size_t segments = 0, bytes = 0;

    for (size_t i = 0; i < count; i++) {
        segments += printers[i] != NULL ? printers[i]->segment_count : 0;
    }
    if (segments == 0) {
        return;
    }
    all = malloc(segments * sizeof(*all));
    segments = 0;
    for (size_t i = 0; i < count; i++) {
        if (printers[i] == NULL || printers[i]->segment_count == 0) {
            continue;
        }
        if (all != NULL) {
            memcpy(all + segments, printers[i]->segments,
                   printers[i]->segment_count * sizeof(*all));
            segments += printers[i]->segment_count;
        }
        bytes += printers[i]->used;
    }
    pthread_mutex_lock(&pending.lock);
    if (all != NULL) {
        qsort(all, segments, sizeof(*all), by_block);
        keep(all, segments, bytes);
    }
    if (pending.used > MAX_KEPT) {
        flush_locked();
    }
    pthread_mutex_unlock(&pending.lock);
    for (size_t i = 0; i < count; i++) {
        if (printers[i] != NULL) {
            printers[i]->used = printers[i]->segment_count = 0;
        }
    }
    free(all);
}

void sim_print_flush(void)
{
    pthread_mutex_lock(&pending.lock);
    flush_locked();
    pthread_mutex_unlock(&pending.lock);
}
