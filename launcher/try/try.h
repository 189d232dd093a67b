/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace try`: what its files share. */
#ifndef GMT_LAUNCHER_TRY_H
#define GMT_LAUNCHER_TRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "launcher/try/try_match.h"
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
#define GMT_TRY_COVERAGE 0.95 /* of the interval of a gain: needs 6 pairs of runs */

/* Fixes that are on together, and of each the parameter that is not at its standard (NULL: none). */
struct gmt_try_set {
    bool fixes[GMT_FIX_COUNT];
    const struct gmt_try_sweep *swept[GMT_FIX_COUNT];
};

struct gmt_try_options {
    unsigned turns;   /* 0: until the time is used, or the intervals are narrow */
    double for_s;     /* for all runs together */
    bool json;        /* the report goes to standard output */
    bool sweep;       /* settings are tried with several values */
    bool on_software; /* its times say nothing */
    const char *trace, *output;
    const char *results; /* the report as JSON, for gmanalyze --tried; NULL: none is written */
    char results_path[PATH_MAX];
    bool wanted[GMT_FIX_COUNT];
    char *const *program;
};

/* Reads the command line. 0; -1: nothing more to do, and `status` says how it ended. */
int gmt_try_parse(char *const argv[], struct gmt_try_options *options, int *status);

/* One run of the program. */
struct gmt_try_run {
    int status; /* of waitpid() */
    double seconds;
    double limit_s; /* of its time, and whether it was ended for that; 0: there was none */
    bool is_late;
    char output[33]; /* digest of what it wrote to standard output; "empty"; "": not known */
    struct gmt_try_note *note; /* NULL: nothing was asked of it */
    int note_fd;
};

/* Streams that gmtrace was started without lead nowhere from here on: else files of ours would take their numbers, and the program would get them. */
void gmt_try_open_streams(void);

enum gmt_try_kind {
    GMT_TRY_SHOWN,     /* untouched, with digests; its output is the user's */
    GMT_TRY_CHECKED,   /* with digests */
    GMT_TRY_UNTOUCHED, /* for its time, without anything of gmtrace */
    GMT_TRY_TIMED,
};

/* Runs it; set: the fixes that are on. 0, or the status to exit with when that is said; more than GMT_EXIT_SIGNAL: gmtrace was interrupted,
 * and the run is not used. With fixes it may take ten times as long as the longest run without, 10 s at least. */
int gmt_try_execute(const struct gmt_try_options *options, enum gmt_try_kind kind,
                    const struct gmt_try_set *set, struct gmt_try_run *run);
void gmt_try_run_free(struct gmt_try_run *run);
/* The program wrote this to standard output in the run that was shown. */
int gmt_try_show_output(FILE *to);

/* A program that made CUDA calls in an untouched run. */
struct gmt_try_program {
    char *exe, *command; /* the latter as a shell takes it */
    char build_id[128];  /* hex; "": the file has none */
    int64_t modified_ns; /* the file; 0: not known */
    uint32_t devices;
    char device[GMT_TRY_DEVICES][GMT_TRY_NAME_BYTES];
};

/* What untouched runs agree on, and what they ran. */
struct gmt_try_reference {
    struct gmt_try_results results; /* of the first one */
    bool *agreed;                   /* of each download: all have it */
    size_t count;                   /* of those that agreed */
    uint64_t bytes;
    uint64_t unchecked_calls, unchecked_bytes;
    uint32_t unseen;
    struct gmt_try_program *programs;
    size_t program_count;
    int status;
    bool status_agrees, output_agrees;
    char output[33];
};
int gmt_try_reference_make(const struct gmt_try_run runs[static GMT_TRY_CHECKS],
                           struct gmt_try_reference *reference);
void gmt_try_reference_free(struct gmt_try_reference *reference);
/* Ways in which results reached the host without a digest, GMT_UNSEEN_..., and the bytes that came back, with and without one. */
uint32_t gmt_try_unseen_in(const struct gmt_try_note *note);
uint64_t gmt_try_bytes_in(const struct gmt_try_note *note);
/* One more untouched run: what it does not agree on is not compared from now on. 0 or -ENOMEM. */
int gmt_try_reference_narrow(struct gmt_try_reference *reference, const struct gmt_try_run *run);

enum gmt_try_equality {
    GMT_TRY_EQUAL,
    GMT_TRY_MOVED, /* all bytes came back, but to other threads or processes: it is not known whether that is equal */
    GMT_TRY_DIFFERENT,
};
/* Is the run as the reference? If it is different, `what` says what differs first. */
enum gmt_try_equality gmt_try_equals(struct gmt_try_reference *reference,
                                     const struct gmt_try_run *run, char *what, size_t bytes);

/* The median of paired differences, and an interval around it by order statistics, with a coverage of `wanted` if that can be had. */
struct gmt_try_gain {
    unsigned pairs;
    double median_s, low_s, high_s;
    double coverage; /* of the interval, at least */
};
struct gmt_try_gain gmt_try_gain_of(const double *differences, unsigned count, double wanted);
double gmt_try_median(const double *values, unsigned count);

/* A finding of the trace that the fix repairs. */
struct gmt_try_finding {
    char rule[8], fingerprint[17], place[256];
    double best_s; /* NAN: it has no price */
};
enum { GMT_TRY_FINDINGS = 64 };

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
    uint64_t bytes;  /* that came back in the run that was checked */
    uint32_t unseen; /* ... and how else results came back in it: GMT_UNSEEN_... */
    bool moved;      /* threads shared the work in another way, so that not all could be compared */
    double predicted_low_s, predicted_s, predicted_high_s;
    struct gmt_try_finding findings[GMT_TRY_FINDINGS]; /* of the trace, largest first */
    size_t finding_count;                              /* those beyond are left out */
    char difference[512];
};

/* All that is proven, which `gmtrace apply` applies together. */
struct gmt_try_together {
    bool was_run;           /* there are two or more, and a run with just these was compared */
    struct gmt_try_set set; /* before any of them was taken back */
    bool differs, is_equal; /* neither: not enough could be compared */
    char difference[512];
};

struct gmt_try_report {
    const struct gmt_try_options *options;
    struct gmt_try_reference *reference;
    struct gmt_try_outcome *outcomes;
    size_t count;
    double untouched_s; /* median */
    unsigned turns;
    struct gmt_try_together together;
    const char *stopped; /* why no more */
    int64_t began_ns;    /* CLOCK_REALTIME */
};

/* Is standard output a result that was compared: the same in all untouched runs, and not empty? */
bool gmt_try_has_output(const struct gmt_try_reference *reference);
/* Was enough compared to say of one that does not differ that its results are equal? */
bool gmt_try_is_compared(const struct gmt_try_reference *reference,
                         const struct gmt_try_outcome *outcome);
/* Is it worth its time? One whose results differ has ended, and one that is applied to nothing gains nothing. */
bool gmt_try_is_timed(const struct gmt_try_outcome *outcome);
/* Says of a set of fixes what came of it: its gain, `state` and `why`. After all runs. */
void gmt_try_judge(const struct gmt_try_report *report, struct gmt_try_outcome *outcome);

/* Of values of one fix the best comes first. One that differs makes all of them differ: no result depends on a setting. */
void gmt_try_sort(struct gmt_try_outcome *outcomes, size_t count);

/* Is it the one of its fix that the plan gets? After sorting; false of all fixes together. */
bool gmt_try_is_for_plan(const struct gmt_try_report *report, size_t outcome);
/* The set that a plan of these outcomes has applied; returns how many fixes it has. */
unsigned gmt_try_proven_set(const struct gmt_try_report *report, struct gmt_try_set *set);
/* The outcome of just these fixes with just these values; NULL: they were not tried. */
const struct gmt_try_outcome *gmt_try_find_set(const struct gmt_try_report *report,
                                               const struct gmt_try_set *set);
bool gmt_try_is_same_set(const struct gmt_try_set *a, const struct gmt_try_set *b);
/* What is proven is not shown to be equal together: only the fix that gains most stays proven. */
void gmt_try_keep_best(struct gmt_try_report *report);

/* Has the trace analyzed, once for all fixes. False: it cannot be, which is said. */
bool gmt_try_read_trace(const char *trace);
void gmt_try_forget_trace(void);
/* What gmanalyze predicts of that trace for the fix. False: it does not, or there is no trace. */
bool gmt_try_predict(enum gmt_fix fix, struct gmt_try_outcome *outcome);

/* Why a fix is not applied to a call, in words. */
const char *gmt_try_reason(enum gmt_refusal reason);
/* A way in which results reach the host unseen, by the bit of GMT_UNSEEN_...; NULL: there is none behind it. */
const char *gmt_try_unseen(unsigned bit);
void gmt_try_print(const struct gmt_try_report *report);
int gmt_try_print_json(const struct gmt_try_report *report);
/* Writes the same to a file, for gmanalyze --tried. 0 or negative errno. */
int gmt_try_write_results(const struct gmt_try_report *report);
/* What ran; 0 or -ENOMEM. */
int gmt_try_programs_make(const struct gmt_try_note *note, struct gmt_try_program **programs,
                          size_t *count);
void gmt_try_programs_free(struct gmt_try_program *programs, size_t count);
/* How far the prediction is from what was tried, in points of the run; NAN: one of them is not known. */
double gmt_try_points(const struct gmt_try_report *report, const struct gmt_try_outcome *outcome);
/* Writes the plan for `gmtrace apply`. 0 or negative errno. */
int gmt_try_write_plan(const struct gmt_try_report *report);

#endif
