/* SPDX-License-Identifier: Apache-2.0 */
/* Side records: a fixed part followed by strings or binary data. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/thread_number.h"

static unsigned slots_for(size_t bytes)
{
    return (unsigned)((bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
}

/* Reserve, copy the fixed part and fill its head, but for the commit word, which readers look at. The thread
 * record itself is written while the thread id is being handed out, so it must not ask for the id again. The process says itself
 * when it read its wall clock. */
static uint8_t *begin(enum gmt_rec_type type, const void *fixed, size_t fixed_bytes, unsigned slots)
{
    uint32_t thread = type == GMT_REC_THREAD ? ((const struct gmt_thread *)fixed)->id
                                             : gmt_spool_thread_id();
    uint8_t *record = gmt_spool_reserve(slots);
    if (record != NULL) {
        struct gmt_side_head head = {.thread = thread,
                                     .ticks = type == GMT_REC_PROCESS
                                                  ? ((const struct gmt_process *)fixed)->head.ticks
                                                  : gmt_clock_ticks()};
        memcpy(record + sizeof(head), (const uint8_t *)fixed + sizeof(head),
               fixed_bytes - sizeof(head));
        memcpy(record + sizeof(head.commit), (const uint8_t *)&head + sizeof(head.commit),
               sizeof(head) - sizeof(head.commit));
    }
    return record;
}

int gmt_spool_side(enum gmt_rec_type type, const void *fixed, size_t fixed_bytes,
                   const char *const *texts, size_t count)
{
    const size_t most = (size_t)GMT_MAX_SLOTS * GMT_SLOT_BYTES;
    size_t bytes = fixed_bytes;
    for (size_t i = 0; i < count; i++) {
        bytes += (texts[i] != NULL ? strlen(texts[i]) : 0) + 1;
    }
    if (bytes > most) {
        bytes = most;
    }
    unsigned slots = slots_for(bytes);
    uint8_t *record = begin(type, fixed, fixed_bytes, slots);
    if (record == NULL) {
        return -ENOSPC;
    }
    /* Each string is cut so that the NULs of those after it still fit. */
    size_t at = fixed_bytes;
    for (size_t i = 0; i < count; i++) {
        size_t length = texts[i] != NULL ? strlen(texts[i]) : 0;
        size_t room = most - at - (count - i);
        length = length < room ? length : room;
        if (length != 0) {
            memcpy(record + at, texts[i], length);
        }
        record[at + length] = '\0';
        at += length + 1;
    }
    gmt_spool_commit(record, type, slots);
    return 0;
}

int gmt_spool_side_data(enum gmt_rec_type type, const void *fixed, size_t fixed_bytes,
                        const void *tail, size_t tail_bytes)
{
    size_t bytes = fixed_bytes + tail_bytes;
    if (bytes > (size_t)GMT_MAX_SLOTS * GMT_SLOT_BYTES) {
        return -E2BIG;
    }
    uint8_t *record = begin(type, fixed, fixed_bytes, slots_for(bytes));
    if (record == NULL) {
        return -ENOSPC;
    }
    memcpy(record + fixed_bytes, tail, tail_bytes);
    gmt_spool_commit(record, type, slots_for(bytes));
    return 0;
}

uint32_t gmt_spool_thread_id(void)
{
    uint32_t id = gmt_thread_number_known();
    if (__builtin_expect(id == 0, 0)) {
        id = gmt_thread_number_take();
        char name[32] = "";
        (void)prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0);
        struct gmt_thread thread = {.id = id, .tid = (uint32_t)syscall(SYS_gettid)};
        (void)gmt_spool_side(GMT_REC_THREAD, &thread, sizeof(thread), (const char *[]){name}, 1);
    }
    return id;
}

void gmt_spool_capability(const char *name, enum gmt_capability_state state, int code,
                          const char *detail, const char *remedy)
{
    struct gmt_capability capability = {.state = state, .code = code};
    (void)gmt_spool_side(GMT_REC_CAPABILITY, &capability, sizeof(capability),
                         (const char *[]){name, detail, remedy}, 3);
}

void gmt_spool_loss(const char *kind, const char *detail, uint64_t count)
{
    struct gmt_loss loss = {.count = count};
    (void)gmt_spool_side(GMT_REC_LOSS, &loss, sizeof(loss), (const char *[]){kind, detail}, 2);
}

static _Atomic uint64_t own_total_ns;

uint64_t gmt_spool_own_total_ns(void)
{
    return atomic_load_explicit(&own_total_ns, memory_order_relaxed);
}

/* Returns how long it took, ns. */
static uint64_t own_time(enum gmt_own_work work, uint64_t begin_ns, uint32_t launch_seq,
                         bool is_beside)
{
    struct gmt_own_time own = {.begin_ns = begin_ns,
                               .end_ns = gmt_clock_monotonic_ns(),
                               .launch_seq = launch_seq,
                               .work = (uint8_t)work,
                               .is_beside = is_beside};
    (void)gmt_spool_side(GMT_REC_OWN_TIME, &own, sizeof(own), NULL, 0);
    return own.end_ns - own.begin_ns;
}

static void add_to_total(uint64_t ns, uint64_t less_ns)
{
    if (ns > less_ns) {
        atomic_fetch_add_explicit(&own_total_ns, ns - less_ns, memory_order_relaxed);
    }
}

void gmt_spool_own_time(enum gmt_own_work work, uint64_t begin_ns, uint32_t launch_seq)
{
    uint64_t ns = own_time(work, begin_ns, launch_seq, false);
    add_to_total(work != GMT_OWN_SETUP && work != GMT_OWN_EXIT ? ns : 0, 0);
}

void gmt_spool_own_time_around(enum gmt_own_work work, uint64_t begin_ns, uint32_t launch_seq,
                               uint64_t total_ns)
{
    uint64_t ns = own_time(work, begin_ns, launch_seq, false);
    add_to_total(ns, gmt_spool_own_total_ns() - total_ns);
}

void gmt_spool_own_time_excused(enum gmt_own_work work, uint64_t begin_ns, uint64_t excused_ns)
{
    add_to_total(own_time(work, begin_ns, 0, false), excused_ns);
}

void gmt_spool_own_time_beside(enum gmt_own_work work, uint64_t begin_ns)
{
    (void)own_time(work, begin_ns, 0, true);
}

void gmt_spool_note_exit(void)
{
    struct gmt_control *control = gmt_spool_control();
    if (control == NULL) {
        return;
    }
    struct gmt_side_head head = {0};
    (void)gmt_spool_side(GMT_REC_EXIT, &head, sizeof(head), NULL, 0);
    __atomic_store_n(&control->ended, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &control->ended, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
