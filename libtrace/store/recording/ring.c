/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a recorder that keeps the last seconds only: it gives up what is old, and has dumps written. */
#include "libtrace/store/recording/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/recording/recording_live.h"
#include "libtrace/store/recording/ring_causes.h"
#include "libtrace/store/recording/ring_content.h"
#include "libtrace/store/recording/ring_internal.h"
#include "libtrace/store/recording/ring_sift.h"

#define MOST_UNASKED \
    10u /* dumps for errors of CUDA: a program that makes one in each step fills no disk */
#define MOST_CHILDREN 4
#define RETRY_NS UINT64_C(1000000000) /* after chunks could not be given up */
#define CLOCK_NS UINT64_C(1000000000) /* so often are the pairs of both clocks written */
#define LOOK_NS UINT64_C(50000000)    /* so often is it looked for what is old */
#define LONGEST_BATCH_NS UINT64_C(10000000000)

/* A chunk of the spool. */
struct chunk {
    uint32_t index;
    uint64_t bytes;
    uint64_t last_ns; /* when the last call in it ended; CLOCK_MONOTONIC                  */
    bool is_read;     /* to the end                                                       */
    bool is_there;
    bool is_given_up;
};

struct ring {
    struct gmt_recording *recording;
    struct gmt_ring_apis apis;
    struct chunk *chunks;
    size_t count, capacity, at; /* at: of the last record                                 */
    uint64_t base_bytes, given_up_ns, looked_ns, retry_ns, clock_ns;
    char cause[128]; /* of a failure that was not followed by a dump yet, or ""                 */
    char slow[128];  /* of a slow step, likewise                                                  */
    struct gmt_ring_budget slow_budget;
    uint64_t unasked_ns;
    unsigned unasked, children;
};

static volatile sig_atomic_t asked;

static void on_signal(int number)
{
    (void)number;
    asked = 1;
}

static uint32_t base_of(const struct ring *ring)
{
    return ring->recording->control->ring_base;
}

static struct chunk *chunk_of(struct ring *ring, uint32_t index)
{
    if (ring->at < ring->count && ring->chunks[ring->at].index == index) {
        return &ring->chunks[ring->at];
    }
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->chunks[i].index == index) {
            ring->at = i;
            return &ring->chunks[i];
        }
    }
    if (ring->count == ring->capacity) {
        size_t capacity = ring->capacity != 0 ? 2 * ring->capacity : 64;
        struct chunk *chunks = realloc(ring->chunks, capacity * sizeof(*chunks));
        if (chunks == NULL) {
            return NULL;
        }
        ring->chunks = chunks;
        ring->capacity = capacity;
    }
    ring->at = ring->count++;
    ring->chunks[ring->at] = (struct chunk){.index = index};
    return &ring->chunks[ring->at];
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int look_at(struct ring *ring, const struct gmt_spool_record *record)
{
    char cause[128];
    if (record->chunk + 1 == base_of(ring) || record->type == GMT_REC_NONE) {
        return 0;
    }
    if (gmt_recording_live_record(ring->recording, record, cause)) {
        memcpy(ring->slow, cause, sizeof(cause));
    }
    struct chunk *chunk = chunk_of(ring, record->chunk);
    if (chunk == NULL) {
        return -ENOMEM;
    }
    bool is_call = record->type >= GMT_REC_CALL && record->type <= GMT_REC_ENCODE;
    uint64_t ticks = is_call ? ((const struct gmt_call *)record->data)->end_ticks
                             : ((const struct gmt_side_head *)record->data)->ticks;
    uint64_t ns = gmt_timebase_ns(&ring->recording->time, ticks);
    chunk->last_ns = ns > chunk->last_ns ? ns : chunk->last_ns;
    if (gmt_ring_is_failure(&ring->apis, record, cause) && ring->cause[0] == '\0') {
        memcpy(ring->cause, cause, sizeof(cause));
    }
    return 0;
}

static int read_pass(struct ring *ring, bool writer_gone, uint64_t *records)
{
    struct gmt_recording *recording = ring->recording;
    struct gmt_spool_record record;
    *records = 0;
    gmt_timebase_add_control(&recording->time, recording->control);
    gmt_timebase_add_now(&recording->time);
    int error = gmt_spool_reader_begin_pass(recording->reader, writer_gone);
    while (error == 0 && gmt_spool_reader_next(recording->reader, &record)) {
        ++*records;
        error = look_at(ring, &record);
    }
    gmt_spool_reader_rest(recording->reader);
    gmt_recording_live_pass(recording, writer_gone);
    return error;
}

static void write_clock(struct ring *ring)
{
    const struct gmt_timebase *time = &ring->recording->time;
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (time->count > 0 && now_ns - ring->clock_ns >= CLOCK_NS) {
        ring->clock_ns = now_ns;
        (void)gmt_ring_write_file(ring->recording->folder, GMT_RING_CLOCK_FILE, time->pair,
                                  time->count * sizeof(time->pair[0]));
    }
}

/* ---- giving up what is old -------------------------------------------------------------------- */

static int by_last_call(const void *a, const void *b)
{
    const struct chunk *left = a, *right = b;
    return (left->last_ns > right->last_ns) - (left->last_ns < right->last_ns);
}

/* What there is, oldest first. Returns its bytes. */
static uint64_t take_stock(struct ring *ring)
{
    size_t cursor = 0, kept = 0;
    uint64_t total = ring->base_bytes, bytes;
    uint32_t index;
    bool is_read;
    for (size_t i = 0; i < ring->count; i++) {
        ring->chunks[i].is_there = false;
    }
    while (gmt_spool_reader_chunk(ring->recording->reader, &cursor, &index, &bytes, &is_read)) {
        struct chunk *chunk = index + 1 != base_of(ring) ? chunk_of(ring, index) : NULL;
        if (chunk != NULL) {
            chunk->bytes = bytes;
            chunk->is_read = is_read;
            chunk->is_there = true;
            chunk->is_given_up = false;
            total += bytes;
        }
    }
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->chunks[i].is_there) {
            ring->chunks[kept++] = ring->chunks[i];
        }
    }
    ring->count = kept;
    if (kept > 1) {
        qsort(ring->chunks, kept, sizeof(*ring->chunks), by_last_call);
    }
    return total;
}

/* Choose what to give up; how much that is. In portions, since the base is written anew each time. */
static uint64_t choose(struct ring *ring, uint64_t now_ns)
{
    const struct gmt_control *control = ring->recording->control;
    uint64_t total = take_stock(ring), chosen = 0, keep_ns = control->ring_ns + GMT_RING_MARGIN_NS;
    uint64_t old_ns = now_ns > keep_ns ? now_ns - keep_ns : 0;
    uint64_t batch_ns = control->ring_ns / 8 < LONGEST_BATCH_NS ? control->ring_ns / 8
                                                                : LONGEST_BATCH_NS;
    bool is_too_much = total > control->ring_bytes;
    uint64_t most = control->ring_bytes - control->ring_bytes / 16, old = 0;
    for (size_t i = 0; i < ring->count; i++) {
        struct chunk *chunk = &ring->chunks[i];
        bool is_old = chunk->last_ns < old_ns;
        if (chunk->is_read && (is_old || (is_too_much && total - chosen > most))) {
            chunk->is_given_up = true;
            chosen += chunk->bytes;
            old += is_old ? chunk->bytes : 0;
        }
    }
    bool is_worth_it = is_too_much || old >= control->ring_bytes / 32 ||
                       now_ns - ring->given_up_ns >= batch_ns;
    return is_worth_it ? chosen : 0;
}

/* Whoever makes a dump reads under this lock; after a while nobody is waited for. */
static bool lock_out_readers(const struct ring *ring, bool is_urgent)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = GMT_RING_LOCK_BYTE, .l_len = 1};
    return fcntl(ring->recording->lock_fd, F_OFD_SETLK, &lock) == 0 || is_urgent ||
           (errno != EAGAIN && errno != EACCES);
}

static void let_readers_in(const struct ring *ring)
{
    struct flock lock = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = GMT_RING_LOCK_BYTE, .l_len = 1};
    (void)fcntl(ring->recording->lock_fd, F_OFD_SETLK, &lock);
}

static int by_index(const void *a, const void *b)
{
    const struct chunk *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

/* The base, from now on, is made of the base and of what is to be given up. */
static int renew_base(struct ring *ring, uint64_t begin_ns)
{
    struct gmt_recording *recording = ring->recording;
    struct gmt_control *control = recording->control;
    struct gmt_ring_content content = {0};
    uint64_t bytes = 0;
    uint32_t base = control->ring_base;
    int error = base != 0 ? gmt_ring_content_add(&content, recording->folder, base - 1, geteuid())
                          : 0;
    qsort(ring->chunks, ring->count, sizeof(*ring->chunks),
          by_index); /* records of a thread in order */
    for (size_t i = 0; i < ring->count && error == 0; i++) {
        if (ring->chunks[i].is_given_up) {
            error = gmt_ring_content_add(&content, recording->folder, ring->chunks[i].index,
                                         geteuid());
        }
    }
    error = error == 0 ? gmt_ring_sift(&content, &recording->time, begin_ns) : error;
    if (error == 0) {
        base = base != 0 ? base
                         : __atomic_fetch_add(&control->chunk_count, 1, __ATOMIC_RELAXED) + 1;
        error = gmt_ring_content_write(&content, recording->folder, base - 1, control->pid, &bytes);
    }
    gmt_ring_content_free(&content);
    if (error != 0) {
        return error;
    }
    __atomic_fetch_add(&control->bytes_in_use, bytes - ring->base_bytes, __ATOMIC_RELAXED);
    ring->base_bytes = bytes;
    __atomic_store_n(&control->ring_begin_ns, begin_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&control->ring_base, base, __ATOMIC_RELEASE);
    return 0;
}

static int give_up(struct ring *ring)
{
    uint64_t last_ns = ring->recording->control->ring_begin_ns;
    for (size_t i = 0; i < ring->count; i++) {
        bool is_later = ring->chunks[i].is_given_up && ring->chunks[i].last_ns >= last_ns;
        last_ns = is_later ? ring->chunks[i].last_ns + 1 : last_ns;
    }
    int error = renew_base(ring, last_ns);
    for (size_t i = 0; i < ring->count && error == 0; i++) {
        if (ring->chunks[i].is_given_up) {
            gmt_spool_reader_give_up(ring->recording->reader, ring->chunks[i].index);
        }
    }
    return error;
}

static void tidy(struct ring *ring)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    const struct gmt_control *control = ring->recording->control;
    if (now_ns < ring->retry_ns || now_ns - ring->looked_ns < LOOK_NS) {
        return;
    }
    ring->looked_ns = now_ns;
    if (choose(ring, now_ns) == 0) {
        return;
    }
    uint64_t used = __atomic_load_n(&control->bytes_in_use, __ATOMIC_RELAXED);
    if (!lock_out_readers(ring, used > control->ring_bytes + control->ring_bytes / 2)) {
        return;
    }
    /* A full disk may have room again later; until then the spool grows to its limit. */
    ring->retry_ns = give_up(ring) != 0 ? now_ns + RETRY_NS : 0;
    ring->given_up_ns = now_ns;
    let_readers_in(ring);
}

/* ---- dumps ------------------------------------------------------------------------------------ */

static int dump(const struct ring *ring, const char *cause)
{
    char file[PATH_MAX];
    return gmt_ring_dump_beside(ring->recording->directory, ring->recording->output, cause, file);
}

static void reap(struct ring *ring, int options)
{
    while (ring->children > 0) {
        pid_t child = waitpid(-1, NULL, options);
        if (child <= 0 && (child == 0 || errno != EINTR)) {
            ring->children = child == 0 ? ring->children : 0;
            return;
        }
        ring->children -= child > 0;
    }
}

/* By a child, so that reading goes on. */
static void start_dump(struct ring *ring, const char *cause)
{
    reap(ring, ring->children >= MOST_CHILDREN ? 0 : WNOHANG);
    gmt_recording_live_dumped(ring->recording);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGUSR1, SIG_IGN);
        _exit(dump(ring, cause) != 0);
    }
    ring->children += child > 0;
    if (child < 0) {
        (void)dump(ring, cause);
    }
}

static void answer(struct ring *ring)
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (asked != 0) {
        asked = 0;
        start_dump(ring, "SIGUSR1 to the recorder");
    }
    uint64_t window_ns = ring->recording->control->ring_ns;
    if (ring->slow[0] != '\0' && gmt_ring_budget_take(&ring->slow_budget, now_ns, window_ns)) {
        start_dump(ring, ring->slow);
    }
    ring->slow[0] = '\0';
    if (ring->cause[0] == '\0') {
        return;
    }
    if (ring->unasked == 0 ||
        (ring->unasked < MOST_UNASKED && now_ns - ring->unasked_ns >= window_ns)) {
        ring->unasked++;
        ring->unasked_ns = now_ns;
        start_dump(ring, ring->cause);
    }
    ring->cause[0] = '\0';
}

/* ---- the life --------------------------------------------------------------------------------- */

static int follow(struct ring *ring)
{
    struct gmt_recording *recording = ring->recording;
    bool reported = false;
    unsigned idle = 0;
    for (;;) {
        /* In this order: what was written before either became true is seen by the pass. */
        bool ended = __atomic_load_n(&recording->control->ended, __ATOMIC_ACQUIRE) != 0;
        enum gmt_process_fate fate = gmt_process_watch_check(&recording->watch);
        uint64_t records;
        int error = read_pass(ring, fate != GMT_PROCESS_ALIVE, &records);
        if (error != 0) {
            return error;
        }
        if (fate != GMT_PROCESS_ALIVE) {
            return 0;
        }
        write_clock(ring);
        answer(ring);
        tidy(ring);
        reap(ring, WNOHANG);
        if (ended && !reported) {
            gmt_recording_set_state(recording->control, GMT_RECORDER_DONE);
            reported = true;
        }
        gmt_recording_rest(recording, ended, records, &idle);
    }
}

int gmt_ring_run(struct gmt_recording *recording, bool *writer_gone)
{
    struct ring ring = {.recording = recording};
    const struct sigaction action = {.sa_handler = on_signal};
    char cause[128];
    (void)sigaction(SIGUSR1, &action, NULL);
    gmt_timebase_init(&recording->time, recording->control->ticks_are_ns != 0);
    gmt_timebase_add(&recording->time, recording->control->first_pair);
    if (recording->control->ring_base != 0) { /* of an attempt that failed */
        struct stat info;
        char name[32];
        (void)snprintf(name, sizeof(name), "chunk-%u", recording->control->ring_base - 1);
        ring.base_bytes = fstatat(recording->folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0
                              ? (uint64_t)info.st_size
                              : 0;
    }
    int error = follow(&ring);
    enum gmt_process_fate fate = gmt_process_watch_learn(&recording->watch);
    *writer_gone = fate != GMT_PROCESS_ALIVE;
    bool has_exited = __atomic_load_n(&recording->control->ended, __ATOMIC_ACQUIRE) != 0;
    if (error == 0 && gmt_ring_is_bad_end(fate, recording->watch.exit_status, has_exited, cause)) {
        error = dump(&ring, cause);
        gmt_recording_live_dumped(recording);
        gmt_recording_live_pass(recording, true);
    }
    reap(&ring, 0);
    gmt_ring_apis_free(&ring.apis);
    free(ring.chunks);
    gmt_recording_set_state(recording->control,
                            error == 0 ? GMT_RECORDER_DONE : GMT_RECORDER_FAILED);
    if (error == 0) {
        gmt_spool_folder_remove(recording->folder, recording->directory);
    }
    return error;
}
