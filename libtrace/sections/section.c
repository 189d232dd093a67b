/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the control page that say what threads are in (section.h). */
#include "libtrace/sections/section.h"

#include <assert.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/epoch.h"

/* A word: ms of CLOCK_MONOTONIC at the begin (36 bits, two years), the section (6), the thread's id (22: the kernel's most). */
#define TID_BITS 22u
#define SECTION_BITS 6u
#define TID_MASK ((UINT64_C(1) << TID_BITS) - 1)
#define SECTION_MASK ((UINT64_C(1) << SECTION_BITS) - 1)
#define NS_PER_MS UINT64_C(1000000)

static_assert(GMT_SECTION_COUNT <= SECTION_MASK + 1, "bits of a word");

static const char *const texts[GMT_SECTION_COUNT] = {
    NULL,
#define GMT_SECTION(id, text) text,
#include "libtrace/sections/sections.def"
#undef GMT_SECTION
};

/* Of this thread: 1 + its word, 0: it has none; its id; and of which spool both are, since a forked child has others. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint32_t word, tid, epoch;
} own = {.epoch = GMT_EPOCH_NEVER};

static struct gmt_control *own_control(void)
{
    struct gmt_control *control = gmt_spool_control();
    uint32_t epoch = gmt_epoch();
    if (control != NULL && own.epoch != epoch) {
        own.word = own.tid = 0;
        own.epoch = epoch;
    }
    return control;
}

static uint64_t word_of(enum gmt_section_id section)
{
    if (own.tid == 0) {
        own.tid = (uint32_t)syscall(SYS_gettid);
    }
    uint64_t ms = gmt_clock_monotonic_ns() / NS_PER_MS;
    return ms << (TID_BITS + SECTION_BITS) | (uint64_t)section << TID_BITS | (own.tid & TID_MASK);
}

uint64_t gmt_section_begin(enum gmt_section_id section)
{
    struct gmt_control *control = own_control();
    uint64_t before = 0;
    if (control == NULL) {
        return 0;
    }
    uint64_t word = word_of(section);
    if (own.word != 0) {
        before = __atomic_load_n(&control->sections[own.word - 1], __ATOMIC_RELAXED);
        __atomic_store_n(&control->sections[own.word - 1], word, __ATOMIC_RELAXED);
        return before;
    }
    /* Threads that are held leave room for who holds them: that is what is asked for. */
    uint32_t words = section == GMT_SECTION_HELD ? GMT_SECTION_WORDS - 2 : GMT_SECTION_WORDS;
    for (uint32_t at = 0; at < words; at++) {
        uint64_t none = 0;
        if (__atomic_load_n(&control->sections[at], __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&control->sections[at], &none, word, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            own.word = at + 1;
            break;
        }
    }
    return 0;
}

void gmt_section_end(uint64_t before)
{
    struct gmt_control *control = own_control();
    if (control != NULL && own.word != 0) {
        __atomic_store_n(&control->sections[own.word - 1], before, __ATOMIC_RELAXED);
        own.word = before != 0 ? own.word : 0;
    }
}

void gmt_section_forget(void)
{
    gmt_section_end(0);
}

bool gmt_section_see(const struct gmt_control *control, unsigned at, struct gmt_section_seen *seen)
{
    uint64_t word = __atomic_load_n(&control->sections[at], __ATOMIC_RELAXED);
    uint64_t section = word >> TID_BITS & SECTION_MASK;
    *seen = (struct gmt_section_seen){.text = NULL};
    if (section == GMT_SECTION_NONE || section >= GMT_SECTION_COUNT) {
        return false;
    }
    seen->text = texts[section];
    seen->tid = (uint32_t)(word & TID_MASK);
    seen->since_ns = (word >> (TID_BITS + SECTION_BITS)) * NS_PER_MS;
    return true;
}

bool gmt_section_is_long(const struct gmt_section_seen *seen, uint64_t now_ns)
{
    return now_ns > seen->since_ns && now_ns - seen->since_ns >= GMT_SECTION_LONG_NS;
}
