/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the html report: escaping, numbers and bars. */
#include "reports/html_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/format.h"

static void escape(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fputc(*text, out); break;
        }
    }
}

void gmt_html_text(FILE *out, const char *text)
{
    char *clean = text != NULL ? gmt_clean_copy(text) : NULL;

    if (clean != NULL)
        escape(out, clean);
    free(clean);
}

void gmt_html_code(FILE *out, const char *code)
{
    while (*code != '\0') {
        size_t length = strcspn(code, "\n");
        char line[512];

        snprintf(line, sizeof(line), "%.*s", (int)length, code);
        gmt_html_text(out, line);
        code += length;
        if (*code == '\n') {
            fputc('\n', out);
            code++;
        }
    }
}

void gmt_html_element(FILE *out, const char *tag, const char *class, const char *text)
{
    fprintf(out, "<%s class=\"%s\">", tag, class);
    gmt_html_text(out, text);
    fprintf(out, "</%s>", tag);
}

void gmt_html_bar(FILE *out, double share, const char *class, const char *label)
{
    double width = isfinite(share) ? 100 * fmin(1, fmax(0, share)) : 0;

    fprintf(out,
            "<svg class=\"bar %s\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\"><rect class=\"back\" width=\"100\" height=\"6\" rx=\"1\"/>"
            "<rect class=\"fill\" width=\"%.2f\" height=\"6\" rx=\"1\"/></svg>",
            class, label, width);
}

void gmt_html_number(FILE *out, const char *text)
{
    gmt_html_element(out, "td", "n", text);
}
