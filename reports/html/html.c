/* SPDX-License-Identifier: Apache-2.0 */
/* The page: the front end of reports/page with one report's title and payload in it. */
#include "reports/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/html/payload.h"
#include "template.h"

static void escape(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default: fputc(*text, out); break;
        }
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void write_title(FILE *out, const char *name)
{
    char *clean = gmt_clean_copy(name);

    if (clean != NULL) {
        escape(out, clean);
    }
    fputs(" – gmtrace", out);
    free(clean);
}

/* The template up to a marker; returns what follows it. CMake has seen that both are there. */
static const char *write_up_to(FILE *out, const char *text, const char *marker)
{
    const char *at = strstr(text, marker);

    if (at == NULL) {
        return NULL;
    }
    fwrite(text, 1, (size_t)(at - text), out);
    return at + strlen(marker);
}

int gmt_html_write(FILE *out, const char *name, const struct gmt_payload *page,
                   const struct gmt_report *report)
{
    const char *rest = write_up_to(out, (const char *)gmt_template, GMT_TEMPLATE_TITLE);

    if (rest != NULL) {
        write_title(out, name);
        rest = write_up_to(out, rest, GMT_TEMPLATE_PAYLOAD);
    }
    int rc = rest != NULL ? gmt_payload_write(page, report, out) : -EINVAL;
    if (rc == 0) {
        fputs(rest, out);
    }
    if (rc == 0 && ferror(out)) {
        rc = -EIO;
    }
    return rc;
}

static int write_html(const struct gmt_report *report, const struct gmt_writer_options *options,
                      FILE *out)
{
    static const struct gmt_payload empty = {0};
    const char *name = report->exe != NULL ? report->exe : report->trace_path;

    (void)options;
    return gmt_html_write(out, base_name(name), report->page != NULL ? report->page : &empty,
                          report);
}

const struct gmt_writer gmt_writer_html = {.name = "html", .write = write_html, .wants_page = true};
