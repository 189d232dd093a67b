/* SPDX-License-Identifier: Apache-2.0 */
/* Text of traces in markdown: as itself, whatever it holds. */
#include "reports/text/markdown_parts.h"

#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"

/* Names of C++ can be of any length and are cut. */
enum { CELL_COLUMNS = 100, NAME_COLUMNS = 300, TEXT_COLUMNS = 600 };

/* Clean, and cut to so many characters; the caller frees. NULL: no memory. */
static char *cut(const char *text, size_t columns)
{
    char *clean = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&clean, &bytes);

    if (memory == NULL) {
        return NULL;
    }
    gmt_print_clean(memory, text, columns);
    if (fclose(memory) == 0) {
        return clean;
    }
    free(clean);
    return NULL;
}

/* Text of a trace as text: nothing in it becomes markup, a mention or a link. */
void gmt_markdown_plain(FILE *out, const char *text)
{
    char *clean = cut(text != NULL ? text : "–", TEXT_COLUMNS);

    for (const char *at = clean; at != NULL && *at != '\0'; at++) {
        switch (*at) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '@': fputs("&#64;", out); break;
        case '#': fputs("&#35;", out); break;
        case ':':
            /* "http://" is a link wherever it stands. */
            fputs(at[1] == '/' ? "&#58;" : ":", out);
            break;
        default:
            if (strchr("\\`*_{}[]|~$", *at) != NULL) {
                fputc('\\', out);
            }
            fputc(*at, out);
        }
    }
    free(clean);
}

static size_t longest_run(const char *text, char wanted)
{
    size_t longest = 0, run = 0;

    for (; *text != '\0'; text++) {
        run = *text == wanted ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void repeat(FILE *out, char what, size_t n)
{
    while (n-- > 0) {
        fputc(what, out);
    }
}

/*
 * A code span. A cell of a table ends at every bar without a backslash before it, also within a span;
 * two backslashes count as none.
 */
void gmt_markdown_span(FILE *out, const char *text, bool cell)
{
    char *clean = cut(text, cell ? CELL_COLUMNS : NAME_COLUMNS);
    size_t slashes = 0;

    if (clean == NULL) {
        return;
    }
    size_t ticks = longest_run(clean, '`') + 1;
    repeat(out, '`', ticks);
    /* Blanks keep ticks at the ends apart from the delimiters; both are dropped again. */
    fputs(ticks > 1 ? " " : "", out);
    for (const char *at = clean; *at != '\0'; at++) {
        if (cell && *at == '|' && slashes % 2 == 0) {
            fputc('\\', out);
        }
        fputc(*at, out);
        slashes = *at == '\\' ? slashes + 1 : 0;
    }
    fputs(ticks > 1 ? " " : "", out);
    repeat(out, '`', ticks);
    free(clean);
}

void gmt_markdown_fence(FILE *out, const char *language, const char *code)
{
    size_t ticks = longest_run(code, '`') + 1;

    ticks = ticks < 3 ? 3 : ticks;
    repeat(out, '`', ticks);
    fprintf(out, "%s\n", language);
    for (const char *line = code; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);

        if (copy != NULL) {
            gmt_print_clean(out, copy, 0);
        }
        free(copy);
        fputc('\n', out);
        line += length + (line[length] == '\n');
    }
    repeat(out, '`', ticks);
    fputs("\n\n", out);
}
