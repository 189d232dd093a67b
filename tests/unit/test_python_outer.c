/* SPDX-License-Identifier: Apache-2.0 */
/* Where outer Python functions are, in the memory of an interpreter that is made up, by the layout of each version. */
#include <criterion/criterion.h>
#include <string.h>

#include "preload/python/outer.h"

TestSuite(python_outer, .timeout = 60);

enum { WORDS = 2048, FRAME = 12, GENERATORS = 8, OWNER_GENERATOR = 1 };

/* A thread, its data stack in two chunks, and frames that lie elsewhere. */
static uint64_t thread[64], cframe[4], chunks[2][WORDS], aside[GENERATORS][16];
static struct gmt_python python;
static uint64_t *top, *innermost;
static unsigned used_chunks, used_aside;

static void set_word(void *at, unsigned offset, uint64_t value)
{
    memcpy((char *)at + offset, &value, sizeof(value));
}

static void set_chunk(unsigned which)
{
    uint64_t *chunk = chunks[which], *before = which == 0 ? NULL : chunks[which - 1];
    if (before != NULL) {
        before[2] = (uint64_t)(top - before) - 3;
    }
    chunk[0] = (uint64_t)(uintptr_t)before;
    chunk[1] = sizeof(chunks[0]);
    set_word(thread, python.layout.thread_chunk, (uint64_t)(uintptr_t)chunk);
    set_word(thread, python.layout.thread_chunk + 16u, (uint64_t)(uintptr_t)(chunk + WORDS));
    top = chunk + 3 + (which == 0);
    used_chunks = which + 1;
}

static void publish(void)
{
    bool has_cframe = python.layout.chain != GMT_PYTHON_SHIMS;
    set_word(thread, python.layout.thread_chunk + 8u, (uint64_t)(uintptr_t)top);
    set_word(thread, python.layout.thread_frame,
             (uint64_t)(uintptr_t)(has_cframe ? (void *)cframe : (void *)innermost));
    set_word(cframe, python.layout.cframe_frame, (uint64_t)(uintptr_t)innermost);
}

static void begin(const struct gmt_python_layout *layout)
{
    memset(thread, 0, sizeof(thread));
    memset(chunks, 0, sizeof(chunks));
    python.layout = *layout;
    innermost = NULL;
    used_aside = 0;
    set_chunk(0);
    publish();
}

static uint64_t *frame_at(uint64_t *frame, uint64_t code, uint64_t instruction, uint8_t owner)
{
    memset(frame, 0, FRAME * sizeof(*frame));
    set_word(frame, python.layout.frame_previous, (uint64_t)(uintptr_t)innermost);
    set_word(frame, python.layout.frame_code, code);
    set_word(frame, python.layout.frame_instruction, instruction);
    ((uint8_t *)frame)[python.layout.frame_owner] = owner;
    innermost = frame;
    return frame;
}

/* Function number `code` is called, and stands at an instruction: its frame is as large as its number says. */
static uint64_t *call(unsigned code, uint64_t instruction)
{
    uint64_t *frame = frame_at(top, 0x500000 + 0x1000 * code,
                               0x500000 + 0x1000 * code + instruction, 0);
    top += FRAME + code;
    publish();
    return frame;
}

static uint64_t *resume(uint64_t instruction, uint8_t owner)
{
    uint64_t *frame = frame_at(aside[used_aside++], 0x700000, 0x700000 + instruction, owner);
    publish();
    return frame;
}

static void leave(uint64_t *frame)
{
    uint64_t previous;
    memcpy(&previous, (char *)frame + python.layout.frame_previous, sizeof(previous));
    innermost = (uint64_t *)(uintptr_t)previous; // NOLINT(performance-no-int-to-ptr)
    top = frame;
    publish();
}

static void stand_at(uint64_t *frame, uint64_t instruction)
{
    set_word(frame, python.layout.frame_instruction, instruction);
}

static uint64_t hint = 1;

/* By the list that was made for the last functions, if it fits. */
static uint64_t outer_as_known(void)
{
    uint64_t known = gmt_python_outer_known(&python, (uintptr_t)thread, hint);
    return known != 0 ? known : gmt_python_outer_of(&python, (uintptr_t)thread, hint);
}

/* By a list made for another hint, by a new one, and by the one that is known then: all say the same. */
static uint64_t outer(void)
{
    uintptr_t at = (uintptr_t)thread;
    uint64_t found = gmt_python_outer_of(&python, at, 0);
    cr_expect_eq(gmt_python_outer_of(&python, at, ++hint), found, "a new list says something else");
    uint64_t known = gmt_python_outer_known(&python, at, hint);
    cr_expect_eq(known, used_chunks == 1 ? found : 0, "the list that is known");
    known = gmt_python_outer_known(&python, at, 0);
    cr_expect(known == 0 || known == found, "a list that was made for other functions");
    return found;
}

#define EACH_LAYOUT(name) \
    static void name##_with(void); \
    Test(python_outer, name) \
    { \
        unsigned count, tried = 0; \
        const struct gmt_python_layout *all = gmt_python_layouts(&count); \
        for (unsigned i = 0; i < count; i++) { \
            if (all[i].thread_chunk != 0) { \
                begin(&all[i]); \
                name##_with(); \
                tried++; \
            } \
        } \
        cr_expect_eq(tried, 4, "3.11 to 3.14"); \
    } \
    static void name##_with(void)

EACH_LAYOUT(says_where_each_function_is)
{
    uint64_t *frames[6], before;
    for (unsigned i = 0; i < 6; i++) {
        frames[i] = call(i, 8);
    }
    before = outer();
    cr_expect_neq(before, 0);
    cr_expect_eq(outer(), before);
    for (unsigned i = 0; i < 6; i++) {
        stand_at(frames[i], 0x500000 + 0x1000 * i + 12);
        cr_expect_neq(outer(), before, "function %u", i);
        stand_at(frames[i], 0x500000 + 0x1000 * i + 8);
    }
    cr_expect_eq(outer(), before);
}

EACH_LAYOUT(does_not_look_at_functions_that_have_returned)
{
    (void)call(1, 8);
    uint64_t *inner = call(2, 8), shallow = outer();
    uint64_t *innermost_one = call(3, 8), deep = outer();
    cr_expect_neq(deep, shallow);
    leave(innermost_one);
    cr_expect_eq(outer(), shallow);
    leave(inner);
    (void)call(4, 8); /* larger: what lay behind it lies elsewhere */
    (void)call(3, 8);
    cr_expect_neq(outer(), deep);
}

EACH_LAYOUT(looks_at_frames_where_they_are)
{
    uint64_t *first = call(3, 8);
    uint64_t *second = call(5, 8), before = outer();
    leave(second);
    leave(first);
    (void)call(5, 8); /* as many words in all, and the second one elsewhere */
    second = call(3, 8);
    uint64_t after = outer();
    cr_expect_neq(after, before);
    stand_at(second, 1);
    cr_expect_neq(outer(), after);
}

EACH_LAYOUT(looks_at_the_outermost_only)
{
    uint64_t *frames[40];
    for (unsigned i = 0; i < 40; i++) {
        frames[i] = call(i % 5, 8);
    }
    uint64_t before = outer();
    stand_at(frames[GMT_PYTHON_OUTER], 1);
    cr_expect_eq(outer(), before);
    stand_at(frames[GMT_PYTHON_OUTER - 1], 1);
    cr_expect_neq(outer(), before);
    before = outer();
    stand_at(frames[0], 1);
    cr_expect_neq(outer(), before);
}

EACH_LAYOUT(sees_generators)
{
    uint64_t *shim = NULL;
    (void)call(1, 8);
    if (python.layout.shim_owner != 0) {
        shim = resume(0, python.layout.shim_owner);
    }
    uint64_t *first = resume(8, OWNER_GENERATOR), inside = outer();
    if (shim != NULL) {
        stand_at(shim, 4);
        cr_expect_eq(outer(), inside, "it is no function of the program");
    }
    stand_at(first, 1);
    cr_expect_neq(outer(), inside, "it is the innermost");
    (void)call(2, 8);
    uint64_t *second = resume(8, OWNER_GENERATOR);
    (void)call(3, 8);
    uint64_t before = outer();
    stand_at(first, 2);
    cr_expect_neq(outer(), before, "it calls a function");
    stand_at(first, 1);
    cr_expect_eq(outer(), before);
    stand_at(second, 2);
    cr_expect_neq(outer(), before);
    stand_at(second, 0x700008);
    cr_expect_eq(outer(), before);
}

/* A function is called by another one and by generators of it, with the same frames in the chunk each time. */
EACH_LAYOUT(sees_generators_that_call_what_functions_called_before)
{
    uint64_t *outermost = call(1, 8);
    uint64_t *inner = call(2, 8), plain = outer(), seen[2];
    leave(inner);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t *generator = resume(8 + 4 * i, OWNER_GENERATOR);
        inner = call(2, 8);
        seen[i] = outer_as_known();
        cr_expect_eq(outer(), seen[i]);
        leave(inner);
        leave(generator);
        top = inner;
    }
    cr_expect_neq(seen[0], plain);
    cr_expect_neq(seen[1], plain);
    cr_expect_neq(seen[0], seen[1]);
    (void)call(2, 8);
    cr_expect_eq(outer_as_known(), plain, "by the list of the generator");
    stand_at(outermost, 1);
    cr_expect_neq(outer(), plain);
}

EACH_LAYOUT(looks_at_the_first_chunk_only)
{
    uint64_t *outermost = call(1, 8);
    (void)call(2, 8);
    set_chunk(1);
    uint64_t *inner = call(3, 8), before = outer();
    cr_expect_neq(before, 0);
    stand_at(inner, 1);
    cr_expect_eq(outer(), before);
    stand_at(outermost, 1);
    cr_expect_neq(outer(), before);
}

EACH_LAYOUT(says_nothing_of_what_cannot_be)
{
    uint64_t *frame = call(1, 8);
    cr_expect_neq(outer(), 0);
    set_word(frame, python.layout.frame_previous, (uint64_t)(uintptr_t)frame);
    cr_expect_eq(gmt_python_outer_of(&python, (uintptr_t)thread, 1000), 0, "a circle");
    set_word(frame, python.layout.frame_previous, 65536);
    cr_expect_eq(gmt_python_outer_of(&python, (uintptr_t)thread, 1001), 0, "memory that is none");
    begin(&python.layout);
    cr_expect_eq(outer(), 0, "no function");
    (void)call(1, 8);
    set_word(thread, python.layout.thread_chunk + 16u, 65536);
    cr_expect_eq(gmt_python_outer_of(&python, (uintptr_t)thread, 1002), 0, "another layout");
}

Test(python_outer, is_not_known_where_there_is_no_data_stack)
{
    unsigned count;
    const struct gmt_python_layout *all = gmt_python_layouts(&count);
    for (unsigned i = 0; i < count; i++) {
        python.layout = all[i];
        cr_expect_eq(all[i].thread_chunk == 0, all[i].minor < 11 || all[i].free_threaded);
        if (all[i].thread_chunk == 0) {
            cr_expect_eq(gmt_python_outer_of(&python, (uintptr_t)thread, 1), 0);
            cr_expect_eq(gmt_python_outer_known(&python, (uintptr_t)thread, 1), 0);
        }
    }
}
