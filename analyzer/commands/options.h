/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of an analysis. */
#ifndef GMT_ANALYZER_COMMANDS_OPTIONS_H
#define GMT_ANALYZER_COMMANDS_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyzer/commands/calibrate.h"
#include "analyzer/commands/commands.h"
#include "analyzer/redact/redact.h"
#include "reports/model/report.h"
#include "reports/writers.h"

/* Traces of all ranks of a job, for one. */
enum { GMT_OPTIONS_MAX_LIST = 512 };

/* In the order of their words in options.def, as enum gmt_calibrate is. */
enum gmt_fail_on { GMT_FAIL_NEVER, GMT_FAIL_HIGH, GMT_FAIL_MEDIUM, GMT_FAIL_ANY };

struct gmt_output {
    const char *path;
    const struct gmt_writer *writer;
};

struct gmt_analyze_options {
    enum gmt_command_index command; /* analyze or diff */
    const char *traces[GMT_OPTIONS_MAX_LIST];
    size_t trace_count;
    struct gmt_output outputs[GMT_OPTIONS_MAX_LIST];
    size_t output_count;
    const struct gmt_writer *writer; /* of stdout */
    enum gmt_color color;            /* of stdout */
    const char *only[GMT_OPTIONS_MAX_LIST], *skip[GMT_OPTIONS_MAX_LIST];
    size_t only_count, skip_count;
    enum gmt_calibrate calibrate;
    enum gmt_fail_on fail_on;
    enum gmt_redact redact;
    const char *budget; /* NULL: none */
    const char *baselines[GMT_OPTIONS_MAX_LIST];
    size_t baseline_count;
    double max_regression; /* a share */
    size_t top;            /* 0: all */
    bool top_given;        /* without, the text is kept short */
    const char *model_file, *explain;
    const char *editor_url;      /* with {file} and {line}; NULL: places are no links */
    const char *source_root;     /* NULL: to be found */
    const char *range;           /* NULL: everything */
    const char *memory_snapshot; /* NULL: none */
    const char *tried;           /* results of gmtrace try; NULL: none */
    const regex_t *kernel;       /* names of the kernels to report on; NULL: all */
    regex_t kernel_pattern;      /* what `kernel` points to */
    bool list_rules, strict;
    bool long_names; /* of kernels, in place of titles */
    char *reproduce; /* the command line, as a shell takes it; NULL: no memory */
};

/* Ends the process with GMT_EXIT_USAGE on a wrong command line, with 0 after --help. */
void gmt_options_parse(struct gmt_analyze_options *options, enum gmt_command_index command,
                       int argc, char **argv);
/* Can the files of --output be made? Complains about the first that cannot: to be asked before the analysis. */
bool gmt_options_can_write(const struct gmt_analyze_options *options);
void gmt_options_free(struct gmt_analyze_options *options);

#endif
