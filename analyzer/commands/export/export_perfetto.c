/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a file of trace events, with its findings. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/export/export.h"
#include "analyzer/commands/export/export_findings.h"
#include "analyzer/commands/export/export_rows.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"

enum { FIRST_PID = 1, LAST_DEVICE = 1 << 20 };

static int write_events(void *context, FILE *out)
{
    struct gmt_export_rows *rows = context;
    struct gmt_events *events = rows->events;

    events->out = out;
    int rc = gmt_export_rows_origin(rows, &events->origin_ns);
    if (rc != 0) {
        return rc;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"gmtrace " GMT_VERSION
          "\",\"trace\":",
          out);
    gmt_events_text(events, rows->trace);
    fputs("},\"traceEvents\":[", out);
    rc = gmt_export_rows_write(rows);
    if (rc == 0) {
        rc = gmt_export_findings(events, rows->trace);
    }
    fputs("\n]}\n", out);
    return rc == 0 && ferror(out) ? -EIO : rc;
}

int gmt_export_perfetto(sqlite3 *db, const char *trace, const char *output)
{
    struct gmt_events events = {0};
    struct gmt_export_rows rows = {.db = db,
                                   .trace = trace,
                                   .events = &events,
                                   .first_pid = FIRST_PID,
                                   .last_device = LAST_DEVICE};
    int rc = output != NULL ? gmt_file_write(output, write_events, &rows)
                            : write_events(&rows, stdout);

    if (gmt_command_printed(GMT_EXIT_OK) != GMT_EXIT_OK) {
        return -EIO;
    }
    if (rc == 0) {
        gmt_say(stderr, "gmanalyze: wrote %s, %" PRId64 " events\n",
                output != NULL ? output : "standard output", rows.count);
    } else if (!rows.complained) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", output != NULL ? output : "standard output",
                gmt_command_reason(rc));
    }
    return rc;
}
