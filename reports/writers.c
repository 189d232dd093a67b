/* SPDX-License-Identifier: Apache-2.0 */
/* The table of writers. */
#include "reports/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/base/file.h"
#include "libtrace/base/memory_limit.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "reports/text/text.h"

static const struct gmt_writer *const writers[] = {&gmt_writer_text,     &gmt_writer_json,
                                                   &gmt_writer_html,     &gmt_writer_csv,
                                                   &gmt_writer_markdown, &gmt_writer_sarif};
enum { WRITERS = sizeof(writers) / sizeof(writers[0]) };

const struct gmt_writer *gmt_writer_find(const char *name)
{
    for (size_t i = 0; i < WRITERS; i++) {
        if (strcmp(writers[i]->name, name) == 0) {
            return writers[i];
        }
    }
    return NULL;
}

const struct gmt_writer *gmt_writer_find_extension(const char *extension)
{
    for (size_t i = 0; i < WRITERS; i++) {
        if (strcmp(writers[i]->extension, extension) == 0) {
            return writers[i];
        }
    }
    return NULL;
}

bool gmt_writer_wants_color(int descriptor)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(descriptor) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

int gmt_writer_write(const struct gmt_writer *writer, const struct gmt_report *report,
                     const struct gmt_writer_options *options, FILE *out)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EFBIG, EPIPE};

    errno = 0;
    int rc = writer->write(report, options, out);
    for (size_t i = 0; rc == -EIO && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (errno == reasons[i]) {
            rc = -errno;
        }
    }
    return rc == 0 && gmt_memory_short() ? -ENOMEM : rc;
}

struct report_file {
    const struct gmt_writer *writer;
    const struct gmt_report *report;
    const struct gmt_writer_options *options;
};

static int write_report(void *context, FILE *out)
{
    const struct report_file *file = context;

    return gmt_writer_write(file->writer, file->report, file->options, out);
}

int gmt_writer_write_file(const struct gmt_writer *writer, const struct gmt_report *report,
                          const struct gmt_writer_options *options, const char *path)
{
    struct report_file file = {writer, report, options};

    return gmt_file_write(path, write_report, &file);
}
