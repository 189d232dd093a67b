/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of generated programs do: the table, and those that work on numbers alone. */
#include "repeat/bodies.h"

enum { COUNTERS = 4, BINS = 61, EXCHANGED = 3 };

size_t bytes_words(const struct block *block, unsigned pointer)
{
    (void)pointer;
    return (size_t)block->count * 4;
}

/* %rd10: the element's address. */
static void write_address(struct text *text, unsigned pointer, unsigned width)
{
    text_add(text, "    mad.wide.u32 %%rd10, %%r3, %u, %%rd%u;\n", width, pointer);
}

/* ---- x = a * x + i, for elements of 1, 2, 4 and 8 bytes ---- */

static unsigned width_of(const struct block *block)
{
    return 1u << block->variant % 4;
}

static size_t bytes_in_place(const struct block *block, unsigned pointer)
{
    (void)pointer;
    return (size_t)block->count * width_of(block);
}

static void write_in_place(struct text *text, const struct block *block)
{
    unsigned width = width_of(block), bits = 8 * width;
    write_address(text, 1, width);
    if (width == 8) {
        text_add(text, "    ld.global.u64 %%rd11, [%%rd10];\n    cvt.u64.u32 %%rd12, %%r2;\n"
                       "    mad.lo.u64 %%rd11, %%rd11, %%rd12, 12345678901;\n"
                       "    st.global.u64 [%%rd10], %%rd11;\n");
        return;
    }
    text_add(text,
             "    ld.global.u%u %%r10, [%%rd10];\n    mad.lo.u32 %%r10, %%r10, %%r2, %%r3;\n"
             "    st.global.u%u [%%rd10], %%r10;\n",
             bits, bits);
}

/* ---- out = a * in + i, and out += a * in ---- */

static void write_out_of_place(struct text *text, const struct block *block)
{
    (void)block;
    text_add(text, "    mad.wide.u32 %%rd11, %%r3, 4, %%rd2;\n    ld.global.u32 %%r10, [%%rd11];\n"
                   "    mad.lo.u32 %%r10, %%r10, %%r2, %%r3;\n");
    write_address(text, 1, 4);
    text_add(text, "    st.global.u32 [%%rd10], %%r10;\n");
}

static void write_accumulate(struct text *text, const struct block *block)
{
    (void)block;
    text_add(text,
             "    mad.wide.u32 %%rd11, %%r3, 4, %%rd2;\n    ld.global.u32 %%r10, [%%rd11];\n");
    write_address(text, 1, 4);
    text_add(text, "    ld.global.u32 %%r11, [%%rd10];\n"
                   "    mad.lo.u32 %%r11, %%r10, %%r2, %%r11;\n"
                   "    st.global.u32 [%%rd10], %%r11;\n");
}

/* ---- atomics whose order does not matter ---- */

static size_t bytes_counter(const struct block *block, unsigned pointer)
{
    return pointer == 0 ? COUNTERS * 8 + 4 : bytes_words(block, pointer);
}

static void write_counter(struct text *text, const struct block *block)
{
    (void)block;
    write_address(text, 2, 4);
    text_add(text, "    ld.global.u32 %%r10, [%%rd10];\n    and.b32 %%r11, %%r10, 3;\n"
                   "    mad.wide.u32 %%rd11, %%r11, 8, %%rd1;\n    cvt.u64.u32 %%rd12, %%r10;\n"
                   "    atom.global.add.u64 %%rd13, [%%rd11], %%rd12;\n"
                   "    mad.lo.u32 %%r12, %%r10, %%r2, %%r3;\n"
                   "    red.global.add.u32 [%%rd1+32], %%r12;\n");
}

static size_t bytes_histogram(const struct block *block, unsigned pointer)
{
    return pointer == 0 ? BINS * 4 : bytes_words(block, pointer);
}

static void write_histogram(struct text *text, const struct block *block)
{
    (void)block;
    write_address(text, 2, 4);
    text_add(text,
             "    ld.global.u32 %%r10, [%%rd10];\n    shr.u32 %%r11, %%r10, 5;\n"
             "    rem.u32 %%r11, %%r11, %u;\n    mad.wide.u32 %%rd11, %%r11, 4, %%rd1;\n"
             "    red.global.add.u32 [%%rd11], 1;\n    mad.lo.u32 %%r10, %%r10, %%r2, 7;\n"
             "    st.global.u32 [%%rd10], %%r10;\n",
             BINS);
}

/* A value goes in at one end of a row of cells, and what drops out at the other is mixed in again. */
static size_t bytes_exchange(const struct block *block, unsigned pointer)
{
    return EXCHANGED * bytes_words(block, pointer);
}

static void write_exchange(struct text *text, const struct block *block)
{
    (void)block;
    write_address(text, 1, 4);
    text_add(text, "    mov.u64 %%rd11, %%rd10;\n    add.u32 %%r10, %%r2, %%r3;\n");
    for (unsigned i = 0; i < EXCHANGED; i++) {
        text_add(text, "    atom.global.exch.b32 %%r10, [%%rd11], %%r10;\n"
                       "    mad.wide.u32 %%rd11, %%r1, 4, %%rd11;\n");
    }
    text_add(text, "    red.global.xor.b32 [%%rd10], %%r10;\n");
}

/* ---- states of random-number generators ---- */

static size_t bytes_lcg(const struct block *block, unsigned pointer)
{
    return bytes_words(block, pointer) * (pointer == 0 ? 2 : 1);
}

static void write_lcg(struct text *text, const struct block *block)
{
    write_address(text, 1, 8);
    text_add(text, "    mad.wide.u32 %%rd11, %%r3, 4, %%rd2;\n    ld.global.u64 %%rd12, [%%rd10];\n"
                   "    ld.global.u32 %%r10, [%%rd11];\n");
    for (unsigned i = 0; i <= block->variant % 3; i++) {
        text_add(text, "    mad.lo.u64 %%rd12, %%rd12, 6364136223846793005, 1442695040888963407;\n"
                       "    shr.u64 %%rd13, %%rd12, 33;\n    cvt.u32.u64 %%r11, %%rd13;\n"
                       "    mad.lo.u32 %%r10, %%r11, %%r2, %%r10;\n");
    }
    text_add(text, "    st.global.u64 [%%rd10], %%rd12;\n    st.global.u32 [%%rd11], %%r10;\n");
}

/* ---- flags that are taken, and given back by whoever took them ---- */

static void write_flags(struct text *text, const struct block *block)
{
    (void)block;
    write_address(text, 1, 4);
    text_add(text, "    mad.wide.u32 %%rd11, %%r3, 4, %%rd2;\n"
                   "    atom.global.cas.b32 %%r10, [%%rd11], 0, 1;\n"
                   "    ld.global.u32 %%r11, [%%rd10];\n    setp.ne.u32 %%p2, %%r10, 0;\n"
                   "    @%%p2 bra $L_taken;\n    mad.lo.u32 %%r11, %%r11, %%r2, 3;\n"
                   "    st.global.u32 [%%rd11], 0;\n    bra $L_given;\n"
                   "$L_taken:\n    xor.b32 %%r11, %%r11, 0x5a5a5a5a;\n"
                   "$L_given:\n    st.global.u32 [%%rd10], %%r11;\n");
}

#define WORDS(body, count, is_seen, uses_atomics) \
    { \
        .name = #body, .pointers = (count), .given = (count), .shows = (is_seen), \
        .has_atomics = (uses_atomics), .write = write_##body, .bytes = bytes_words \
    }
#define SIZED(body, count, uses_atomics) \
    { \
        .name = #body, .pointers = (count), .given = (count), .shows = true, \
        .has_atomics = (uses_atomics), .write = write_##body, .bytes = bytes_##body \
    }

const struct body bodies[] = {
    SIZED(in_place, 1, false),
    WORDS(out_of_place, 2, false, false),
    WORDS(accumulate, 2, true, false),
    SIZED(counter, 2, true),
    SIZED(histogram, 2, true),
    SIZED(exchange, 1, true),
    SIZED(lcg, 2, false),
    {.name = "flags",
     .pointers = 2,
     .given = 2,
     .shows = true,
     .has_atomics = true,
     .zeroed = 1u << 1,
     .write = write_flags,
     .bytes = bytes_words},
    {.name = "last_block",
     .pointers = 3,
     .given = 3,
     .shows = true,
     .has_atomics = true,
     .is_whole = true,
     .zeroed = 1u << 0,
     .write = write_last_block,
     .bytes = bytes_last_block},
    {.name = "list",
     .pointers = 2,
     .given = 1,
     .shows = true,
     .linked = 1u << 0 | 1u << 1,
     .write = write_list,
     .bytes = bytes_list,
     .fill = fill_list},
    {.name = "ping_pong",
     .pointers = 3,
     .given = 1,
     .shows = true,
     .is_whole = true,
     .is_single = true,
     .linked = 1u << 0,
     .write = write_ping_pong,
     .bytes = bytes_ping_pong,
     .fill = fill_ping_pong},
    {.name = "module_counter",
     .pointers = 1,
     .given = 1,
     .shows = true,
     .has_atomics = true,
     .declare = declare_module_counter,
     .write = write_module_counter,
     .bytes = bytes_module_counter,
     .begin = begin_module_counter,
     .finish = finish_module_counter},
};

unsigned body_count(void)
{
    return sizeof bodies / sizeof bodies[0];
}
