/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of the access patterns, as PTX: one of each kind per width. */
#include <stdio.h>
#include <stdlib.h>

#include "patterns.h"

/* How a width is spelled. */
struct spelling {
    unsigned width, registers;
    const char *type;      /* with the vector: "v4.u32" */
    const char *reg;       /* register type */
    const char *from, *to; /* operand lists of two sets of registers */
    const char *integer;   /* type of an atomic addition, NULL = none */
};
static const struct spelling spellings[] = {
    {1, 1, "u8", "b16", "%v0", "%w0", NULL},
    {2, 1, "u16", "b16", "%v0", "%w0", NULL},
    {4, 1, "u32", "b32", "%v0", "%w0", "u32"},
    {8, 1, "u64", "b64", "%v0", "%w0", "u64"},
    {16, 4, "v4.u32", "b32", "{%v0, %v1, %v2, %v3}", "{%w0, %w1, %w2, %w3}", NULL},
};

/* All kernels begin alike: %d1 buffer, %r2 own offset, %d5 buffer + offset, %p1 own bit of the mask. */
static void begin(FILE *out, enum access_kernel kernel, const struct spelling *s)
{
    fprintf(out,
            "\n.visible .entry %s_w%u(.param .u64 buffer, .param .align 4 .b8 table[128],\n"
            "    .param .u32 mask, .param .u32 never)\n"
            "{\n"
            "    .reg .pred %%p<4>;\n    .reg .b32 %%r<10>;\n    .reg .b64 %%d<10>;\n"
            "    .reg .%s %%v<4>;\n    .reg .%s %%w<4>;\n",
            access_kernel_names[kernel], s->width, s->reg, s->reg);
    if (kernel == ACCESS_MEMORY || kernel == ACCESS_ATOMIC || kernel == ACCESS_ASYNC) {
        fputs("    .shared .align 16 .b8 tile[20480];\n", out);
    }
    if (kernel == ACCESS_LOCAL) {
        fputs("    .local .align 16 .b8 own[1024];\n", out);
    }
    fputs("    ld.param.u64 %d1, [buffer];\n"
          "    cvta.to.global.u64 %d1, %d1;\n"
          "    mov.u32 %r1, %tid.x;\n"
          "    mov.b64 %d2, table;\n"
          "    mul.wide.u32 %d3, %r1, 4;\n"
          "    add.s64 %d2, %d2, %d3;\n"
          "    ld.param.u32 %r2, [%d2];\n"
          "    ld.param.u32 %r3, [mask];\n"
          "    shr.u32 %r4, %r3, %r1;\n"
          "    and.b32 %r4, %r4, 1;\n"
          "    setp.ne.u32 %p1, %r4, 0;\n"
          "    cvt.u64.u32 %d4, %r2;\n"
          "    add.s64 %d5, %d1, %d4;\n"
          "    ld.param.u32 %r7, [never];\n"
          "    setp.ne.u32 %p2, %r7, 0;\n",
          out);
    for (unsigned k = 0; k < s->registers; k++) {
        fprintf(out, "    mov.%s %%v%u, 0;\n    mov.%s %%w%u, 0;\n", s->reg, k, s->reg, k);
    }
}

static void memory_kernel(FILE *out, const struct spelling *s)
{
    begin(out, ACCESS_MEMORY, s);
    fprintf(out,
            "    mov.u32 %%r5, tile;\n"
            "    add.u32 %%r6, %%r5, %%r2;\n"
            "    @%%p1 ld.global.%s %s, [%%d5];\n"
            "    @%%p1 ld.shared.%s %s, [%%r6];\n"
            "    @%%p1 st.shared.%s [%%r6], %s;\n"
            "    @%%p1 st.global.%s [%%d5+%u], %s;\n"
            "    bar.sync 0;\n"
            "    @!%%p2 bra done;\n" /* always: so that the stores are not removed */
            "    ld.shared.%s %s, [%%r6+%u];\n"
            "    st.global.%s [%%d5+%u], %s;\n"
            "done:\n    ret;\n}\n",
            s->type, s->from, s->type, s->to, s->type, s->from, s->type, ACCESS_STORE_AT, s->to,
            s->type, s->to, s->width, s->type, ACCESS_STORE_AT, s->to);
}

static void atomic_kernel(FILE *out, const struct spelling *s)
{
    begin(out, ACCESS_ATOMIC, s);
    fprintf(out,
            "    mov.u32 %%r5, tile;\n"
            "    add.u32 %%r6, %%r5, %%r2;\n"
            "    cvt.%s.u32 %%v0, %%r1;\n" /* lanes add different values */
            "    @%%p1 atom.global.add.%s %%w0, [%%d5], %%v0;\n"
            "    @%%p1 red.global.add.%s [%%d5+%u], %%w0;\n"
            "    @%%p1 atom.shared.add.%s %%w0, [%%r6], %%v0;\n"
            "    @!%%p2 bra done;\n"
            "    st.global.%s [%%d5+%u], %%w0;\n"
            "done:\n    ret;\n}\n",
            s->integer, s->integer, s->integer, ACCESS_STORE_AT, s->integer, s->type,
            ACCESS_STORE_AT);
}

static void local_kernel(FILE *out, const struct spelling *s)
{
    begin(out, ACCESS_LOCAL, s);
    fprintf(out,
            "    mov.u64 %%d6, own;\n"
            "    add.s64 %%d6, %%d6, %%d4;\n"
            "    cvt.u64.u32 %%d7, %%r7;\n"
            "    add.s64 %%d7, %%d6, %%d7;\n" /* the same address, which compilers cannot know */
            "    @%%p1 st.local.%s [%%d6], %s;\n"
            "    @%%p1 ld.local.%s %s, [%%d7];\n"
            "    @!%%p2 bra done;\n"
            "    st.global.%s [%%d5+%u], %s;\n"
            "done:\n    ret;\n}\n",
            s->type, s->from, s->type, s->to, s->type, ACCESS_STORE_AT, s->to);
}

/* The table comes from global memory: as a parameter it would be a constant read itself. */
static void const_kernel(FILE *out, const struct spelling *s)
{
    fprintf(out,
            "\n.visible .entry const_w%u(.param .u64 buffer, .param .align 4 .b8 table[128],\n"
            "    .param .u32 mask, .param .u32 never)\n"
            "{\n"
            "    .reg .pred %%p<4>;\n    .reg .b32 %%r<10>;\n    .reg .b64 %%d<10>;\n"
            "    .reg .%s %%v<4>;\n"
            "    ld.param.u64 %%d1, [buffer];\n"
            "    cvta.to.global.u64 %%d1, %%d1;\n"
            "    mov.u32 %%r1, %%tid.x;\n"
            "    mul.wide.u32 %%d3, %%r1, 4;\n"
            "    add.s64 %%d5, %%d1, %%d3;\n"
            "    ld.global.u32 %%r2, [%%d5];\n"
            "    ld.param.u32 %%r3, [mask];\n"
            "    shr.u32 %%r4, %%r3, %%r1;\n"
            "    and.b32 %%r4, %%r4, 1;\n"
            "    setp.ne.u32 %%p1, %%r4, 0;\n"
            "    ld.param.u32 %%r7, [never];\n"
            "    setp.ne.u32 %%p2, %%r7, 0;\n"
            "    cvt.u64.u32 %%d4, %%r2;\n"
            "    mov.u64 %%d6, fixed;\n"
            "    add.s64 %%d6, %%d6, %%d4;\n",
            s->width, s->reg);
    for (unsigned k = 0; k < s->registers; k++) {
        fprintf(out, "    mov.%s %%v%u, 0;\n", s->reg, k);
    }
    fprintf(out,
            "    @%%p1 ld.const.%s %s, [%%d6];\n"
            "    @%%p2 st.global.%s [%%d1+%u], %s;\n"
            "    ret;\n}\n",
            s->type, s->from, s->type, ACCESS_STORE_AT, s->from);
}

static void async_kernel(FILE *out, const struct spelling *s)
{
    begin(out, ACCESS_ASYNC, s);
    fprintf(out,
            "    mov.u32 %%r5, tile;\n"
            "    add.u32 %%r6, %%r5, %%r2;\n"
            "    @%%p1 cp.async.%s.shared.global [%%r6], [%%d5], %u;\n"
            "    cp.async.commit_group;\n"
            "    cp.async.wait_group 0;\n"
            "    bar.sync 0;\n"
            "    @!%%p2 bra done;\n"
            "    ld.shared.%s %s, [%%r6];\n"
            "    st.global.%s [%%d5+%u], %s;\n"
            "done:\n    ret;\n}\n",
            s->width == 16 ? "cg" : "ca", s->width, s->type, s->to, s->type, ACCESS_STORE_AT,
            s->to);
}

char *access_ptx(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL) {
        return NULL;
    }
    fputs(".version 7.0\n.target sm_80\n.address_size 64\n.const .align 16 .b8 fixed[16384];\n",
          out);
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        memory_kernel(out, &spellings[i]);
        if (spellings[i].integer != NULL) {
            atomic_kernel(out, &spellings[i]);
        }
        local_kernel(out, &spellings[i]);
        if (spellings[i].width >= 4) {
            const_kernel(out, &spellings[i]);
            async_kernel(out, &spellings[i]);
        }
    }
    return fclose(out) == 0 ? text : (free(text), NULL);
}
