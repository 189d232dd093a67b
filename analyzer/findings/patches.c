/* SPDX-License-Identifier: Apache-2.0 */
/* Fixes that are mechanical (patches.h): a text is matched, and what does not match in full has no patch. */
#include "analyzer/findings/patches.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/trace/source_lines.h"
#include "reports/model/inlining.h"

enum { CONTEXT = 3, MOST_NAME = 64 };

static bool is_of_name(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Where the word stands by itself in the line; NULL: nowhere. */
static const char *find_word(const char *line, const char *word, size_t length)
{
    for (const char *at = strstr(line, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == line || !is_of_name(at[-1])) && !is_of_name(at[length])) {
            return at;
        }
    }
    return NULL;
}

/* ---- bank conflicts: the last dimension of the tile becomes one larger ------------------------- */

/* Types whose elements are as wide as what one lane accesses: one more of them shifts each row by a bank or two. */
static bool is_scalar(const char *type, size_t length)
{
    static const char *const types[] = {"float",  "int",     "unsigned", "unsigned int",
                                        "double", "int32_t", "uint32_t"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strlen(types[i]) == length && strncmp(types[i], type, length) == 0) {
            return true;
        }
    }
    return false;
}

/* "__shared__ float tile[32][32];" alone in its line: the name, and where its last dimension is. */
static bool parse_tile(const char *line, char name[static MOST_NAME], const char **open,
                       const char **close)
{
    static const char keyword[] = "__shared__";
    const char *at = skip_blanks(line);

    if (strncmp(at, keyword, sizeof(keyword) - 1) != 0) {
        return false;
    }
    const char *type = skip_blanks(at + sizeof(keyword) - 1), *bracket = strchr(type, '[');
    if (bracket == NULL || bracket == type) {
        return false;
    }
    const char *end = bracket;
    while (end > type && !is_of_name(end[-1])) {
        end--;
    }
    const char *begin = end;
    while (begin > type && is_of_name(begin[-1])) {
        begin--;
    }
    size_t length = (size_t)(end - begin), type_length = (size_t)(begin - type);
    while (type_length > 0 && type[type_length - 1] == ' ') {
        type_length--;
    }
    if (length == 0 || length >= MOST_NAME || !is_scalar(type, type_length)) {
        return false;
    }
    memcpy(name, begin, length);
    name[length] = '\0';
    size_t dimensions = 0;
    for (at = bracket; *at == '['; at = *close + 1, dimensions++) {
        *open = at;
        *close = strchr(at, ']');
        if (*close == NULL) {
            return false;
        }
    }
    at = skip_blanks(at);
    return dimensions == 2 && *at == ';' && *skip_blanks(at + 1) == '\0' &&
           memchr(*open, '+', (size_t)(*close - *open)) == NULL;
}

static void pad_tile(struct gmt_arena *arena, const struct gmt_source_text *text,
                     struct gmt_finding *f)
{
    const char *guilty = text->lines[f->place.line - 1];

    for (int64_t at = f->place.line - 1; at > 0; at--) {
        char name[MOST_NAME];
        const char *open, *close, *line = text->lines[at - 1];

        if (!parse_tile(line, name, &open, &close) ||
            find_word(guilty, name, strlen(name)) == NULL) {
            continue;
        }
        f->edit = (struct gmt_edit){.file = text->file, .line = at, .before = line};
        f->edit.after = gmt_arena_text(arena, "%.*s + 1%s", (int)(close - line), line, close);
        return;
    }
}

/* ---- spills: the kernel is allowed the registers of its block size ------------------------------ */

static void allow_registers(struct gmt_arena *arena, const struct gmt_source_text *text,
                            struct gmt_finding *f)
{
    static const char begins[] = "__global__ void __launch_bounds__(";
    const char *name = f->where.kernel != NULL ? gmt_function_short(arena, f->where.kernel) : "";
    size_t length = strlen(name);

    /* Only of spills, whose sketch says for how many threads. */
    if (f->sketch == NULL || strncmp(f->sketch, begins, sizeof(begins) - 1) != 0 || length == 0) {
        return;
    }
    size_t digits = strspn(f->sketch + sizeof(begins) - 1, "0123456789");
    for (int64_t at = f->place.line; at > 0; at--) {
        const char *line = text->lines[at - 1], *word = find_word(line, name, length);

        if (word == NULL || *skip_blanks(word + length) != '(' ||
            find_word(line, "__global__", 10) == NULL) {
            continue;
        }
        if (strstr(line, "__launch_bounds__") == NULL && digits > 0) {
            f->edit = (struct gmt_edit){.file = text->file, .line = at, .before = line};
            f->edit.after = gmt_arena_text(arena, "%.*s__launch_bounds__(%.*s) %s",
                                           (int)(word - line), line, (int)digits,
                                           f->sketch + sizeof(begins) - 1, word);
        }
        return;
    }
}

/* ---- copies that nothing reads: the statement goes ---------------------------------------------- */

/* One call and no more, with all its brackets closed: "cudaMemcpy(...);", "CHECK(cudaMemcpy(...));". */
static bool is_one_copy(const char *line)
{
    const char *at = skip_blanks(line);
    size_t name = 0;
    int depth = 0;

    while (is_of_name(at[name])) {
        name++;
    }
    if (name == 0 || at[name] != '(' || strstr(at, "cudaMemcpy") == NULL) {
        return false;
    }
    for (at += name; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0) {
            break;
        }
    }
    return *at == ')' && at[1] == ';' && *skip_blanks(at + 2) == '\0';
}

/* Does a statement begin in the line after this one? Not after "if (...)" or an unfinished expression. */
static bool ends_statement(const char *line)
{
    size_t length = strlen(line);

    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL) {
        length--;
    }
    return length == 0 || strchr(";{}", line[length - 1]) != NULL;
}

static void remove_copy(struct gmt_arena *arena, const struct gmt_source_text *text,
                        struct gmt_finding *f)
{
    const char *line = text->lines[f->place.line - 1];

    (void)arena;
    if (is_one_copy(line) && f->place.line > 1 && ends_statement(text->lines[f->place.line - 2])) {
        f->edit = (struct gmt_edit){.file = text->file, .line = f->place.line, .before = line};
    }
}

/* ---- all of them -------------------------------------------------------------------------------- */

static const struct {
    const char *rule;
    void (*edit)(struct gmt_arena *arena, const struct gmt_source_text *text,
                 struct gmt_finding *finding);
} rows[] = {
    {"GM107", remove_copy},
    {"GM306", allow_registers},
    {"GM401", pad_tile},
};

static const char *relative(const char *file, const char *folder)
{
    size_t length = folder != NULL ? strlen(folder) : 0;

    if (length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/') {
        return file + length + 1;
    }
    return file + strspn(file, "/");
}

/* One hunk, with lines around it. */
static const char *diff_of(struct gmt_arena *arena, const char *folder,
                           const struct gmt_source_text *text, const struct gmt_edit *edit)
{
    int64_t first = edit->line > CONTEXT ? edit->line - CONTEXT : 1;
    int64_t last = edit->line + CONTEXT;
    const char *file = relative(edit->file, folder), *lines = "";

    if ((uint64_t)last > text->line_count) {
        last = (int64_t)text->line_count;
    }
    for (int64_t at = first; at <= last; at++) {
        if (at != edit->line) {
            lines = gmt_arena_text(arena, "%s %s\n", lines, text->lines[at - 1]);
            continue;
        }
        lines = gmt_arena_text(arena, "%s-%s\n", lines, edit->before);
        if (edit->after != NULL) {
            lines = gmt_arena_text(arena, "%s+%s\n", lines, edit->after);
        }
    }
    return gmt_arena_text(
        arena, "--- a/%s\n+++ b/%s\n@@ -%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64 " @@\n%s",
        file, file, first, last - first + 1, first, last - first + (edit->after != NULL), lines);
}

void gmt_findings_patch(sqlite3 *db, struct gmt_arena *arena, const char *folder,
                        struct gmt_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct gmt_finding *f = &findings[i];

        for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
            if (strcmp(rows[k].rule, f->rule) != 0 || f->place.file == NULL || f->place.line <= 0) {
                continue;
            }
            struct gmt_source_text text = gmt_source_text_load(db, arena, f->place.file, false);
            if ((uint64_t)f->place.line <= text.line_count) {
                rows[k].edit(arena, &text, f);
            }
            if (f->edit.file != NULL) {
                f->patch = diff_of(arena, folder, &text, &f->edit);
            }
        }
    }
}
