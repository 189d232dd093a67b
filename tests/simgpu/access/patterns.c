/* SPDX-License-Identifier: Apache-2.0 */
/* The table of access patterns: shapes (lane -> element), masks, widths. */
#include "patterns.h"

#include <stdio.h>

#define ALL UINT32_MAX

/* A fixed sequence of numbers (xorshift32: G. Marsaglia, "Xorshift RNGs", 2003). */
static uint32_t next_number(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* SHAPE(name, element that lane `i` accesses) */
#define PLAIN_SHAPES(X) \
    X(unit, i) \
    X(stride2, 2 * i) \
    X(stride3, 3 * i) \
    X(stride4, 4 * i) \
    X(stride5, 5 * i) \
    X(stride8, 8 * i) \
    X(stride16, 16 * i) \
    X(stride32, 32 * i) \
    X(stride33, 33 * i) \
    X(offset1, i + 1) \
    X(offset4, i + 4) \
    X(offset7, i + 7) \
    X(offset8, i + 8) \
    X(reversed, 31 - i) \
    X(xor1, i ^ 1) \
    X(xor8, i ^ 8) \
    X(xor16, i ^ 16) \
    X(swizzle, i ^ (i >> 3)) \
    X(interleave2, i % 2 * 16 + i / 2) \
    X(interleave4, i % 4 * 8 + i / 4)
#define SHARING_SHAPES(X) \
    X(same, 0 * i) \
    X(same5, 0 * i + 5) \
    X(pairs, i / 2) \
    X(quads, i / 4) \
    X(eighths, i / 8) \
    X(halves, i / 16) \
    X(halves_far, i / 16 * 32) \
    X(mod2, i % 2) \
    X(mod4, i % 4) \
    X(mod8, i % 8) \
    X(mod16, i % 16) \
    X(mod16_stride2, i % 16 * 2) \
    X(mod8_stride32, i % 8 * 32) \
    X(pairs_apart2, i / 4 * 2 + i % 2) \
    X(pairs_apart4, i / 8 * 4 + i % 4) \
    X(pairs_apart8, i / 16 * 8 + i % 8) \
    X(pairs_stride2, i / 2 * 2) \
    X(pairs_stride16, i / 2 * 16) \
    X(pairs_stride32, i / 2 * 32) \
    X(pairs_but_one, i == 5 ? 40 : i / 2) \
    X(pairs_then_unit, i < 16 ? i / 2 : i) \
    X(apart2_then_pairs, i < 16 ? i / 4 * 2 + i % 2 : 8 + (i - 16) / 2) \
    X(quads_stride8, i / 4 * 8) \
    X(half_same, i < 16 ? i : 0) \
    X(half_strided, i < 16 ? i : 2 * i) \
    X(crossed, i / 4 * 2 + (i + 1) / 2 % 2) \
    X(mixed, i / 4 % 2 != 0 ? i / 4 * 2 + i % 2 : i / 2) \
    X(fours_apart, i / 8 * 2 + i % 2)
/* How lanes share one another's elements, which are then put anywhere by `scatter`. */
#define SCATTERED_SHAPES(X) \
    X(pairs_random_a, scatter(i / 2, 3)) \
    X(pairs_random_b, scatter(i / 2, 1234)) \
    X(pairs_random_c, scatter(i / 2, 900001)) \
    X(apart2_random_a, scatter(i / 4 * 2 + i % 2, 3)) \
    X(apart2_random_b, scatter(i / 4 * 2 + i % 2, 77)) \
    X(crossed_random, scatter(i / 4 * 2 + (i + 1) / 2 % 2, 1234)) \
    X(mixed_random, scatter(i / 4 % 2 != 0 ? i / 4 * 2 + i % 2 : i / 2, 42)) \
    X(quads_random, scatter(i / 4, 42))

static uint32_t scatter(uint32_t element, uint32_t seed)
{
    uint32_t state = seed + 7919 * (element + 1);

    for (int i = 0; i < 4; i++) {
        next_number(&state);
    }
    return state % 256;
}

#define DEFINE(name, element) \
    static uint32_t shape_##name(uint32_t i) \
    { \
        return (element); \
    }
PLAIN_SHAPES(DEFINE)
SHARING_SHAPES(DEFINE)
SCATTERED_SHAPES(DEFINE)
#undef DEFINE

struct shape {
    const char *name;
    uint32_t (*element)(uint32_t lane);
    uint32_t seed;     /* instead of `element`: lanes at random ... */
    uint32_t elements; /* ... among so many */
};

#define ROW(name, element) {#name, shape_##name, 0, 0},
static const struct shape shapes[] = {
    PLAIN_SHAPES(ROW) SHARING_SHAPES(ROW) SCATTERED_SHAPES(ROW){"random8_a", NULL, 17, 8},
    {"random8_b", NULL, 4711, 8},
    {"random32_a", NULL, 99, 32},
    {"random32_b", NULL, 12345, 32},
    {"random32_c", NULL, 777, 32},
    {"random128_a", NULL, 2024, 128},
    {"random128_b", NULL, 31, 128},
    {"random128_c", NULL, 8080, 128},
    {"random1024_a", NULL, 5, 1024},
    {"random1024_b", NULL, 65537, 1024},
    {"random1024_c", NULL, 271828, 1024},
};
#undef ROW
#define SHAPES (sizeof shapes / sizeof shapes[0])

static const struct {
    const char *name;
    uint32_t mask;
} masks[] = {{"all", ALL},
             {"low_half", 0x0000ffff},
             {"high_half", 0xffff0000},
             {"even", 0x55555555},
             {"odd", 0xaaaaaaaa},
             {"every_fourth", 0x11111111},
             {"alternating_bytes", 0x00ff00ff},
             {"first_lane", 1},
             {"last_lane", 0x80000000},
             {"but_lane5", ~(1u << 5)},
             {"scattered", 0x9a3c5e17},
             {"none", 0},
             {"odd_low", 0xffffaaaa},
             {"odd_high", 0xaaaaffff},
             {"even_low", 0xffff5555},
             {"odd_low_only", 0x0000aaaa},
             {"odd_high_only", 0xaaaa0000},
             {"random_a", 0x8d1f37e2},
             {"random_b", 0x36c9a5f1},
             {"random_c", 0xf7d3bbee},
             {"random_d", 0x12408421},
#define BUT(lane) {"but_lane" #lane, ~(UINT32_C(1) << (lane))},
             BUT(0) BUT(1) BUT(2) BUT(3) BUT(4) BUT(7) BUT(8) BUT(12) BUT(15) BUT(16) BUT(17)
                 BUT(22) BUT(30) BUT(31)
#undef BUT
};
#define COMMON_MASKS 12 /* the first ones */
#define MASKS (sizeof masks / sizeof masks[0])

const char *const access_kernel_names[ACCESS_KERNELS] = {"memory", "atomic", "local", "const",
                                                         "async"};

/* Which shapes go to which kernel with which widths; masks but the first are for `masked` shapes. */
static const struct {
    enum access_kernel kernel;
    uint32_t widths;        /* bit set, by log2 */
    const char *shapes[16]; /* NULL-terminated; none = all */
    const char *masked[8];
    size_t masks; /* how many of the table */
} plans[] = {
    {ACCESS_MEMORY, 0x1f, {NULL}, {NULL}, 1},
    {ACCESS_MEMORY, 0x1c, {""}, {"unit", "stride2", "random1024_a"}, COMMON_MASKS},
    {ACCESS_MEMORY,
     0x18,
     {""},
     {"pairs", "pairs_apart2", "crossed", "same", "pairs_random_a"},
     MASKS},
    {ACCESS_MEMORY, 0x04, {""}, {"pairs"}, COMMON_MASKS},
    {ACCESS_ATOMIC,
     0x0c,
     {"unit", "stride2", "stride32", "same", "pairs", "quads", "mod8", "halves", "random8_a",
      "random32_a", "random1024_a"},
     {"unit", "same"},
     COMMON_MASKS},
    {ACCESS_LOCAL,
     0x1f,
     {"unit", "same", "same5", "stride2", "mod2", "mod4", "mod8", "halves", "pairs", "reversed",
      "random8_a", "random8_b"},
     {"same", "mod4"},
     COMMON_MASKS},
    {ACCESS_CONST,
     0x1c,
     {"same", "unit", "stride2", "pairs", "quads", "halves", "mod2", "mod4", "mod16", "random8_a"},
     {"same", "pairs"},
     COMMON_MASKS},
    {ACCESS_ASYNC,
     0x1c,
     {"unit", "stride2", "stride8", "stride33", "offset1", "reversed", "same", "pairs", "mod16",
      "random32_a", "random1024_a"},
     {"unit"},
     COMMON_MASKS},
};

/* ---- the table -------------------------------------------------------------------------------- */

static int is_listed(const char *const *list, size_t room, const char *name)
{
    for (size_t i = 0; i < room && list[i] != NULL; i++) {
        const char *a = list[i], *b = name;
        while (*a != '\0' && *a == *b) {
            a++, b++;
        }
        if (*a == *b) {
            return 1;
        }
    }
    return 0;
}

static void add(struct access_pattern *pattern, enum access_kernel kernel, unsigned width,
                const struct shape *shape, size_t mask)
{
    uint32_t state = shape->seed;

    pattern->kernel = kernel;
    pattern->width = width;
    pattern->mask = masks[mask].mask;
    snprintf(pattern->name, sizeof pattern->name, "%s%s%s", shape->name, mask != 0 ? "/" : "",
             mask != 0 ? masks[mask].name : "");
    for (uint32_t i = 0; i < ACCESS_LANES; i++) {
        const uint32_t element = shape->element != NULL ? shape->element(i)
                                                        : next_number(&state) % shape->elements;
        pattern->offset[i] = element * width;
    }
}

size_t access_patterns(struct access_pattern *patterns)
{
    size_t count = 0;

    for (size_t p = 0; p < sizeof plans / sizeof plans[0]; p++) {
        for (unsigned log = 0; log < 5; log++) {
            for (size_t s = 0; s < SHAPES; s++) {
                for (size_t m = 0; m < plans[p].masks; m++) {
                    const int wanted = m == 0 ? plans[p].shapes[0] == NULL ||
                                                    is_listed(plans[p].shapes, 16, shapes[s].name)
                                              : is_listed(plans[p].masked, 8, shapes[s].name);
                    if ((plans[p].widths >> log & 1) != 0 && wanted &&
                        count < ACCESS_MAX_PATTERNS) {
                        add(&patterns[count++], plans[p].kernel, 1u << log, &shapes[s], m);
                    }
                }
            }
        }
    }
    return count;
}
