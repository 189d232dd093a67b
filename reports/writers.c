/* SPDX-License-Identifier: Apache-2.0 */
/* The table of writers, and writing a whole file or none. */
#include "reports/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct gmt_writer *const writers[] = {&gmt_writer_text,     &gmt_writer_json,
                                                   &gmt_writer_html,     &gmt_writer_csv,
                                                   &gmt_writer_markdown, &gmt_writer_sarif};
enum { WRITERS = sizeof(writers) / sizeof(writers[0]) };

const struct gmt_writer *gmt_writer_find(const char *name)
{
    for (size_t i = 0; i < WRITERS; i++) {
        if (strcmp(writers[i]->name, name) == 0)
            return writers[i];
    }
    return NULL;
}

const struct gmt_writer *gmt_writer_find_extension(const char *extension)
{
    for (size_t i = 0; i < WRITERS; i++) {
        if (strcmp(writers[i]->extension, extension) == 0)
            return writers[i];
    }
    return NULL;
}

bool gmt_writer_wants_color(int descriptor)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(descriptor) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

int gmt_writer_write_file(const struct gmt_writer *writer, const struct gmt_report *report,
                          const struct gmt_writer_options *options, const char *path)
{
    size_t length = strlen(path);
    char *temporary = malloc(length + sizeof(".XXXXXX"));
    FILE *out = NULL;
    int rc = 0, fd = -1;

    if (temporary == NULL)
        return -ENOMEM;
    memcpy(temporary, path, length);
    memcpy(temporary + length, ".XXXXXX", sizeof(".XXXXXX"));
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        rc = -errno;
        free(temporary);
        return rc;
    }
    out = fdopen(fd, "w");
    if (out == NULL) {
        rc = -errno;
        close(fd);
        goto out;
    }
    rc = writer->write(report, options, out);
    if (rc == 0 && (fflush(out) != 0 || ferror(out)))
        rc = errno != 0 ? -errno : -EIO;
    /* mkostemp makes files private; a report is as readable as any other file of the user. */
    mode_t mask = umask(0);
    umask(mask);
    if (rc == 0 && fchmod(fd, 0666 & ~mask) != 0)
        rc = -errno;
    if (fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temporary, path) != 0)
        rc = -errno;
out:
    if (rc != 0)
        unlink(temporary);
    free(temporary);
    return rc;
}
