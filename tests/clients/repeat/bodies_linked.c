/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that count their blocks, follow pointers, or have variables of their own. */
#include "repeat/bodies.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 4, NODE_BYTES = 16, CELLS = 37 };

/* ---- the last block to finish adds up what all have left ---- */

/* A counter that resets itself, the total, and a word of nobody's; the data; a word of each block. */
size_t bytes_last_block(const struct block *block, unsigned pointer)
{
    size_t blocks = (size_t)block->grid[0] * block->grid[1] * block->grid[2];
    return pointer == 0 ? 12 : pointer == 1 ? bytes_words(block, 1) : blocks * 4;
}

void write_last_block(struct text *text, const struct block *block)
{
    text_add(text,
             "    setp.ne.u32 %%p1, %%r7, 0;\n    @%%p1 bra $L_end;\n"
             "    mov.u32 %%r10, %%r5;\n    mov.u32 %%r12, 0;\n"
             "$L_sum:\n    setp.ge.u32 %%p2, %%r10, %%r1;\n    @%%p2 bra $L_summed;\n"
             "    mad.wide.u32 %%rd10, %%r10, 4, %%rd2;\n    ld.global.u32 %%r11, [%%rd10];\n"
             "    mad.lo.u32 %%r11, %%r11, %%r2, 1;\n    st.global.u32 [%%rd10], %%r11;\n"
             "    add.u32 %%r12, %%r12, %%r11;\n    add.u32 %%r10, %%r10, %%r6;\n    bra $L_sum;\n"
             "$L_summed:\n    mad.wide.u32 %%rd11, %%r5, 4, %%rd3;\n"
             "    st.global.u32 [%%rd11], %%r12;\n    membar.gl;\n    sub.u32 %%r13, %%r6, 1;\n");
    text_add(text, block->variant % 2 == 0
                       ? "    atom.global.inc.u32 %%r14, [%%rd1], %%r13;\n" /* wraps around */
                       : "    atom.global.add.u32 %%r14, [%%rd1], 1;\n");
    text_add(text, "    setp.ne.u32 %%p3, %%r14, %%r13;\n    @%%p3 bra $L_end;\n    membar.gl;\n"
                   "    mov.u32 %%r10, 0;\n    ld.global.u32 %%r15, [%%rd1+4];\n"
                   "$L_add:\n    mad.wide.u32 %%rd12, %%r10, 4, %%rd3;\n"
                   "    ld.volatile.global.u32 %%r16, [%%rd12];\n"
                   "    mad.lo.u32 %%r15, %%r15, 5, %%r16;\n    add.u32 %%r10, %%r10, 1;\n"
                   "    setp.lt.u32 %%p4, %%r10, %%r6;\n    @%%p4 bra $L_add;\n"
                   "    st.global.u32 [%%rd1+4], %%r15;\n");
    if (block->variant % 2 != 0) {
        text_add(text, "    st.global.u32 [%%rd1], 0;\n");
    }
}

/* ---- rings of nodes: the head moves on by one, and the node that was left is changed ---- */

size_t bytes_list(const struct block *block, unsigned pointer)
{
    return (size_t)block->count * (pointer == 0 ? 8 : NODES * NODE_BYTES);
}

void fill_list(const struct block *block, unsigned pointer, unsigned char *bytes)
{
    for (size_t i = 0; i < block->count; i++) {
        for (size_t k = 0; k < (pointer == 0 ? 1 : NODES); k++) {
            /* In the order of memory in some lists, against it in others. */
            size_t next = pointer == 0 ? i % NODES : (k + (i % 2 != 0 ? 1 : NODES - 1)) % NODES;
            CUdeviceptr to = block->regions[1]->address + (i * NODES + next) * NODE_BYTES;
            memcpy(bytes + (pointer == 0 ? i * 8 : (i * NODES + k) * NODE_BYTES), &to, sizeof to);
        }
    }
}

void write_list(struct text *text, const struct block *block)
{
    (void)block;
    text_add(text,
             "    mad.wide.u32 %%rd10, %%r3, 8, %%rd1;\n    ld.global.u64 %%rd11, [%%rd10];\n"
             "    ld.global.u64 %%rd12, [%%rd11];\n    ld.global.u32 %%r10, [%%rd11+8];\n"
             "    ld.global.u32 %%r11, [%%rd11+12];\n    mad.lo.u32 %%r10, %%r10, %%r2, %%r11;\n"
             "    add.u32 %%r11, %%r11, 1;\n    st.global.u32 [%%rd11+8], %%r10;\n"
             "    st.global.u32 [%%rd11+12], %%r11;\n    st.global.u64 [%%rd10], %%rd12;\n");
}

/* ---- two buffers, and the pair of pointers to them, which the kernel itself swaps ---- */

size_t bytes_ping_pong(const struct block *block, unsigned pointer)
{
    return pointer == 0 ? 16 : bytes_words(block, pointer);
}

void fill_ping_pong(const struct block *block, unsigned pointer, unsigned char *bytes)
{
    for (unsigned i = 0; pointer == 0 && i < 2; i++) {
        memcpy(bytes + 8 * (size_t)i, &block->regions[i + 1]->address, 8);
    }
}

void write_ping_pong(struct text *text, const struct block *block)
{
    (void)block;
    text_add(text,
             "    ld.global.u64 %%rd11, [%%rd1];\n    ld.global.u64 %%rd12, [%%rd1+8];\n"
             "$L_each:\n    setp.ge.u32 %%p1, %%r3, %%r1;\n    @%%p1 bra $L_all;\n"
             "    mad.wide.u32 %%rd10, %%r3, 4, %%rd11;\n    ld.global.u32 %%r10, [%%rd10];\n"
             "    mad.lo.u32 %%r10, %%r10, %%r2, %%r3;\n"
             "    mad.wide.u32 %%rd13, %%r3, 4, %%rd12;\n    st.global.u32 [%%rd13], %%r10;\n"
             "    add.u32 %%r3, %%r3, %%r4;\n    bra $L_each;\n"
             "$L_all:\n    bar.sync 0;\n    setp.ne.u32 %%p2, %%r7, 0;\n    @%%p2 bra $L_end;\n"
             "    st.global.u64 [%%rd1], %%rd12;\n    st.global.u64 [%%rd1+8], %%rd11;\n");
}

/* ---- variables of the module, which the host knows nothing of (odd variants), or has given values ---- */

size_t bytes_module_counter(const struct block *block, unsigned pointer)
{
    return bytes_words(block, pointer);
}

static bool is_hidden(const struct block *block)
{
    return block->variant % 2 != 0;
}

void declare_module_counter(struct text *text, const struct block *block)
{
    const char *name = block->name;
    text_add(
        text,
        ".visible .global .align 8 .u64 %s_total = 5;\n.visible .global .align 4 .u32 %s_steps;\n"
        ".visible .global .align 4 .u32 %s_cells[%u] = {3, 1, 4, 1, 5};\n",
        name, name, name, CELLS);
    if (!is_hidden(block)) {
        return;
    }
    /* They are read by a kernel when all is over: one thread is enough. */
    text_add(text,
             ".visible .entry %s_read(.param .u64 to, .param .u32 count)\n{\n"
             "    .reg .pred %%p;\n    .reg .b32 %%r<3>;\n    .reg .b64 %%rd<6>;\n"
             "    ld.param.u64 %%rd1, [to];\n    ld.param.u32 %%r1, [count];\n"
             "    ld.global.u64 %%rd2, [%s_total];\n    st.global.u64 [%%rd1], %%rd2;\n"
             "    ld.global.u32 %%r2, [%s_steps];\n    st.global.u32 [%%rd1+8], %%r2;\n"
             "    mov.u64 %%rd3, %s_cells;\n"
             "$L_next:\n    sub.u32 %%r1, %%r1, 1;\n    mad.wide.u32 %%rd4, %%r1, 4, %%rd3;\n"
             "    mad.wide.u32 %%rd5, %%r1, 4, %%rd1;\n    ld.global.u32 %%r2, [%%rd4];\n"
             "    st.global.u32 [%%rd5+12], %%r2;\n    setp.ne.u32 %%p, %%r1, 0;\n"
             "    @%%p bra $L_next;\n    ret;\n}\n",
             name, name, name, name);
}

void write_module_counter(struct text *text, const struct block *block)
{
    const char *name = block->name;
    text_add(text,
             "    mad.wide.u32 %%rd10, %%r3, 4, %%rd1;\n    ld.global.u32 %%r10, [%%rd10];\n"
             "    cvt.u64.u32 %%rd11, %%r10;\n    atom.global.add.u64 %%rd12, [%s_total], %%rd11;\n"
             "    rem.u32 %%r11, %%r3, %u;\n    mov.u64 %%rd13, %s_cells;\n"
             "    mad.wide.u32 %%rd13, %%r11, 4, %%rd13;\n    red.global.add.u32 [%%rd13], %%r10;\n"
             "    mad.lo.u32 %%r10, %%r10, %%r2, 11;\n    st.global.u32 [%%rd10], %%r10;\n"
             "    setp.ne.u32 %%p2, %%r3, 0;\n    @%%p2 bra $L_counted;\n"
             "    ld.global.u32 %%r12, [%s_steps];\n    mad.lo.u32 %%r12, %%r12, 3, 1;\n"
             "    st.global.u32 [%s_steps], %%r12;\n$L_counted:\n",
             name, CELLS, name, name, name);
}

void begin_module_counter(struct block *block)
{
    static const char *const ends[] = {"total", "steps", "cells"};
    char name[sizeof block->name + 8];
    for (unsigned i = 0; !is_hidden(block) && i < 3; i++) {
        unsigned value = rng_below(&block->program->rng, 1000);
        (void)snprintf(name, sizeof name, "%s_%s", block->name, ends[i]);
        struct region *variable = memory_variable(block->program, 0, name);
        memory_upload(variable, &value, 0, sizeof value);
    }
}

void finish_module_counter(struct block *block)
{
    char name[sizeof block->name + 8];
    if (!is_hidden(block)) {
        return;
    }
    (void)snprintf(name, sizeof name, "%s_read", block->name);
    const struct region *to = memory_make_plain(block->program, 12 + CELLS * 4);
    launch_simple(block->program, launch_find(block->program, name), to->address, CELLS);
}
