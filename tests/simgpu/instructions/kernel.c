/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text of the kernel that applies a form to its inputs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vectors.h"

struct text {
    char *at;
    size_t left;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= text->left) {
        text->full = true;
        return;
    }
    text->at += length;
    text->left -= (size_t)length;
}

static unsigned letter_bits(char letter)
{
    if (strchr("heg", letter)) {
        return 16;
    }
    return strchr("ld", letter) ? 64 : 32;
}

static const char *letter_register(char letter)
{
    static const char *const names[] = {"b16", "b32", "b64"};
    return letter == 'p' ? "pred" : names[letter_bits(letter) / 32];
}

static void put_load(struct text *text, char letter, unsigned source)
{
    put(text, "ld.global.u64 %%x, [%%in + %u];\n", source * 8 * VECTOR_THREADS);
    if (letter == 'p') {
        put(text, "setp.ne.u64 %%s%u, %%x, 0;\n", source);
    } else if (letter_bits(letter) == 64) {
        put(text, "mov.b64 %%s%u, %%x;\n", source);
    } else {
        put(text, "cvt.u%u.u64 %%s%u, %%x;\n", letter_bits(letter), source);
    }
}

static void put_fill(struct text *text, char letter, unsigned target)
{
    unsigned bits = letter_bits(letter);
    if (letter == 'p') {
        put(text, "setp.eq.u32 %%d%u, 0, 0;\n", target);
    } else {
        put(text, "mov.b%u %%d%u, 0x%llx;\n", bits, target, VECTOR_TARGET_FILL >> (64 - bits));
    }
}

static void put_store(struct text *text, char letter, unsigned target, unsigned guarded)
{
    if (letter == 'p') {
        put(text, "selp.b64 %%x, 1, 0, %%d%u;\n", target);
    } else if (letter_bits(letter) == 64) {
        put(text, "mov.b64 %%x, %%d%u;\n", target);
    } else {
        put(text, "cvt.u64.u%u %%x, %%d%u;\n", letter_bits(letter), target);
    }
    put(text, "st.global.u64 [%%out + %u], %%x;\n",
        (guarded * VECTOR_MAX_TARGETS + target) * 8 * VECTOR_THREADS);
}

/* The form itself: $n are its operands, @ the guard, $m the lanes that take part. */
static void put_form(struct text *text, const struct form *form, bool guarded)
{
    unsigned targets = form_targets(form), operands = targets + form_sources(form);
    const char *guard = guarded ? "@%g " : "";
    if (!strchr(form->text, ' ')) {
        put(text, "%s%s", guard, form->text);
        for (unsigned i = 0; i < operands; i++) {
            put(text, "%s%%%c%u", i ? ", " : " ", i < targets ? 'd' : 's',
                i < targets ? i : i - targets);
        }
        put(text, ";\n");
        return;
    }
    if (!strchr(form->text, '@')) {
        put(text, "%s", guard);
    }
    for (const char *c = form->text; *c; c++) {
        unsigned number = (unsigned)(c[1] - '0');
        if (*c == '@') {
            put(text, "%s", guard);
        } else if (*c == '$' && c[1] == 'm') {
            put(text, "%%m"), c++;
        } else if (*c == '$') {
            put(text, "%%%c%u", number < targets ? 'd' : 's',
                number < targets ? number : number - targets),
                c++;
        } else {
            put(text, "%c", *c);
        }
    }
    put(text, "\n");
}

bool kernel_text(const struct form *form, char *buffer, size_t bytes)
{
    struct text text = {buffer, bytes, false};
    unsigned targets = form_targets(form), sources = form_sources(form);
    put(&text, ".version 8.6\n.target sm_90\n.address_size 64\n"
               ".visible .entry form(.param .u64 out, .param .u64 in)\n{\n"
               ".reg .pred %%g;\n.reg .b32 %%i, %%j, %%m;\n.reg .b64 %%out, %%in, %%x;\n");
    for (unsigned i = 0; i < targets; i++) {
        put(&text, ".reg .%s %%d%u;\n", letter_register(form->targets[i]), i);
    }
    for (unsigned i = 0; i < sources; i++) {
        put(&text, ".reg .%s %%s%u;\n", letter_register(form->sources[i]), i);
    }
    put(&text, "ld.param.u64 %%out, [out];\nld.param.u64 %%in, [in];\n"
               "mov.u32 %%i, %%tid.x;\nmov.u32 %%j, %%ctaid.x;\n"
               "mad.lo.u32 %%i, %%j, 128, %%i;\nmul.wide.u32 %%x, %%i, 8;\n"
               "add.u64 %%out, %%out, %%x;\nadd.u64 %%in, %%in, %%x;\n");
    put(&text, "ld.global.u64 %%x, [%%in + %u];\nsetp.ne.u64 %%g, %%x, 0;\n",
        VECTOR_MAX_SOURCES * 8 * VECTOR_THREADS);
    for (unsigned i = 0; i < sources; i++) {
        put_load(&text, form->sources[i], i);
    }
    for (unsigned guarded = 0; guarded < 2; guarded++) {
        if (guarded && form->judgement == JUDGE_PLAIN) {
            break;
        }
        for (unsigned i = 0; i < targets; i++) {
            put_fill(&text, form->targets[i], i);
        }
        if (guarded) {
            put(&text, "vote.sync.ballot.b32 %%m, %%g, 0xffffffff;\n");
        } else {
            put(&text, "mov.u32 %%m, 0xffffffff;\n");
        }
        put_form(&text, form, guarded);
        for (unsigned i = 0; i < targets; i++) {
            put_store(&text, form->targets[i], i, guarded);
        }
    }
    put(&text, "ret;\n}\n");
    return !text.full;
}
