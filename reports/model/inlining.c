/* SPDX-License-Identifier: Apache-2.0 */
/* Inline chains in words. */
#include "reports/model/inlining.h"

#include <inttypes.h>
#include <string.h>

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t bytes = strlen(end);

    return length >= bytes && memcmp(text + length - bytes, end, bytes) == 0;
}

/* Without what stands in brackets; names of operators keep theirs, and so does "(anonymous namespace)". */
static size_t strip(const char *name, char *to)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t used = 0, depth = 0;

    for (const char *at = name; *at != '\0'; at++) {
        bool named = ends_with(to, used, "operator") || ends_with(to, used, "operator<") ||
                     ends_with(to, used, "operator>") || ends_with(to, used, "operator-");

        if (depth == 0 && strncmp(at, anonymous, sizeof(anonymous) - 1) == 0) {
            memcpy(to + used, anonymous, sizeof(anonymous) - 1);
            used += sizeof(anonymous) - 1;
            at += sizeof(anonymous) - 2;
        } else if (depth == 0 && named && at[0] == '(' && at[1] == ')') {
            memcpy(to + used, "()", 2);
            used += 2;
            at++;
        } else if ((*at == '<' || *at == '(') && !(depth == 0 && named && *at == '<')) {
            depth++;
        } else if ((*at == '>' || *at == ')') && depth > 0) {
            depth--;
        } else if (depth == 0) {
            to[used++] = *at;
        }
    }
    if (ends_with(to, used, " const")) {
        used -= strlen(" const");
    }
    to[used] = '\0';
    return used;
}

const char *gmt_function_short(struct gmt_arena *arena, const char *name)
{
    char *text = gmt_arena_alloc(arena, strlen(name) + 1);

    if (text == NULL || strip(name, text) == 0) {
        return name;
    }
    /* Templates are demangled with the type that they return. */
    char *space = NULL;
    for (char *at = text; *at != '\0' && strncmp(at, "operator", 8) != 0; at++) {
        if (strncmp(at, "(anonymous namespace)", 21) == 0) {
            at += 20;
        } else if (*at == ' ') {
            space = at;
        }
    }
    return space != NULL && space[1] != '\0' ? space + 1 : text;
}

static const char *place_of(struct gmt_arena *arena, const struct gmt_inline_call *call, bool whole)
{
    const char *file = call->file != NULL ? call->file : "?", *slash = strrchr(file, '/');

    return gmt_arena_text(arena, "%s:%" PRId64, whole || slash == NULL ? file : slash + 1,
                          call->line);
}

const char *gmt_chain_words(struct gmt_arena *arena, const struct gmt_inline_chain *chain,
                            bool whole)
{
    const char *words = "";
    int64_t next = 1;

    for (size_t i = 0; i < chain->call_count; i++) {
        const struct gmt_inline_call *call = &chain->calls[i];
        const char *place = place_of(arena, call, whole);

        words = i == 0 ? "inlined" : gmt_arena_text(arena, "%s,", words);
        if (call->level > next) {
            words = gmt_arena_text(arena, "%s %" PRId64 " more,", words, call->level - next);
        }
        next = call->level + 1;
        words = call->function != NULL
                    ? gmt_arena_text(arena, "%s at %s (%s)", words,
                                     gmt_function_short(arena, call->function), place)
                    : gmt_arena_text(arena, "%s at %s", words, place);
    }
    return words;
}
