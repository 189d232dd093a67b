/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over frames of many kinds, each compared with what libgcc's unwinder sees. */
#include <alloca.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unwind.h>

#include "preload/unwind/chains.h"
#include "preload/unwind/objects.h"
#include "preload/unwind/walk.h"
#include "unwind_shapes.h"

#define MORE_FRAMES 256

struct seen {
    uint32_t depth;
    uint64_t address[MORE_FRAMES];
};

static const char *shape_name;
static unsigned probes, deepest, recognitions;

static _Unwind_Reason_Code see(struct _Unwind_Context *context, void *argument)
{
    struct seen *seen = argument;
    if (seen->depth < MORE_FRAMES && _Unwind_GetIP(context) != 0) {
        seen->address[seen->depth++] = _Unwind_GetIP(context);
    }
    return _URC_NO_REASON;
}

static void bounds(struct gmt_walk *walk)
{
    pthread_attr_t attributes;
    void *base;
    size_t bytes;
    cr_assert_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
    cr_assert_eq(pthread_attr_getstack(&attributes, &base, &bytes), 0);
    pthread_attr_destroy(&attributes);
    walk->low = (uintptr_t)base;
    walk->high = (uintptr_t)base + bytes;
}

static void find_all(void *walk)
{
    gmt_walk_finding(walk, gmt_objects_row);
}

static void compare(const struct gmt_walk *walk, const struct seen *seen, const char *how)
{
    uint32_t wanted = seen->depth < GMT_STACK_FRAMES ? seen->depth : GMT_STACK_FRAMES;
    for (uint32_t i = 0; i < wanted && i < walk->depth; i++) {
        cr_assert_eq(walk->address[i], seen->address[i],
                     "%s (%s): frame %u is 0x%lx, libgcc says 0x%lx", shape_name, how, i,
                     (unsigned long)walk->address[i], (unsigned long)seen->address[i]);
    }
    cr_assert_eq(walk->depth, wanted, "%s (%s): %u frames, libgcc sees %u", shape_name, how,
                 walk->depth, wanted);
    cr_assert_eq(walk->end, seen->depth > GMT_STACK_FRAMES ? GMT_WALK_CUT : GMT_WALK_COMPLETE,
                 "%s (%s): ends with %d after %u frames", shape_name, how, (int)walk->end,
                 walk->depth);
}

/* A number that distinguishes the walked stack from others. */
static uint32_t number_of(const struct gmt_walk *walk)
{
    uint64_t hash = walk->depth;
    for (uint32_t i = 0; i < walk->depth; i++) {
        hash = (hash ^ walk->address[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (uint32_t)(hash >> 33) | 1;
}

/* What was walked before is recognized, and nothing else is taken for it. */
static void remember(const struct gmt_walk *walk, uint32_t recognized)
{
    uint32_t number = number_of(walk);
    cr_assert(recognized == 0 || recognized == number, "%s: taken for another stack", shape_name);
    gmt_chains_put(walk, number);
    if (walk->words <= GMT_WALK_WORDS) {
        cr_assert_eq(gmt_chains_find(walk), number, "%s: not recognized", shape_name);
    }
    recognitions += recognized != 0;
}

/* Walks from its caller on, as a hook does: once with the objects, once by the table alone. */
__attribute__((noinline)) static void probe(void)
{
    struct seen seen = {0};
    struct gmt_walk walk = {.frame = __builtin_frame_address(0), .mark = gmt_objects_mark()};
    bounds(&walk);
    uint32_t recognized = gmt_chains_find(&walk);
    _Unwind_Backtrace(see, &seen);
    /* libgcc's first frame is this function. */
    seen.depth--;
    for (uint32_t i = 0; i < seen.depth; i++) {
        seen.address[i] = seen.address[i + 1];
    }
    cr_assert(gmt_objects_hold(find_all, &walk));
    compare(&walk, &seen, "at first sight");
    walk.depth = 0;
    gmt_walk_known(&walk);
    compare(&walk, &seen, "by known rows");
    remember(&walk, recognized);
    probes++;
    deepest = seen.depth > deepest ? seen.depth : deepest;
}

static void run_shape(const char *how, const struct unwind_shape *shape)
{
    char name[128];
    (void)snprintf(name, sizeof(name), "%s, %s", shape->name, how);
    shape_name = name;
    unsigned before = probes;
    shape->run(probe);
    cr_assert_gt(probes, before, "%s: was never walked", name);
}

#ifdef __aarch64__
/* Walked by frame pointers, which say nothing of where a signal interrupted: such a walk ends there. */
static bool is_walked(const struct unwind_shape *shape)
{
    return strstr(shape->name, "signal") == NULL && strstr(shape->name, "fault") == NULL;
}
enum { SHAPES_AT_LEAST = 15 };
#define FRAMED unwind_shapes_framed
#else
static bool is_walked(const struct unwind_shape *shape)
{
    return shape->run != NULL;
}
enum { SHAPES_AT_LEAST = 17 };
#define FRAMED unwind_shapes_plain
#endif

static void run_all(const char *how, const struct unwind_shape *shapes)
{
    unsigned count = 0;
    for (int time = 0; time < 3; time++) {
        count = 0;
        for (const struct unwind_shape *shape = shapes; shape->name != NULL; shape++) {
            if (is_walked(shape)) {
                run_shape(how, shape);
                count++;
            }
        }
    }
    cr_assert_gt(recognitions, count, "few stacks were recognized: %u", recognitions);
    cr_assert_geq(count, SHAPES_AT_LEAST);
    cr_assert_gt(deepest, GMT_STACK_FRAMES, "no stack was deeper than is kept");
}

#define COMPILED(name, how, shapes) \
    Test(unwind, name) \
    { \
        run_all(how, shapes); \
    }
#ifdef __aarch64__ /* walked by frame pointers */
COMPILED(with_frame_pointers, "-O2 -fno-omit-frame-pointer", unwind_shapes_framed)
COMPILED(unoptimized, "-O0", unwind_shapes_unoptimized)
COMPILED(with_signed_addresses, "-mbranch-protection=standard", unwind_shapes_protected)
#endif
#ifdef __x86_64__
COMPILED(without_frame_pointers, "-O2 -fomit-frame-pointer", unwind_shapes_plain)
COMPILED(with_frame_pointers, "-O2 -fno-omit-frame-pointer", unwind_shapes_framed)
COMPILED(unoptimized, "-O0", unwind_shapes_unoptimized)
COMPILED(with_control_flow_protection, "-fcf-protection", unwind_shapes_protected)
#ifdef GMT_TEST_CLANG
COMPILED(by_clang, "clang -O2", unwind_shapes_clang)
#endif

Test(unwind, frames_by_hand_and_of_exceptions)
{
    static const struct unwind_shape shapes[] = {
        {"remembered state", unwind_asm_remember},
        {"large operands", unwind_asm_large},
        {"expressions", unwind_asm_escaped},
        {"a catch clause", unwind_in_catch},
        {"a destructor while an exception is thrown", unwind_in_destructor},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        run_shape("as written", &shapes[i]);
    }
}
#endif

static struct gmt_walk bounded;
__attribute__((noinline)) static void probe_bounds(void)
{
    struct gmt_walk whole = {.frame = __builtin_frame_address(0), .mark = gmt_objects_mark()};
    bounds(&whole);
    cr_assert(gmt_objects_hold(find_all, &whole));
    cr_assert_gt(whole.depth, 10);
    /* A stack that ends right above the probe's frame, or is somewhere else. */
    uintptr_t frame = (uintptr_t)whole.frame;
    const uintptr_t ends[][2] = {{whole.low, frame + 24},
                                 {whole.low, frame},
                                 {whole.low, frame + 8},
                                 {frame + 8, whole.high},
                                 {1, 0},
                                 {0, 0}};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        bounded = whole;
        bounded.low = ends[i][0];
        bounded.high = ends[i][1];
        cr_assert(gmt_objects_hold(find_all, &bounded));
        cr_assert_eq(bounded.depth, 1, "bounds %zu: %u frames", i, bounded.depth);
        cr_assert_eq(bounded.address[0], whole.address[0]);
        cr_assert_eq(bounded.end, GMT_WALK_LOST);
    }
    probes++;
}

Test(unwind, nothing_outside_of_the_stack)
{
    FRAMED[1].run(probe_bounds);
    cr_assert_eq(probes, 1);
}

/* ---- two ways to one call distinguished by the frame pointer alone ---------------------------------- */

static struct {
    const void *frame;
    uint32_t recognized, depth;
    uint64_t caller; /* of the function that both ways have in common */
} last;
static volatile size_t passes;

__attribute__((noinline)) static void probe_ways(void)
{
    struct gmt_walk walk = {.frame = __builtin_frame_address(0), .mark = gmt_objects_mark()};
    bounds(&walk);
    last.recognized = gmt_chains_find(&walk);
    cr_assert(gmt_objects_hold(find_all, &walk));
    last.frame = walk.frame;
    last.depth = walk.depth;
    last.caller = walk.address[1];
    gmt_chains_put(&walk, number_of(&walk));
}

/* Its frame is found by the frame pointer, as it takes memory of any size from the stack. */
__attribute__((noinline)) static void in_common(size_t bytes)
{
    char *volatile memory = alloca(bytes);
    (void)memory;
    probe_ways();
    passes++;
}

__attribute__((noinline)) static void one_way(size_t bytes)
{
    char *volatile memory = alloca(bytes);
    (void)memory;
    in_common(256 - bytes);
    passes++;
}

__attribute__((noinline)) static void other_way(size_t bytes)
{
    char *volatile memory = alloca(bytes);
    (void)memory;
    in_common(256 - bytes);
    passes += 2;
}

Test(unwind, a_frame_pointer_that_a_walk_uses_counts)
{
    void (*const ways[])(size_t) = {one_way, other_way, one_way};
    const size_t bytes[] = {64, 192, 64};
    const void *frame = NULL;
    uint64_t caller = 0;
    uint32_t recognized[3];
    for (size_t i = 0; i < 3; i++) {
        ways[i](bytes[i]);
        recognized[i] = last.recognized;
        cr_assert_gt(last.depth, 2);
        if (i == 1) {
            cr_assert_eq(last.frame, frame, "the two ways have frames of their own anyhow");
            cr_assert_neq(last.caller, caller);
        }
        frame = last.frame;
        caller = last.caller;
    }
    cr_assert_eq(recognized[0], 0);
    cr_assert_eq(recognized[1], 0, "taken for the other way");
    cr_assert_neq(recognized[2], 0, "not recognized");
}
