/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk. A step by a row of kind GMT_ROW_CFA is certain. One by the frame pointer, where nothing
 * else is known, is a guess: from there on an address counts only if it lies in code and follows a
 * call instruction.
 */
#include "preload/unwind/walk.h"

#include <stddef.h>

#include "preload/unwind/row.h"
#include "preload/unwind/rows.h"

/* struct rt_sigframe of x86-64 after its return address: offsets of saved registers. aarch64 has no rows of this kind:
 * there the kernel continues the chain of frame pointers. */
enum { SIGNAL_BP = 120, SIGNAL_SP = 160, SIGNAL_PC = 168 };

struct frame_state {
    uintptr_t pc, sp, bp; /* in the frame that `pc` lies in */
    uintptr_t bp_from; /* where bp was read, if that has not been noted; it matters once bp does */
    bool guessed, interrupted;
};

/* The whole stack is read, redzones of sanitizers among it. */
__attribute__((no_sanitize("address"), always_inline)) static inline uintptr_t word_at(uintptr_t at)
{
    return *(const uintptr_t *)at; // NOLINT(performance-no-int-to-ptr)
}

/* A return address without its signature, which aarch64's pointer authentication puts into its upper bits. */
static inline uintptr_t plain_address(uintptr_t word)
{
#if defined(__aarch64__)
    register uintptr_t address __asm__("x30") = word;
    __asm__("hint #7" : "+r"(address)); /* xpaclri; nothing where the processor has none */
    return address;
#else
    return word;
#endif
}

/* Is there a word of the stack at `at`, not below the present frame? */
static inline bool is_on_stack(const struct gmt_walk *walk, const struct frame_state *position,
                               uintptr_t at)
{
    return at >= position->sp && at < walk->high && walk->high - at >= sizeof(uintptr_t) &&
           (at & 7) == 0;
}

/* Read a word that the rest of the walk depends on. */
static inline uintptr_t take_word(struct gmt_walk *walk, uintptr_t at)
{
    uintptr_t value = word_at(at);
    if (__builtin_expect(walk->words < GMT_WALK_WORDS, 1)) {
        walk->word[walk->words].address = at;
        walk->word[walk->words].value = value;
        walk->words++;
    } else {
        walk->words = GMT_WALK_WORDS + 1;
    }
    return value;
}

static inline uintptr_t use_bp(struct gmt_walk *walk, struct frame_state *position)
{
    if (position->bp_from != 0) {
        (void)take_word(walk, position->bp_from);
        position->bp_from = 0;
    }
    return position->bp;
}

static inline bool step_by_cfa(struct gmt_walk *walk, struct frame_state *position, uint64_t row)
{
    uintptr_t base = gmt_row_base(row) == GMT_BASE_SP ? position->sp : use_bp(walk, position);
    uintptr_t cfa = base + (uintptr_t)gmt_row_cfa_bytes(row);
    if (__builtin_expect(gmt_row_base(row) == GMT_BASE_AT_BP, 0)) {
        if (!is_on_stack(walk, position, cfa)) {
            return false;
        }
        cfa = take_word(walk, cfa);
    }
    if (!is_on_stack(walk, position, cfa - 8)) {
        return false;
    }
    if (gmt_row_bp(row) != GMT_BP_SAME) {
        uintptr_t base_of_bp = gmt_row_bp(row) == GMT_BP_AT_BP ? use_bp(walk, position) : cfa;
        uintptr_t at = base_of_bp + (uintptr_t)gmt_row_bp_bytes(row);
        bool known = gmt_row_bp(row) != GMT_BP_UNKNOWN && is_on_stack(walk, position, at);
        position->bp = known ? word_at(at) : 0;
        position->bp_from = known ? at : 0;
    }
    position->pc = take_word(walk, cfa - 8);
    position->sp = cfa;
    position->interrupted = false;
    return true;
}

static inline bool step_by_frame(struct gmt_walk *walk, struct frame_state *position)
{
    uintptr_t frame = use_bp(walk, position);
    if (!is_on_stack(walk, position, frame) || !is_on_stack(walk, position, frame + 8)) {
        return false;
    }
    position->bp = word_at(frame);
    position->bp_from = frame;
    position->pc = plain_address(take_word(walk, frame + 8));
    position->sp = frame + 16;
    position->guessed = true;
    position->interrupted = false;
    return true;
}

static inline bool step_by_signal(struct gmt_walk *walk, struct frame_state *position)
{
    uintptr_t saved = position->sp;
    if (!is_on_stack(walk, position, saved + SIGNAL_PC)) {
        return false;
    }
    uintptr_t sp = take_word(walk, saved + SIGNAL_SP);
    if (sp <= saved + SIGNAL_PC) {
        return false; /* interrupted on another stack */
    }
    position->bp = take_word(walk, saved + SIGNAL_BP);
    position->bp_from = 0;
    position->pc = take_word(walk, saved + SIGNAL_PC);
    position->sp = sp;
    position->interrupted = true;
    return true;
}

static inline bool step(struct gmt_walk *walk, struct frame_state *position, uint64_t row)
{
    if (__builtin_expect(gmt_row_kind(row) == GMT_ROW_CFA, 1)) {
        return step_by_cfa(walk, position, row);
    }
    return gmt_row_kind(row) == GMT_ROW_SIGNAL ? step_by_signal(walk, position)
                                               : step_by_frame(walk, position);
}

static inline uint64_t find_row(const struct gmt_walk *walk, const struct frame_state *position,
                                gmt_row_finder *find)
{
    uint64_t key = gmt_row_key(position->pc, position->interrupted, walk->mark);
    uint64_t row = gmt_rows_find(key);
    /* Generated code may have become other code: whoever may look, does. */
    if (find != NULL && (row == 0 || (row & GMT_ROW_GENERATED) != 0)) {
        row = find(position->pc, position->interrupted, key);
    }
    return row;
}

/* May an address that has this row be in the chain? */
static inline bool is_caller(const struct frame_state *position, uint64_t row)
{
    return gmt_row_kind(row) != GMT_ROW_NOT_CODE &&
           (!position->guessed || (row & GMT_ROW_SOUND) != 0);
}

/* Where the frame that `pc` lies in begins; it ends where the next one does. */
static inline void note_bottom(struct gmt_walk *walk, const struct frame_state *position,
                               gmt_row_finder *find)
{
    if (find != NULL && walk->bottom != NULL) {
        walk->bottom[walk->depth] = position->sp;
        walk->bottom[walk->depth + 1] = 0;
    }
}

__attribute__((always_inline)) static inline void walk_on(struct gmt_walk *walk,
                                                          gmt_row_finder *find)
{
    uintptr_t frame = (uintptr_t)walk->frame;
    struct frame_state position = {.bp = word_at(frame),
                                   .bp_from = frame,
                                   .pc = plain_address(word_at(frame + 8)),
                                   .sp = frame + 16};
    walk->depth = 0;
    walk->words = 0;
    walk->end = GMT_WALK_LOST;
    if (frame < walk->low || position.sp >= walk->high) {
        walk->address[walk->depth++] = position.pc; /* a stack of the program's own making */
        return;
    }
    do {
        uint64_t row = find_row(walk, &position, find);
        if (__builtin_expect(row == 0, 0)) {
            walk->end = GMT_WALK_MISSED;
            return;
        }
        /* The first one is where the hook returns to, whatever lies there. */
        if (walk->depth != 0 && !is_caller(&position, row)) {
            return;
        }
        note_bottom(walk, &position, find);
        if (walk->depth == GMT_STACK_FRAMES) {
            walk->end = GMT_WALK_CUT;
            return;
        }
        walk->address[walk->depth++] = position.pc;
        if (gmt_row_kind(row) == GMT_ROW_END || gmt_row_kind(row) == GMT_ROW_NOT_CODE) {
            walk->end = gmt_row_kind(row) == GMT_ROW_END ? GMT_WALK_COMPLETE : GMT_WALK_LOST;
            return;
        }
        if (!step(walk, &position, row)) {
            return;
        }
    } while (position.pc != 0);
    walk->end = GMT_WALK_COMPLETE;
}

void gmt_walk_known(struct gmt_walk *walk)
{
    walk_on(walk, NULL);
}

void gmt_walk_finding(struct gmt_walk *walk, gmt_row_finder *find)
{
    walk_on(walk, find);
}
