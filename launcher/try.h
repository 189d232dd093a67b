/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace try`: what its files share. */
#ifndef GMT_LAUNCHER_TRY_H
#define GMT_LAUNCHER_TRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "preload/apply/note.h"
#include "preload/apply/plan.h"

/* Values of a setting that are tried by --sweep. */
struct gmt_try_sweep {
    enum gmt_fix fix;
    enum gmt_fix_parameter parameter;
    int64_t value;
};
enum {
    GMT_TRY_SWEEPS = 0
#define GMT_FIX_SWEEP(id, name, value) +1
#include "preload/apply/fixes.def"
};
extern const struct gmt_try_sweep gmt_try_sweeps[GMT_TRY_SWEEPS];

enum {
    GMT_TRY_CHECKS = 3,
    GMT_TRY_MOST_TURNS = 100,
    GMT_TRY_SETS = GMT_FIX_COUNT + 1 + GMT_TRY_SWEEPS
};

/* Fixes that are on together, and the parameter of one that is not at its standard (NULL: none). */
struct gmt_try_set {
    bool fixes[GMT_FIX_COUNT];
    const struct gmt_try_sweep *swept;
};

struct gmt_try_options {
    unsigned turns;   /* 0: until the time is used, or the intervals are narrow */
    double for_s;     /* for all runs together */
    bool json;        /* the report goes to standard output */
    bool sweep;       /* settings are tried with several values */
    bool on_software; /* its times say nothing */
    const char *trace, *output;
    bool wanted[GMT_FIX_COUNT];
    char *const *program;
};

/* Reads the command line. 0; -1: nothing more to do, and `status` says how it ended. */
int gmt_try_parse(char *const argv[], struct gmt_try_options *options, int *status);

/* One run of the program. */
struct gmt_try_run {
    int status; /* of waitpid() */
    double seconds;
    char output[33];           /* digest of what it wrote to standard output */
    struct gmt_try_note *note; /* NULL: nothing was asked of it */
    int note_fd;
};

enum gmt_try_kind {
    GMT_TRY_SHOWN,     /* untouched, with digests; its output is the user's */
    GMT_TRY_CHECKED,   /* with digests */
    GMT_TRY_UNTOUCHED, /* for its time, without anything of gmtrace */
    GMT_TRY_TIMED,
};

/* Runs it; set: the fixes that are on. 0, or the status to exit with when that is said. */
int gmt_try_execute(const struct gmt_try_options *options, enum gmt_try_kind kind,
                    const struct gmt_try_set *set, struct gmt_try_run *run);
void gmt_try_run_free(struct gmt_try_run *run);
/* The program wrote this to standard output in the run that was shown. */
int gmt_try_show_output(FILE *to);

/* What untouched runs agree on. */
struct gmt_try_reference {
    struct gmt_try_download *downloads; /* in the order of process, thread and call */
    size_t count;
    uint64_t bytes;
    uint64_t unchecked_calls, unchecked_bytes;
    uint32_t unseen;
    int status;
    bool status_agrees, output_agrees;
    char output[33];
};
int gmt_try_reference_make(const struct gmt_try_run runs[static GMT_TRY_CHECKS],
                           struct gmt_try_reference *reference);
void gmt_try_reference_free(struct gmt_try_reference *reference);
/* Is the run as the reference? If not, `what` says what differs first. */
bool gmt_try_equals(const struct gmt_try_reference *reference, const struct gmt_try_run *run,
                    char *what, size_t bytes);

/* The median of paired differences, and an interval around it by order statistics, with a coverage of `wanted` if that can be had. */
struct gmt_try_gain {
    unsigned pairs;
    double median_s, low_s, high_s;
    double coverage; /* of the interval, at least */
};
struct gmt_try_gain gmt_try_gain_of(const double *differences, unsigned count, double wanted);
double gmt_try_median(const double *values, unsigned count);

/* What came of one set of fixes: all, or one. */
struct gmt_try_outcome {
    char name[64];    /* of the fix, with its value where that is swept; "all" */
    enum gmt_fix fix; /* GMT_FIX_COUNT: all */
    struct gmt_try_set set;
    double coverage; /* that its interval needs: of several values the best one is taken */
    struct gmt_fix_counts counts[GMT_FIX_COUNT]; /* in the run that was checked */
    double differences[GMT_TRY_MOST_TURNS];
    struct gmt_try_gain gain;
    enum gmt_fix_state state;
    const char *why; /* of the state */
    bool has_prediction, differs;
    double predicted_low_s, predicted_s, predicted_high_s;
    char difference[512];
};

struct gmt_try_report {
    const struct gmt_try_options *options;
    const struct gmt_try_reference *reference;
    struct gmt_try_outcome *outcomes;
    size_t count;
    double untouched_s; /* median */
    unsigned turns;
    const char *stopped; /* why no more */
};

/* Of values of one fix the best comes first. One that differs makes all of them differ: no result depends on a setting. */
void gmt_try_sort(struct gmt_try_outcome *outcomes, size_t count);

/* What gmanalyze predicts of a trace for the fix. False: it does not. */
bool gmt_try_predict(const char *trace, enum gmt_fix fix, struct gmt_try_outcome *outcome);

void gmt_try_print(const struct gmt_try_report *report);
int gmt_try_print_json(const struct gmt_try_report *report);
/* Writes the plan for `gmtrace apply`. 0 or negative errno. */
int gmt_try_write_plan(const struct gmt_try_report *report);

#endif
