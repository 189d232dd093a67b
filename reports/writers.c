/* SPDX-License-Identifier: Apache-2.0 */
/* The table of writers. */
#include "reports/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libtrace/base/file.h"
#include "libtrace/base/memory_short.h"

static const struct {
    const struct gmt_writer *writer;
    const char *name, *ending;
} formats[] = {
#define GMT_FORMAT_ROW(name, ending) {&gmt_writer_##name, #name, ending},
    GMT_FORMATS(GMT_FORMAT_ROW, GMT_FORMAT_ROW, GMT_FORMAT_ROW)
#undef GMT_FORMAT_ROW
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct gmt_writer *gmt_writer_find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return formats[i].writer;
        }
    }
    return NULL;
}

const struct gmt_writer *gmt_writer_find_extension(const char *extension)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].ending, extension) == 0) {
            return formats[i].writer;
        }
    }
    return NULL;
}

bool gmt_writer_wants_color(int descriptor, enum gmt_color wish)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    if (wish != GMT_COLOR_AUTO) {
        return wish == GMT_COLOR_ALWAYS;
    }
    return isatty(descriptor) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

size_t gmt_writer_columns(int descriptor)
{
    struct winsize size;

    return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
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
