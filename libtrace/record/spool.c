/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half of a spool: records of this process into memory-mapped chunks, without locks. */
#include "libtrace/record/spool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/proc.h"
#include "libtrace/record/recycle.h"
#include "libtrace/record/spool_claim.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/threads/epoch.h"
#include "libtrace/threads/mutex.h"
#include "libtrace/threads/thread_number.h"

#define RETRY_NS UINT64_C(100000000) /* after a failure no new chunk is tried for this long */
static_assert(GMT_CHUNK_FIRST_BYTES >=
                  sizeof(struct gmt_chunk_header) + GMT_MAX_SLOTS * GMT_SLOT_BYTES,
              "any record fits any chunk");
#define SPARE_CHUNKS 64u
#define SPARE_MIN_BYTES (8 * GMT_SLOT_BYTES)

struct writer {
    uint8_t *next; /* first free slot */
    uint8_t *end;  /* one past the last slot of the chunk */
    uint8_t *last; /* the record that was reserved last */
    struct gmt_chunk_header *chunk;
};

/* What a thread needs to append. Initial-exec: the library is preloaded, never dlopen'ed late. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    struct writer writer;
    uint32_t epoch; /* of the spool this belongs to */
} tls = {.epoch = GMT_EPOCH_NEVER};

static struct {
    _Atomic bool open;
    _Atomic uint64_t retry_ns;
    struct gmt_spool_claim claim;
    pthread_key_t exit_key;
    bool has_exit_key;
    char directory[PATH_MAX];
    char control_path[PATH_MAX + 16];
} spool = {.claim = {.control_fd = -1}};

/* Chunks that ended threads left partly filled; the next new thread goes on with one. */
static struct {
    struct gmt_mutex mutex;
    unsigned count;
    struct writer item[SPARE_CHUNKS];
} spare = {.mutex = GMT_MUTEX(SPARE_CHUNKS)};

static void thread_exits(void *unused)
{
    (void)unused;
    bool ours = tls.epoch == gmt_epoch();
    if (ours) {
        gmt_spool_void();
    }
    struct writer left = tls.writer;
    tls.writer = (struct writer){0};
    if (left.chunk == NULL || !ours) {
        return;
    }
    bool kept = false;
    gmt_mutex_lock(&spare.mutex);
    if (left.end - left.next >= (ptrdiff_t)SPARE_MIN_BYTES && spare.count < SPARE_CHUNKS) {
        spare.item[spare.count++] = left;
        kept = true;
    }
    gmt_mutex_unlock(&spare.mutex);
    if (!kept) {
        gmt_chunk_close(left.chunk);
    }
}

static bool take_spare(size_t bytes)
{
    bool taken = false;
    gmt_mutex_lock(&spare.mutex);
    if (spare.count > 0 &&
        (size_t)(spare.item[spare.count - 1].end - spare.item[spare.count - 1].next) >= bytes) {
        tls.writer = spare.item[--spare.count];
        taken = true;
    }
    gmt_mutex_unlock(&spare.mutex);
    return taken;
}

/* Store a fresh pair as control->last_pair; pair_seq is odd while it is being written. */
static struct gmt_mutex pair_mutex = GMT_MUTEX(CLOCK_PAIR);

static void publish_clock_pair(void)
{
    struct gmt_control *control = spool.claim.control;
    gmt_mutex_lock(&pair_mutex);
    struct gmt_clock_pair pair = gmt_clock_read_pair();
    uint32_t seq = __atomic_load_n(&control->pair_seq, __ATOMIC_RELAXED);
    __atomic_store_n(&control->pair_seq, seq + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->last_pair.ticks, pair.ticks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->last_pair.monotonic_ns, pair.monotonic_ns, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->pair_seq, seq + 2, __ATOMIC_RELEASE);
    gmt_mutex_unlock(&pair_mutex);
}

static void *dropped(int error)
{
    struct gmt_control *control = spool.claim.control;
    if (error == -ENOBUFS) {
        __atomic_fetch_add(&control->dropped_full, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&control->dropped_io, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&control->io_errno, -error, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *take(size_t bytes)
{
    uint8_t *record = tls.writer.next;
    tls.writer.last = record;
    tls.writer.next += bytes;
    return record;
}

/* The folder may have been moved or removed, and another process's have taken its place. */
static int find_chunk(size_t bytes, struct gmt_chunk_header **chunk)
{
    struct gmt_control *control = spool.claim.control;
    if (!gmt_spool_claim_is_at(&spool.claim, spool.control_path)) {
        return -ESTALE;
    }
    if (bytes == GMT_CHUNK_BYTES && (*chunk = gmt_recycle_take(spool.directory, control)) != NULL) {
        return 0;
    }
    int folder = gmt_spool_enter();
    if (folder < 0) {
        return folder;
    }
    int error = gmt_chunk_create(folder, control, bytes, chunk);
    while (error != 0 && gmt_recycle_drop(spool.directory, control)) {
        error = gmt_chunk_create(folder, control, bytes, chunk);
    }
    if (error == -ENOBUFS && bytes > GMT_CHUNK_FIRST_BYTES) {
        error = gmt_chunk_create(folder, control, GMT_CHUNK_FIRST_BYTES, chunk);
    }
    close(folder);
    return error;
}

static void *reserve_in_new_chunk(size_t bytes)
{
    static _Atomic int last_error;
    uint32_t epoch = gmt_epoch();
    if (tls.epoch != epoch) {
        tls.writer = (struct writer){0};
        tls.epoch = epoch;
    }
    bool first = tls.writer.chunk == NULL;
    if (first && take_spare(bytes)) {
        pthread_setspecific(spool.exit_key, &tls);
        return take(bytes);
    }
    uint64_t retry_ns = atomic_load_explicit(&spool.retry_ns, memory_order_relaxed);
    if (retry_ns != 0 && gmt_clock_monotonic_ns() < retry_ns) {
        return dropped(atomic_load_explicit(&last_error, memory_order_relaxed));
    }
    size_t size = first                                              ? GMT_CHUNK_FIRST_BYTES
                  : tls.writer.chunk->bytes < GMT_CHUNK_SECOND_BYTES ? GMT_CHUNK_SECOND_BYTES
                                                                     : GMT_CHUNK_BYTES;
    struct gmt_chunk_header *chunk = NULL;
    int error = find_chunk(size, &chunk);
    if (error != 0) {
        atomic_store_explicit(&last_error, error, memory_order_relaxed);
        atomic_store_explicit(&spool.retry_ns, gmt_clock_monotonic_ns() + RETRY_NS,
                              memory_order_relaxed);
        return dropped(error);
    }
    atomic_store_explicit(&spool.retry_ns, 0, memory_order_relaxed);
    struct gmt_chunk_header *full = tls.writer.chunk;
    tls.writer.chunk = chunk;
    tls.writer.last = NULL;
    tls.writer.next = (uint8_t *)(chunk + 1);
    tls.writer.end = (uint8_t *)chunk + chunk->bytes;
    if (full != NULL && !gmt_recycle_keep(full)) {
        gmt_chunk_close(full);
    }
    pthread_setspecific(spool.exit_key, &tls);
    publish_clock_pair();
    return take(bytes);
}

void *gmt_spool_reserve(unsigned slots)
{
    size_t bytes = (size_t)slots * GMT_SLOT_BYTES;
    if (__builtin_expect(
            (size_t)(tls.writer.end - tls.writer.next) >= bytes && tls.epoch == gmt_epoch(), 1)) {
        return take(bytes);
    }
    if (!gmt_spool_is_open() || slots == 0 || slots > GMT_MAX_SLOTS) {
        return NULL;
    }
    /* Making a file is a cancellation point that the program's call is not, and may set errno. */
    int cancel_state, saved_errno = errno;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    void *record = reserve_in_new_chunk(bytes);
    (void)pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return record;
}

void gmt_spool_commit(void *record, enum gmt_rec_type type, unsigned slots)
{
    __atomic_store_n((uint32_t *)record, GMT_COMMIT(type, slots), __ATOMIC_RELEASE);
}

void gmt_spool_void(void)
{
    uint8_t *last = tls.writer.last;
    if (last != NULL && tls.epoch == gmt_epoch() && *(uint32_t *)(void *)last == 0) {
        unsigned slots = (unsigned)((size_t)(tls.writer.next - last) / GMT_SLOT_BYTES);
        gmt_spool_commit(last, GMT_REC_NONE, slots);
    }
    tls.writer.last = NULL;
}

bool gmt_spool_is_open(void)
{
    return atomic_load_explicit(&spool.open, memory_order_acquire) &&
           gmt_epoch() != GMT_EPOCH_FORKED && gmt_epoch() != GMT_EPOCH_SETTLING;
}

struct gmt_control *gmt_spool_control(void)
{
    return gmt_spool_is_open() ? spool.claim.control : NULL;
}

const char *gmt_spool_directory(void)
{
    return gmt_spool_is_open() ? spool.directory : NULL;
}

int gmt_spool_enter(void)
{
    return gmt_spool_is_open() ? gmt_spool_claim_enter(&spool.claim, spool.directory) : -ENOENT;
}

static void describe(struct gmt_control *control, const struct gmt_spool_config *config)
{
    control->version = GMT_SPOOL_VERSION;
    control->byte_order = GMT_SPOOL_BYTE_ORDER;
    control->pid = (uint32_t)getpid();
    control->pid_start = gmt_proc_start_time(getpid());
    control->ticks_are_ns = !gmt_clock_uses_tsc;
    control->bytes_limit = config->bytes_limit;
    (void)snprintf(control->output, sizeof(control->output), "%s", config->output);
    gmt_proc_boot_id(control->boot_id, sizeof(control->boot_id));
    (void)gethostname(control->host, sizeof(control->host) - 1);
    (void)snprintf(control->run, sizeof(control->run), "%s",
                   config->run != NULL ? config->run : "");
    control->ring_ns = config->ring_ns;
    control->ring_bytes = config->ring_bytes;
    control->first_pair = gmt_clock_read_pair();
    control->last_pair = control->first_pair;
    __atomic_store_n(&control->magic, GMT_SPOOL_MAGIC, __ATOMIC_RELEASE);
}

int gmt_spool_open(const struct gmt_spool_config *config)
{
    if (gmt_spool_is_open()) {
        return -EALREADY;
    }
    int length = snprintf(spool.directory, sizeof(spool.directory), "%s.spool", config->output);
    if (length < 0 || (size_t)length >= sizeof(spool.directory) ||
        strlen(config->output) >= sizeof(((struct gmt_control *)0)->output)) {
        return -ENAMETOOLONG;
    }
    if (!spool.has_exit_key) {
        if (pthread_key_create(&spool.exit_key, thread_exits) != 0) {
            return -EAGAIN;
        }
        spool.has_exit_key = true;
    }
    (void)snprintf(spool.control_path, sizeof(spool.control_path), "%s/control", spool.directory);
    int error = gmt_spool_claim_begin(&spool.claim, spool.directory);
    if (error == 0) {
        describe(spool.claim.control, config);
        error = gmt_spool_claim_finish(&spool.claim, spool.directory);
    }
    if (error != 0) {
        return error;
    }
    gmt_recycle_start(spool.directory);
    gmt_epoch_begin();
    atomic_store_explicit(&spool.open, true, memory_order_release);
    return 0;
}

void gmt_spool_abandon(void)
{
    if (atomic_exchange(&spool.open, false)) {
        gmt_thread_numbers_reset();
        atomic_store(&spool.retry_ns, 0);
        gmt_mutex_renew(&spare.mutex);
        gmt_mutex_renew(&pair_mutex);
        spare.count = 0;
        gmt_recycle_reset();
        gmt_spool_claim_forget(&spool.claim);
    }
    gmt_epoch_end();
}

void gmt_spool_withdraw(void)
{
    int folder = gmt_spool_folder_open(spool.directory);
    if (folder >= 0 && gmt_spool_claim_is_at(&spool.claim, spool.control_path)) {
        gmt_spool_folder_remove(folder, spool.directory);
    }
    if (folder >= 0) {
        close(folder);
    }
    gmt_spool_abandon();
}
