/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the open ranges of each thread and of the process, and writes them as records. */
#include "preload/state/user_ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/range_scope.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/session/options.h"
#include "preload/session/session.h"
#include "preload/session/table.h"

#define PUSHED_MOST 64u    /* of one thread: deeper ones are counted as lost */
#define STARTED_MOST 4096u /* of the process at one time */
#define SLOT_BITS 16u

struct open_range {
    uint64_t begin_ticks;
    const char *domain;
    uint32_t id; /* gmt_user_range.id; 0: the slot is free */
    uint32_t thread;
    uint16_t depth;
    uint8_t kind;
    bool written;
    bool scopes;                      /* has the name that the capture is scoped to */
    uint16_t next_free;               /* slot + 1 */
    struct gmt_range_payload payload; /* that is not in the trace yet */
    char name[GMT_RANGE_NAME_BYTES];
};

struct pushed {
    unsigned count;
    unsigned scoping; /* of the ranges that are open: those with the name of the scope */
    unsigned too_deep;
    struct open_range open[PUSHED_MOST];
};

_Thread_local __attribute__((tls_model("initial-exec"))) unsigned gmt_user_ranges_unwritten;
static _Thread_local __attribute__((tls_model("initial-exec"))) struct pushed *pushed;
static _Thread_local __attribute__((tls_model("initial-exec"))) bool no_memory;

_Atomic bool gmt_user_ranges_scoped;
static char scope[2 * GMT_RANGE_NAME_BYTES];
static _Atomic unsigned scoping;        /* open ranges of the process with the name of the scope */
static _Atomic unsigned threads_inside; /* of a pushed range with that name */
static _Atomic bool said_threads;       /* another one made calls meanwhile: it is in the trace */
static _Atomic uint32_t last_id;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_exit_key;

static struct {
    struct gmt_mutex mutex;
    gmt_table_pointer slots; /* struct open_range [STARTED_MOST] */
    unsigned used;           /* slots that were ever in use: only these pages are touched */
    uint16_t free;           /* slot + 1 of the one that was given back last */
} started = {.mutex = GMT_MUTEX(USER_RANGES)};

/* One that is or was in use: then the table is there. */
static struct open_range *started_slot(unsigned index)
{
    return (struct open_range *)gmt_table(&started.slots) + index;
}

/* What a thread leaves open stays open in the trace. */
static void thread_exits(void *memory)
{
    atomic_fetch_sub(&threads_inside, ((struct pushed *)memory)->scoping > 0);
    pushed = NULL;
    gmt_user_ranges_unwritten = 0;
    (void)munmap(memory, sizeof(struct pushed));
}

/* What is open stays open, and none of it is in the trace of the child. */
void gmt_user_ranges_forked(void)
{
    gmt_mutex_renew(&started.mutex);
    started.free = 0; /* another thread may have been changing the list */
    for (unsigned i = 0; i < started.used; i++) {
        struct open_range *range = started_slot(i);
        range->written = false;
        range->thread = 0;
        if (range->id == 0) {
            range->next_free = started.free;
            started.free = (uint16_t)(i + 1);
        }
    }
    for (unsigned i = 0; pushed != NULL && i < pushed->count; i++) {
        pushed->open[i].written = false;
    }
    gmt_user_ranges_unwritten = pushed != NULL ? pushed->count : 0;
    atomic_store(&threads_inside, pushed != NULL && pushed->scoping > 0);
    atomic_store(&said_threads, false);
}

static void init(void)
{
    const char *name = gmt_options_range();
    has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    (void)pthread_atfork(NULL, NULL, gmt_user_ranges_forked);
    if (name[0] != '\0') {
        (void)strncpy(scope, name, sizeof(scope) - 1);
        atomic_store(&gmt_user_ranges_scoped, true);
    }
}

void gmt_user_ranges_init(void)
{
    (void)pthread_once(&once, init);
}

/* NAME or NAME@DOMAIN. */
static bool has_scope_name(const char *domain, const char *name)
{
    if (!gmt_user_ranges_scoped) {
        return false;
    }
    size_t length = strlen(name);
    if (strncmp(scope, name, length) != 0) {
        return false;
    }
    return scope[length] == '\0' ||
           (domain != NULL && scope[length] == '@' && strcmp(scope + length + 1, domain) == 0);
}

static void fill(struct open_range *range, enum gmt_user_range_kind kind, const char *domain,
                 const char *name)
{
    size_t length = strnlen(name, sizeof(range->name) - 1);
    range->begin_ticks = gmt_clock_ticks();
    range->domain = domain;
    range->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    range->thread = 0;
    range->depth = 0;
    range->kind = (uint8_t)kind;
    range->written = false;
    range->payload = (struct gmt_range_payload){0};
    memcpy(range->name, name, length);
    range->name[length] = '\0';
    range->scopes = has_scope_name(domain, range->name);
}

/* One that is in the trace already needs its name no more. */
static void write_range(struct open_range *range, uint64_t end_ticks)
{
    char payload[GMT_RANGE_PAYLOAD_BYTES];
    const char *const texts[] = {range->written ? "" : range->name,
                                 range->written ? NULL : range->domain,
                                 gmt_range_payload_write(&range->payload, payload)};
    struct gmt_user_range record = {
        .begin_ticks = range->begin_ticks,
        .end_ticks = end_ticks,
        .id = range->id,
        .thread = range->thread,
        .depth = range->depth,
        .kind = range->kind,
    };
    (void)gmt_spool_side(GMT_REC_RANGE, &record, sizeof(record), texts, 3);
    range->written = true;
    range->payload = (struct gmt_range_payload){0};
}

/* ---- pushed ----------------------------------------------------------------------------------- */

static struct pushed *pushed_of_thread(void)
{
    if (pushed == NULL && !no_memory && has_exit_key) {
        int saved_errno = errno;
        void *memory = mmap(NULL, sizeof(struct pushed), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || pthread_setspecific(exit_key, memory) != 0) {
            no_memory = true;
            if (memory != MAP_FAILED) {
                (void)munmap(memory, sizeof(struct pushed));
            }
        } else {
            pushed = memory;
        }
        errno = saved_errno;
    }
    return pushed;
}

static bool is_recording(void)
{
    return atomic_load_explicit(&gmt_started, memory_order_acquire);
}

void gmt_user_ranges_push(const char *domain, const char *name,
                          const struct gmt_range_payload *payload)
{
    struct pushed *mine = pushed_of_thread();
    if (mine == NULL) {
        return;
    }
    if (mine->count == PUSHED_MOST) {
        mine->too_deep++;
        return;
    }
    struct open_range *range = &mine->open[mine->count];
    fill(range, GMT_RANGE_PUSH, domain, name);
    if (payload != NULL) {
        range->payload = *payload;
    }
    for (unsigned i = mine->count; i-- > 0 && range->depth == 0;) {
        if (mine->open[i].domain == domain) {
            range->depth = (uint16_t)(mine->open[i].depth + 1);
        }
    }
    mine->count++;
    if (range->scopes && mine->scoping++ == 0) {
        atomic_fetch_add(&threads_inside, 1);
    }
    gmt_user_ranges_unwritten++;
}

void gmt_user_ranges_write_open(void)
{
    struct pushed *mine = pushed;
    for (unsigned i = 0; mine != NULL && i < mine->count; i++) {
        if (!mine->open[i].written) {
            mine->open[i].thread = gmt_spool_thread_id();
            write_range(&mine->open[i], 0);
        }
    }
    gmt_user_ranges_unwritten = 0;
}

/* Each domain has a stack of its own; what is popped need not be what was pushed last. */
static void take_out(struct pushed *mine, unsigned index)
{
    mine->count--;
    if (mine->open[index].scopes && --mine->scoping == 0) {
        atomic_fetch_sub(&threads_inside, 1);
    }
    memmove(&mine->open[index], &mine->open[index + 1],
            (mine->count - index) * sizeof(mine->open[0]));
}

void gmt_user_ranges_pop(const char *domain, const struct gmt_range_payload *payload)
{
    struct pushed *mine = pushed;
    if (mine == NULL) {
        return;
    }
    if (mine->too_deep > 0) {
        mine->too_deep--;
        if (is_recording()) {
            gmt_spool_loss("range not recorded", "more than 64 open in one thread", 1);
        }
        return;
    }
    for (unsigned i = mine->count; i-- > 0;) {
        struct open_range *range = &mine->open[i];
        if (range->domain != domain) {
            continue;
        }
        gmt_user_ranges_unwritten -= !range->written;
        if (payload != NULL) {
            gmt_range_payload_add(&range->payload, payload);
        }
        if (is_recording()) {
            range->thread = gmt_spool_thread_id();
            write_range(range, gmt_clock_ticks());
        }
        take_out(mine, i);
        return;
    }
}

/* ---- of the process --------------------------------------------------------------------------- */

static struct open_range *free_slot(void)
{
    if (started.free != 0) {
        struct open_range *range = started_slot(started.free - 1u);
        started.free = range->next_free;
        return range;
    }
    bool room = started.used < STARTED_MOST &&
                gmt_table_need(&started.slots, STARTED_MOST * sizeof(struct open_range)) != NULL;
    return room ? started_slot(started.used++) : NULL;
}

uint64_t gmt_user_ranges_begin(enum gmt_user_range_kind kind, const char *domain, const char *name)
{
    uint64_t handle = 0;
    gmt_mutex_lock(&started.mutex);
    struct open_range *range = free_slot();
    if (range != NULL) {
        fill(range, kind, domain, name);
        scoping += range->scopes;
        handle = (uint64_t)range->id << SLOT_BITS | (uint64_t)(range - started_slot(0) + 1);
        if (is_recording()) {
            range->thread = gmt_spool_thread_id();
            write_range(range, 0);
        }
    }
    gmt_mutex_unlock(&started.mutex);
    if (range == NULL && is_recording()) {
        gmt_spool_loss("range not recorded", "more than 4096 started in the process", 1);
    }
    return handle;
}

void gmt_user_ranges_end(uint64_t handle)
{
    uint64_t slot = handle & ((UINT64_C(1) << SLOT_BITS) - 1);
    gmt_mutex_lock(&started.mutex);
    if (slot > 0 && slot <= started.used) {
        struct open_range *range = started_slot((unsigned)slot - 1);
        if (range->id != 0 && range->id == handle >> SLOT_BITS) {
            if (is_recording()) {
                write_range(range, gmt_clock_ticks());
            }
            scoping -= range->scopes;
            range->id = 0;
            range->next_free = started.free;
            started.free = (uint16_t)slot;
        }
    }
    gmt_mutex_unlock(&started.mutex);
}

void gmt_user_ranges_start(void)
{
    gmt_user_ranges_init();
    if (gmt_user_ranges_scoped) {
        char detail[sizeof(scope) + 128];
        (void)snprintf(detail, sizeof(detail), GMT_RANGE_SCOPE_BEFORE "%s" GMT_RANGE_SCOPE_AFTER,
                       scope);
        gmt_spool_capability(GMT_RANGE_SCOPE, GMT_CAP_OFF, 0, detail,
                             "leave GMTRACE_RANGE unset to record the whole run");
    }
    gmt_mutex_lock(&started.mutex);
    for (unsigned i = 0; i < started.used; i++) {
        if (started_slot(i)->id != 0 && !started_slot(i)->written) {
            write_range(started_slot(i), 0);
        }
    }
    gmt_mutex_unlock(&started.mutex);
}

void gmt_user_ranges_leave_out(void)
{
    if (atomic_load_explicit(&threads_inside, memory_order_relaxed) != 0 &&
        !atomic_exchange(&said_threads, true)) {
        gmt_spool_capability(GMT_RANGE_SCOPE_THREADS, GMT_CAP_OFF, 0,
                             "other threads made calls outside of the range while one was inside: "
                             "they are not recorded",
                             "");
    }
}

bool gmt_user_ranges_is_outside(void)
{
    return atomic_load_explicit(&scoping, memory_order_relaxed) == 0 &&
           (pushed == NULL || pushed->scoping == 0);
}
