/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report over several traces in every form that was asked for. */
#include "analyzer/commands/several_output.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "libtrace/base/memory_short.h"
#include "libtrace/base/printable.h"

/* error: negative errno */
static void complain(const char *subject, int error)
{
    gmt_say(stderr, "gmanalyze: %s: %s\n", subject, gmt_command_reason(error));
}

int gmt_several_output(const struct gmt_analyze_options *options, const struct gmt_several *several)
{
    struct gmt_writer_options style = {
        .top = options->top,
        .color = gmt_writer_wants_color(STDOUT_FILENO, options->color),
        .columns = gmt_writer_columns(STDOUT_FILENO)};
    const struct gmt_several_writer *writer = gmt_several_writer_find(options->writer->name);

    int rc = 0;

    if (gmt_command_memory_short("the traces together")) {
        return -ENOMEM;
    }
    /* Files first: whoever reads standard output may stop reading, which ends the process. */
    for (size_t i = 0; i < options->output_count; i++) {
        const struct gmt_output *output = &options->outputs[i];
        struct gmt_writer_options plain = {0};
        int result = gmt_several_write_file(gmt_several_writer_find(output->writer->name), several,
                                            &plain, output->path);

        if (result != 0) {
            complain(output->path, result);
            rc = result;
            continue;
        }
        gmt_say(stderr, "gmanalyze: wrote %s\n", output->path);
    }
    int result = writer->write(several, &style, stdout);
    if (result == 0 && gmt_memory_short()) {
        result = -ENOMEM;
    }
    if (gmt_command_printed(GMT_EXIT_OK) != GMT_EXIT_OK) {
        result = -EIO;
    } else if (result != 0) {
        complain("standard output", result);
    }
    return result != 0 ? result : rc;
}
