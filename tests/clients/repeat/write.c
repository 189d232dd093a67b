/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX around what a kernel does: how it comes to its pointers, and the loop over its elements.
 *
 * A body finds: %rd1, %rd2, ... its pointers, %r1 the number of elements, %r2 an odd factor that differs between
 * launches, %r3 the thread's number in the grid (in the loop: the element), %r4 of how many, %r5 its block's
 * number, %r6 of how many, %r7 its number in the block, %r8 of how many. From %r10, %rd10 and %p1 on all is free.
 */
#include "repeat/repeat.h"

const char *const reach_names[REACHES] = {"argument", "structure", "table",
                                          "table2",   "variable",  "constant"};

void write_module_start(struct text *text, bool prints, bool allocates)
{
    text_add(text, ".version 7.0\n.target sm_75\n.address_size 64\n");
    if (prints) {
        text_add(text, ".extern .func (.param .b32 result) vprintf\n"
                       "(.param .b64 format, .param .b64 values);\n"
                       ".global .align 1 .b8 said[7] = {60, 37, 117, 62, 10, 0, 0};\n");
    }
    if (allocates) {
        text_add(text, ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n"
                       ".extern .func free (.param .b64 memory);\n");
    }
}

/* Prints "<value>\n". */
static void write_print(struct text *text, const char *value)
{
    text_add(text,
             "    .local .align 8 .b8 said_values[8];\n    .reg .b32 %%said;\n"
             "    .reg .b64 %%saying<5>;\n"
             "    mov.u64 %%saying1, said_values;\n    cvta.local.u64 %%saying2, %%saying1;\n"
             "    st.local.u32 [said_values], %s;\n    mov.u64 %%saying3, said;\n"
             "    cvta.global.u64 %%saying4, %%saying3;\n"
             "    { .param .b64 format; .param .b64 values; .param .b32 result;\n"
             "      st.param.b64 [format+0], %%saying4; st.param.b64 [values+0], %%saying2;\n"
             "      call.uni (result), vprintf, (format, values);\n"
             "      ld.param.b32 %%said, [result+0]; }\n",
             value);
}

static void write_say(struct text *text, const struct block *block)
{
    text_add(text, ".func %s_say(.param .b32 value)\n{\n    .reg .b32 %%value;\n", block->name);
    text_add(text, "    ld.param.b32 %%value, [value];\n");
    write_print(text, "%value");
    text_add(text, "    ret;\n}\n");
}

/* What hazards of the code do, in the first thread of the grid. */
static void write_way(struct text *text, const struct block *block, enum way way)
{
    text_add(text, "    setp.ne.u32 %%p1, %%r3, 0;\n    @%%p1 bra $L_went;\n");
    switch (way) {
    case WAY_PRINT: write_print(text, "%r2"); break;
    case WAY_PRINT_CALL:
        text_add(text,
                 "    { .param .b32 value; st.param.b32 [value+0], %%r2;\n"
                 "      call.uni %s_say, (value); }\n",
                 block->name);
        break;
    case WAY_MALLOC:
        text_add(text,
                 "    mov.u64 %%rd10, 24;\n"
                 "    { .param .b64 bytes; .param .b64 result; st.param.b64 [bytes+0], %%rd10;\n"
                 "      call.uni (result), malloc, (bytes); ld.param.b64 %%rd11, [result+0]; }\n"
                 "    { .param .b64 memory; st.param.b64 [memory+0], %%rd11;\n"
                 "      call.uni free, (memory); }\n");
        break;
    case WAY_SURFACE:
        text_add(text,
                 "    ld.global.u64 %%rd10, [%s_surface];\n    mov.u32 %%r10, 4;\n"
                 "    suld.b.1d.b32.trap {%%r11}, [%%rd10, {%%r10}];\n"
                 "    mad.lo.u32 %%r11, %%r11, %%r2, 1;\n"
                 "    sust.b.1d.b32.trap [%%rd10, {%%r10}], {%%r11};\n",
                 block->name);
        break;
    default: break;
    }
    text_add(text, "$L_went:\n");
}

static void write_parameters(struct text *text, const struct block *block)
{
    const char *name = block->name;
    text_add(text, ".visible .entry %s(", name);
    switch (block->reach) {
    case REACH_STRUCTURE:
        text_add(text, ".param .align 8 .b8 %s_s[%u])\n{\n", name, 8 + 8 * block->body->given);
        return;
    case REACH_ARGUMENT:
        for (unsigned i = 1; i <= block->body->given; i++) {
            text_add(text, ".param .u64 %s_%u, ", name, i);
        }
        break;
    case REACH_TABLE:
    case REACH_TABLE2: text_add(text, ".param .u64 %s_t, ", name); break;
    default: break;
    }
    text_add(text, ".param .u32 %s_n, .param .u32 %s_a)\n{\n", name, name);
}

static void write_pointer(struct text *text, const struct block *block, unsigned i)
{
    const char *name = block->name;
    switch (block->reach) {
    case REACH_ARGUMENT: text_add(text, "    ld.param.u64 %%rd%u, [%s_%u];\n", i, name, i); break;
    case REACH_STRUCTURE:
        text_add(text, "    ld.param.u64 %%rd%u, [%s_s+%u];\n", i, name, 8 * i);
        break;
    case REACH_TABLE:
        text_add(text, "    ld.global.u64 %%rd%u, [%%rd9+%u];\n", i, 8 * i - 8);
        break;
    case REACH_TABLE2:
        text_add(text, "    ld.global.u64 %%rd8, [%%rd9+%u];\n    ld.global.u64 %%rd%u, [%%rd8];\n",
                 8 * i - 8, i);
        break;
    default:
        text_add(text, "    ld.%s.u64 %%rd%u, [%s_where+%u];\n",
                 block->reach == REACH_CONSTANT ? "const" : "global", i, name, 8 * i - 8);
        break;
    }
}

static void write_numbers(struct text *text, const struct block *block)
{
    if (block->reach == REACH_STRUCTURE) {
        text_add(text, "    ld.param.u32 %%r1, [%s_s];\n    ld.param.u32 %%r2, [%s_s+4];\n",
                 block->name, block->name);
    } else {
        text_add(text, "    ld.param.u32 %%r1, [%s_n];\n    ld.param.u32 %%r2, [%s_a];\n",
                 block->name, block->name);
    }
    if (block->reach == REACH_TABLE || block->reach == REACH_TABLE2) {
        text_add(text, "    ld.param.u64 %%rd9, [%s_t];\n", block->name);
    }
}

/* The thread's and the block's numbers, whatever the shape of the grid. */
static void write_places(struct text *text)
{
    static const struct {
        const char *index, *size, *number, *count;
    } levels[] = {{"ctaid", "nctaid", "%r5", "%r6"}, {"tid", "ntid", "%r7", "%r8"}};
    for (unsigned i = 0; i < 2; i++) {
        text_add(
            text,
            "    mov.u32 %%r10, %%%s.x;\n    mov.u32 %%r11, %%%s.y;\n    mov.u32 %%r12, %%%s.z;\n"
            "    mov.u32 %%r13, %%%s.x;\n    mov.u32 %%r14, %%%s.y;\n    mov.u32 %%r15, %%%s.z;\n",
            levels[i].index, levels[i].index, levels[i].index, levels[i].size, levels[i].size,
            levels[i].size);
        text_add(text,
                 "    mad.lo.u32 %s, %%r12, %%r14, %%r11;\n    mad.lo.u32 %s, %s, %%r13, %%r10;\n"
                 "    mul.lo.u32 %s, %%r13, %%r14;\n    mul.lo.u32 %s, %s, %%r15;\n",
                 levels[i].number, levels[i].number, levels[i].number, levels[i].count,
                 levels[i].count, levels[i].count);
    }
    text_add(text, "    mad.lo.u32 %%r3, %%r5, %%r8, %%r7;\n    mul.lo.u32 %%r4, %%r6, %%r8;\n");
}

void write_kernel(struct text *text, const struct block *block)
{
    enum way way = block->hazard != NULL ? block->hazard->way : WAY_PLAIN;
    if (block->reach == REACH_VARIABLE || block->reach == REACH_CONSTANT) {
        text_add(text, ".visible .%s .align 8 .u64 %s_where[%u];\n",
                 block->reach == REACH_CONSTANT ? "const" : "global", block->name,
                 block->body->given);
    }
    if (way == WAY_SURFACE) {
        text_add(text, ".visible .global .align 8 .u64 %s_surface;\n", block->name);
    }
    if (block->body->declare != NULL) {
        block->body->declare(text, block);
    }
    if (way == WAY_PRINT_CALL) {
        write_say(text, block);
    }
    write_parameters(text, block);
    text_add(text, "    .reg .pred %%p<8>;\n    .reg .b32 %%r<24>;\n    .reg .b64 %%rd<24>;\n");
    write_numbers(text, block);
    for (unsigned i = 1; i <= block->body->given; i++) {
        write_pointer(text, block, i);
    }
    write_places(text);
    if (way == WAY_PRINT || way == WAY_PRINT_CALL || way == WAY_MALLOC || way == WAY_SURFACE) {
        write_way(text, block, way);
    }
    if (!block->body->is_whole) {
        text_add(text, "$L_loop:\n    setp.ge.u32 %%p1, %%r3, %%r1;\n    @%%p1 bra $L_end;\n");
    }
    block->body->write(text, block);
    if (!block->body->is_whole) {
        text_add(text, "    add.u32 %%r3, %%r3, %%r4;\n    bra $L_loop;\n");
    }
    text_add(text, "$L_end:\n    ret;\n}\n");
}
