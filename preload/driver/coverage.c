/* SPDX-License-Identifier: Apache-2.0 */
/* What the process asked of the driver, and how often it called what has no hook. */
#include "preload/driver/coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/entry_points.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/jumps.h"

/* In jumps.S: a jump adds one where its pointer points to. */
extern const char gmt_jump_code[] __attribute__((visibility("hidden")));
extern __attribute__((visibility("hidden"))) uint64_t *gmt_jump_count[GMT_JUMPS];
extern __attribute__((visibility("hidden"))) void *gmt_jump_target[GMT_JUMPS];

/* Name -> entry, open addressing; 0 is free. At most half full. */
#define INDEX_SLOTS 2048u
static_assert(GMT_COVERAGE_ENTRIES <= INDEX_SLOTS / 2, "searches end at an empty slot, soon");
static uint16_t name_index[INDEX_SLOTS];

static struct gmt_coverage_file own; /* until recording begins, and where no file can be had */
static struct gmt_coverage_file *_Atomic table = &own;
static uint64_t own_faults[GMT_REGION_FAULT_COUNT];
static uint64_t *_Atomic faults = own_faults; /* as `table` */
static uint16_t jump_entry[GMT_JUMPS];
static _Atomic unsigned jumps;
/* No call of the loader may be made with it: a thread in there may be waiting for it. */
static struct gmt_mutex mutex = GMT_MUTEX(COVERAGE);

#define LOCK_WAIT_S \
    5 /* it is held for a microsecond; longer on a machine with other things to do */
static _Atomic bool given_up;

/* False: a thread that this process does not have holds it. It was forked in that moment, before there was
 * a handler to make the lock anew; then nothing is noted. */
static bool lock(void)
{
    struct timespec until;
    if (!given_up && gmt_mutex_try(&mutex)) {
        return true;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_WAIT_S;
    if (!given_up && gmt_mutex_lock_until(&mutex, &until)) {
        return true;
    }
    given_up = true;
    return false;
}

static unsigned slot_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++) {
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    }
    return (unsigned)(hash >> 40) % INDEX_SLOTS;
}

/* The entry of a name, made if there is none; NULL: no room. Caller holds `mutex`. */
static struct gmt_coverage_entry *entry_of(const char *name)
{
    unsigned at = slot_of(name);
    for (; name_index[at] != 0; at = (at + 1) % INDEX_SLOTS) {
        struct gmt_coverage_entry *entry = &table->entry[name_index[at] - 1];
        if (strcmp(entry->name, name) == 0) {
            return entry;
        }
    }
    uint32_t count = table->head.count;
    if (count == GMT_COVERAGE_ENTRIES || strlen(name) >= sizeof(own.entry[0].name)) {
        table->head.not_kept++;
        return NULL;
    }
    struct gmt_coverage_entry *entry = &table->entry[count];
    (void)snprintf(entry->name, sizeof(entry->name), "%s", name);
    __atomic_store_n(&table->head.count, count + 1, __ATOMIC_RELEASE);
    name_index[at] = (uint16_t)(count + 1);
    return entry;
}

/* Caller holds `mutex`. */
static struct gmt_coverage_entry *note(enum gmt_lookup_path via, const char *name, unsigned flags,
                                       int version)
{
    struct gmt_coverage_head *head = &table->head;
    head->requests[via]++;
    if (version > 0 && (uint32_t)version > head->highest_version) {
        head->highest_version = (uint32_t)version;
    }
    struct gmt_coverage_entry *entry = entry_of(name);
    if (entry != NULL) {
        entry->requests[via]++;
        entry->flags |= flags;
    }
    return entry;
}

void gmt_coverage_note(enum gmt_lookup_path via, const char *name, unsigned flags, int version)
{
    if (lock()) {
        (void)note(via, name, flags, version);
        gmt_mutex_unlock(&mutex);
    }
}

static void *jump_address(unsigned index)
{
    uintptr_t code = (uintptr_t)gmt_jump_code + ((uintptr_t)index << GMT_JUMP_SHIFT);
    void *address;
    memcpy(&address, &code, sizeof(address));
    return address;
}

/* The jump to `real`, made if there is none; GMT_JUMPS: none can be had. Caller holds `mutex`. */
static unsigned jump_to(struct gmt_coverage_entry *entry, void *real)
{
    unsigned count = jumps;
    unsigned i = 0;
    while (i < count && gmt_jump_target[i] != real) {
        i++;
    }
    if (i == count && count < GMT_JUMPS) {
        gmt_jump_target[i] = real;
        gmt_jump_count[i] = &entry->calls;
        jump_entry[i] = (uint16_t)(entry - table->entry);
        jumps = count + 1;
    }
    return i;
}

void *gmt_coverage_jump(enum gmt_lookup_path via, const char *name, void *real, int version)
{
    bool counts = gmt_entry_matters(gmt_entry_class(name));
    unsigned jump = GMT_JUMPS;
    if (!lock()) {
        return real;
    }
    struct gmt_coverage_entry *entry = note(via, name, 0, version);
    if (entry != NULL) {
        jump = counts ? jump_to(entry, real) : GMT_JUMPS;
        entry->flags |= jump < GMT_JUMPS ? GMT_COVERAGE_COUNTED : GMT_COVERAGE_REAL;
    }
    gmt_mutex_unlock(&mutex);
    return jump < GMT_JUMPS ? jump_address(jump) : real;
}

void gmt_coverage_count_fault(enum gmt_region_fault fault)
{
    __atomic_fetch_add(&faults[fault], 1, __ATOMIC_RELAXED);
}

void gmt_coverage_forget_faults(void)
{
    for (unsigned i = 0; i < GMT_REGION_FAULT_COUNT; i++) {
        __atomic_store_n(&own_faults[i], 0, __ATOMIC_RELAXED);
    }
}

/* Let the jumps count in `to`, where the entries are the same. Caller holds `mutex`. */
static void move_counters(struct gmt_coverage_file *to)
{
    for (unsigned i = 0; i < jumps; i++) {
        __atomic_store_n(&gmt_jump_count[i], &to->entry[jump_entry[i]].calls, __ATOMIC_RELEASE);
    }
}

/* What was counted before the file was mapped. Caller holds `mutex`. */
static void add_own_counts(void)
{
    for (unsigned i = 0; i < GMT_REGION_FAULT_COUNT && table != &own; i++) {
        uint64_t count = __atomic_exchange_n(&own_faults[i], 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(&table->head.region_faults[i], count, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < jumps && table != &own; i++) {
        uint64_t calls = __atomic_exchange_n(&own.entry[jump_entry[i]].calls, 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(&table->entry[jump_entry[i]].calls, calls, __ATOMIC_RELAXED);
    }
}

void gmt_coverage_start(void)
{
    void *mapping = NULL;
    int folder = gmt_spool_enter();
    int error = folder < 0 ? folder
                           : gmt_spool_file_create(folder, GMT_COVERAGE_FILE, GMT_COVERAGE_BYTES,
                                                   &mapping, NULL);
    if (error == 0 && !lock()) {
        munmap(mapping, GMT_COVERAGE_BYTES);
        (void)unlinkat(folder, GMT_COVERAGE_FILE, 0);
        error = -EDEADLK;
    }
    if (folder >= 0) {
        close(folder);
    }
    if (error != 0) {
        gmt_spool_capability("coverage", GMT_CAP_MISSING, -error,
                             "what the program asked of the driver could not be kept", "");
        return;
    }
    struct gmt_coverage_file *file = mapping;
    for (uint32_t i = 0; i < own.head.count; i++) {
        file->entry[i] = own.entry[i];
        file->entry[i].calls = 0;
    }
    file->head = own.head;
    file->head.version = GMT_COVERAGE_VERSION;
    __atomic_store_n(&file->head.magic, GMT_COVERAGE_MAGIC, __ATOMIC_RELEASE);
    table = file;
    faults = file->head.region_faults;
    move_counters(file);
    add_own_counts();
    gmt_mutex_unlock(&mutex);
}

bool gmt_coverage_called(void)
{
    bool called = false;
    for (unsigned i = 0; i < jumps && !called; i++) {
        called = __atomic_load_n(gmt_jump_count[i], __ATOMIC_RELAXED) != 0;
    }
    return called;
}

/* Where there is no file that has them. */
static void lose_faults(void)
{
#define GMT_REGION_FAULT_DETAIL(id, detail) detail,
    static const char *const details[] = {GMT_REGION_FAULTS(GMT_REGION_FAULT_DETAIL)};
#undef GMT_REGION_FAULT_DETAIL
    for (unsigned i = 0; i < GMT_REGION_FAULT_COUNT; i++) {
        uint64_t count = __atomic_exchange_n(&own_faults[i], 0, __ATOMIC_RELAXED);
        if (count != 0) {
            gmt_spool_loss(GMT_REGION_FAULT_LOSS, details[i], count);
        }
    }
}

void gmt_coverage_finish(void)
{
    if (!lock()) {
        return;
    }
    add_own_counts(); /* of a thread that was about to count while the file came */
    unsigned count = table == &own ? jumps : 0;
    gmt_mutex_unlock(&mutex);
    lose_faults();
    for (unsigned i = 0; i < count; i++) {
        struct gmt_coverage_entry *entry = &own.entry[jump_entry[i]];
        uint64_t calls = __atomic_exchange_n(&entry->calls, 0, __ATOMIC_RELAXED);
        if (calls != 0) {
            gmt_spool_loss("entry point not covered", entry->name, calls);
        }
    }
}

void gmt_coverage_reset(void)
{
    gmt_mutex_renew(&mutex);
    given_up = false;
    struct gmt_coverage_file *parents = table;
    uint32_t count = parents->head.count;
    if (parents != &own) {
        own.head = parents->head;
        own.head.count = count; /* the parent may be adding one */
        memcpy(own.entry, parents->entry, count * sizeof(own.entry[0]));
        table = &own;
        faults = own_faults;
        move_counters(&own);
        munmap(parents, GMT_COVERAGE_BYTES);
    }
    for (uint32_t i = 0; i < count; i++) {
        own.entry[i].calls = 0;
    }
    /* The parent's file had them. */
    memset(own.head.region_faults, 0, sizeof(own.head.region_faults));
    gmt_coverage_forget_faults();
}
