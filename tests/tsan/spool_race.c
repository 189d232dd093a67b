/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers and readers of a spool at the same time, for ThreadSanitizer.
 *
 * Two readers follow the same records: one through the writers' own mapping, where the sanitizer sees
 * whether the commit word really orders the rest of a record, and one through the files, as the
 * recorder does. Every record carries its number and a checksum of it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/store/spool/spool_reader.h"

enum { WRITERS = 8, FEW = 200, MANY = 20000 };
#define TYPE GMT_REC_CALL

struct payload {
    uint32_t commit;
    uint32_t writer;
    uint64_t number;
    uint64_t check[5]; /* of the first slot; the whole of it is filled */
    uint64_t last;
};
_Static_assert(sizeof(struct payload) == GMT_SLOT_BYTES, "a payload fills a slot");

static _Atomic(struct payload *) first_record[WRITERS];
static _Atomic(struct payload *) next_to_read[WRITERS]; /* seen to be empty yet */
static _Atomic int failures;
static _Atomic int writers_done;
static _Atomic bool mapping_read; /* a writer's end unmaps its chunk: not before it was read */
static _Atomic uint64_t records_written;
static long per_writer;

static void fail(const char *what, uint64_t writer, uint64_t number)
{
    fprintf(stderr, "spool_race: %s (writer %llu, record %llu)\n", what, (unsigned long long)writer,
            (unsigned long long)number);
    atomic_fetch_add(&failures, 1);
}

static void fill(struct payload *slot, unsigned slots, uint32_t writer, uint64_t number)
{
    for (unsigned i = 0; i < slots; i++) {
        slot[i].writer = writer;
        slot[i].number = number;
        for (unsigned k = 0; k < 5; k++) {
            slot[i].check[k] = number * 2654435761u + k;
        }
        slot[i].last = ~number;
    }
}

static bool is_whole(const struct payload *slot, unsigned slots)
{
    uint64_t number = slot[0].number;
    for (unsigned i = 0; i < slots; i++) {
        if (slot[i].number != number || slot[i].last != ~number ||
            slot[i].check[4] != number * 2654435761u + 4) {
            return false;
        }
    }
    return true;
}

/* Until the reader of the mapping asks whether there is a record: what is written there next, it may see. */
static void wait_for_reader(uint32_t writer, const struct payload *next)
{
    while (!atomic_load(&mapping_read) && atomic_load(&failures) == 0 &&
           atomic_load_explicit(&next_to_read[writer], memory_order_relaxed) != next) {
        usleep(100);
    }
}

static void *write_records(void *argument)
{
    uint32_t writer = (uint32_t)(uintptr_t)argument;
    char text[32];
    (void)gmt_spool_thread_id();
    for (long i = 0; i < per_writer; i++) {
        unsigned slots = 1 + (unsigned)i % 3;
        struct payload *record = gmt_spool_reserve(slots);
        if (record == NULL) {
            fail("the spool refused a record", writer, (uint64_t)i);
            break;
        }
        fill(record, slots, writer, (uint64_t)i);
        if (i == 0) { /* relaxed: only the commit word may order what the reader sees */
            atomic_store_explicit(&first_record[writer], record, memory_order_relaxed);
        }
        gmt_spool_commit(record, TYPE, slots);
        atomic_fetch_add_explicit(&records_written, 1, memory_order_relaxed);
        if (i % 64 == 63) {
            wait_for_reader(writer, record + slots);
            snprintf(text, sizeof text, "writer %u", writer);
            gmt_spool_loss("race", text, 1);
        }
    }
    atomic_fetch_add_explicit(&writers_done, 1, memory_order_relaxed);
    while (!atomic_load(&mapping_read)) {
        usleep(1000);
    }
    return NULL;
}

/* Follow the commit words in the writers' mapping until every writer's FEW records were seen. */
static void *read_mapping(void *unused)
{
    struct payload *at[WRITERS] = {0};
    long seen[WRITERS] = {0};
    int finished = 0;
    (void)unused;
    while (finished < WRITERS && atomic_load(&failures) == 0) {
        finished = 0;
        for (uint32_t w = 0; w < WRITERS; w++) {
            if (at[w] == NULL) {
                at[w] = atomic_load_explicit(&first_record[w], memory_order_relaxed);
            }
            uint32_t word;
            while (at[w] != NULL && seen[w] < per_writer &&
                   (word = __atomic_load_n(&at[w]->commit, __ATOMIC_ACQUIRE)) != 0) {
                unsigned slots = GMT_COMMIT_SLOTS(word);
                if (GMT_COMMIT_TYPE(word) == TYPE) {
                    if (!is_whole(at[w], slots) || at[w]->number != (uint64_t)seen[w]) {
                        fail("torn record in the mapping", w, at[w]->number);
                    }
                    seen[w]++;
                }
                at[w] += slots;
            }
            atomic_store_explicit(&next_to_read[w], at[w], memory_order_relaxed);
            finished += seen[w] == per_writer;
        }
    }
    atomic_store(&mapping_read, true);
    return NULL;
}

static void run_writers(pthread_t *threads, long count)
{
    per_writer = count;
    atomic_store(&writers_done, 0);
    for (uintptr_t w = 0; w < WRITERS; w++) {
        if (pthread_create(&threads[w], NULL, write_records, (void *)w) != 0) {
            abort();
        }
    }
}

static uint64_t read_pass(struct gmt_spool_reader *reader, bool writer_gone)
{
    struct gmt_spool_record record;
    uint64_t calls = 0;
    if (gmt_spool_reader_begin_pass(reader, writer_gone) != 0) {
        fail("a pass could not begin", 0, 0);
        return 0;
    }
    while (gmt_spool_reader_next(reader, &record)) {
        const struct payload *payload = record.data;
        if (record.type == TYPE) {
            calls++;
            if (!is_whole(payload, record.slots)) {
                fail("torn record in a file", payload->writer, payload->number);
            }
        }
    }
    gmt_spool_reader_release(reader);
    return calls;
}

int main(void)
{
    char directory[] = "/tmp/spool_race.XXXXXX", output[64];
    pthread_t threads[WRITERS], mapping_reader;
    struct gmt_spool_reader *reader;
    uint64_t calls = 0;
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    snprintf(output, sizeof output, "%s/trace.db", directory);
    gmt_clock_init();
    struct gmt_spool_config config = {.output = output, .bytes_limit = (uint64_t)256 << 20};
    if (gmt_spool_open(&config) != 0 ||
        gmt_spool_reader_open(gmt_spool_directory(), &reader) != 0) {
        fputs("spool_race: no spool\n", stderr);
        return 1;
    }
    run_writers(threads, FEW);
    pthread_create(&mapping_reader, NULL, read_mapping, NULL);
    for (int w = 0; w < WRITERS; w++) {
        pthread_join(threads[w], NULL);
    }
    pthread_join(mapping_reader, NULL);
    calls += read_pass(reader, false);

    run_writers(threads, MANY);
    while (atomic_load_explicit(&writers_done, memory_order_relaxed) < WRITERS) {
        calls += read_pass(reader, false);
    }
    for (int w = 0; w < WRITERS; w++) {
        pthread_join(threads[w], NULL);
    }
    calls += read_pass(reader, true);
    if (calls != atomic_load(&records_written)) {
        fprintf(stderr, "spool_race: %llu records read, %llu written\n", (unsigned long long)calls,
                (unsigned long long)atomic_load(&records_written));
        atomic_fetch_add(&failures, 1);
    }
    gmt_spool_reader_close(reader);
    gmt_spool_remove(gmt_spool_directory());
    rmdir(directory);
    printf("%llu records, %d failures\n", (unsigned long long)calls, atomic_load(&failures));
    return atomic_load(&failures) != 0;
}
