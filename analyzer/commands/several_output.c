/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report over several traces in every form that was asked for. */
#include "analyzer/commands/several_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void complain(const char *subject, int error)
{
    fprintf(stderr, "gmanalyze: %s: %s\n", subject, strerror(error));
}

int gmt_several_output(const struct gmt_options *options, const struct gmt_several *several)
{
    struct gmt_writer_options style = {.top = options->top,
                                       .color = gmt_writer_wants_color(STDOUT_FILENO)};
    const struct gmt_several_writer *writer = gmt_several_writer_find(options->writer->name);

    errno = 0;
    int rc = writer->write(several, &style, stdout);
    if (rc == 0 && fflush(stdout) != 0)
        rc = -errno;
    if (rc != 0)
        complain("standard output", -rc);
    for (size_t i = 0; i < options->output_count; i++) {
        const struct gmt_output *output = &options->outputs[i];
        struct gmt_writer_options plain = {0};
        int result = gmt_several_write_file(gmt_several_writer_find(output->writer->name), several,
                                            &plain, output->path);

        if (result != 0) {
            complain(output->path, -result);
            rc = result;
            continue;
        }
        fprintf(stderr, "gmanalyze: wrote %s\n", output->path);
    }
    return rc;
}
