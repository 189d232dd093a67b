/* SPDX-License-Identifier: Apache-2.0 */
/* What fixes have in common (state.h). */
#include "preload/apply/state.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/driver/resolve.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct gmt_apply_driver gmt_apply_driver;
struct gmt_plan gmt_apply_plan;
bool gmt_apply_on[GMT_FIX_COUNT];
bool gmt_apply_watches;

/* 1 in the process that started; the kernel clears it in every child. */
static _Atomic uint32_t *alive;
static struct gmt_try_note *note;
static uint32_t process = GMT_TRY_PROCESSES;
static struct gmt_try_process uncounted; /* where nobody wants to know */

bool gmt_apply_is_forked(void)
{
    return atomic_load_explicit(alive, memory_order_relaxed) == 0;
}

/* ---- counts ------------------------------------------------------------------------------------- */

struct gmt_try_note *gmt_apply_note(void)
{
    return note;
}

uint32_t gmt_apply_process(void)
{
    return process;
}

static struct gmt_try_process *counts(void)
{
    return note != NULL && process < GMT_TRY_PROCESSES ? &note->process[process] : &uncounted;
}

static void add(uint64_t *to, uint64_t value)
{
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

void gmt_apply_count(enum gmt_fix fix, uint64_t bytes, uint64_t passed_bytes)
{
    struct gmt_fix_counts *of = &counts()->fixes[fix];
    add(&of->calls, 1);
    add(&of->bytes, bytes);
    add(&of->passed_bytes, passed_bytes);
}

void gmt_apply_refuse(enum gmt_fix fix, enum gmt_refusal reason, uint64_t bytes)
{
    struct gmt_fix_counts *of = &counts()->fixes[fix];
    add(&of->refused[reason], 1);
    add(&of->refused_bytes[reason], bytes);
}

void gmt_apply_note_unseen(uint32_t kind)
{
    (void)__atomic_fetch_or(&counts()->unseen, kind, __ATOMIC_RELAXED);
}

/* ---- the start ---------------------------------------------------------------------------------- */

bool gmt_apply_load_driver(void)
{
    bool whole = true;
    void *found;
#define GMT_APPLY_DRIVER(symbol, parameters) \
    found = gmt_real_symbol(#symbol); \
    memcpy(&gmt_apply_driver.symbol, &found, sizeof(found)); \
    whole = whole && found != NULL;
#define GMT_APPLY_OPTIONAL(symbol, parameters) \
    found = gmt_real_symbol(#symbol); \
    memcpy(&gmt_apply_driver.symbol, &found, sizeof(found));
#include "preload/apply/driver.def"
    return whole;
}

bool gmt_apply_begin_process(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        return false; /* a child could not be recognized */
    }
    alive = page;
    atomic_store(alive, 1);
    return true;
}

bool gmt_apply_join_run(void)
{
    note = gmt_try_note_open();
    if (note == NULL) {
        return false;
    }
    process = __atomic_fetch_add(&note->processes, 1, __ATOMIC_RELAXED);
    if (process < GMT_TRY_PROCESSES) {
        note->process[process].pid = getpid();
    }
    gmt_apply_watches = note->watch != 0;
    return true;
}

void gmt_apply_replace(enum gmt_hook_id id, void *function, void **before)
{
    if (gmt_hook_real[id] != NULL) {
        *before = gmt_hook_real[id];
        __atomic_store_n(&gmt_hook_real[id], function, __ATOMIC_RELEASE);
    }
}
