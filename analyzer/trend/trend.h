/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of many nights: which programs changed, in what, and with which commit. */
#ifndef GMT_ANALYZER_TREND_TREND_H
#define GMT_ANALYZER_TREND_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/trend/change_point.h"
#include "libtrace/base/arena.h"
#include "reports/model/figures.h"

/* Of answers about programs that did not change, so many name a change. */
#define GMT_TREND_FALSE_ALARMS 0.01
/* The newest runs of a program on one machine; older ones are left out. */
enum { GMT_TREND_RUNS_MOST = 200 };

enum gmt_trend_measure {
#define GMT_TREND_MEASURE(NAME, name, kind, side, share, value, what) GMT_TREND_##NAME,
#include "analyzer/trend/measures.def"
#undef GMT_TREND_MEASURE
    GMT_TREND_MEASURES
};

enum gmt_trend_side { GMT_TREND_WORSE, GMT_TREND_NEITHER };

struct gmt_trend_row {
    const char *name, *what;
    enum gmt_figure_kind kind;
    enum gmt_trend_side side;
    double share;
};
extern const struct gmt_trend_row gmt_trend_rows[GMT_TREND_MEASURES];

/* A finding of one trace, or a note that is not too small. */
struct gmt_trend_finding {
    const char *fingerprint, *rule, *headline, *place;
    double gain_ns; /* NAN: it has no price */
};

/* One trace. Strings and arrays belong to whoever filled it in; NULL: not known. */
struct gmt_trend_run {
    const char *trace;
    const char *trouble; /* why it is left out; NULL: it is not */
    const char *program; /* label, or base name of the executable and arguments */
    const char *exe, *rank, *host, *device, *driver, *tool, *commit,
        *job;         /* job: one run of gmtrace */
    int64_t start_ns; /* wall clock; 0: not known */
    double values[GMT_TREND_MEASURES];
    struct gmt_trend_finding *findings;
    size_t finding_count;
    const char **unchecked; /* ids of rules that could not check this trace */
    size_t unchecked_count;
};

/* What of a program has a series. */
enum gmt_trend_of { GMT_TREND_OF_MEASURE, GMT_TREND_OF_FINDING, GMT_TREND_OF_GAIN };

struct gmt_trend_change {
    size_t program; /* index                              */
    enum gmt_trend_of of;
    enum gmt_trend_measure measure;          /* of GMT_TREND_OF_MEASURE */
    const struct gmt_trend_finding *finding; /* else; as the newest run with it has it */
    size_t run,
        previous; /* indices into the program's runs: the first with the new level, the last without */
    double before, after; /* medians; of GMT_TREND_OF_FINDING: in how much of the runs it is */
    double p;
    bool is_worse, is_better;
};

/* A program, rank and machine; its runs by time. */
struct gmt_trend_program {
    const char *name, *exe, *rank, *device, *driver;
    struct gmt_trend_run *runs;
    size_t count, left_out; /* of the latter: older than the newest GMT_TREND_RUNS_MOST */
    bool has_machines;      /* there are runs of it on other devices or drivers                */
    bool has_paths;         /* the executable lies in several folders by turns: each is a program */
};

struct gmt_trend {
    struct gmt_trend_run *runs; /* all of them, by program and time */
    size_t count, compared;
    struct gmt_trend_program *programs;
    size_t program_count;
    struct gmt_trend_change *changes; /* by program, then by time */
    size_t change_count;
    size_t series; /* that vary: the rate of false alarms is divided among them */
    double false_alarms;
};

/*
 * Orders the runs, puts them into programs, and finds what changed. Runs of one job or with one beginning are one point: their
 * medians. The runs are the arena's, or outlive the trend. 0 or -ENOMEM.
 */
int gmt_trend_fill(struct gmt_trend *trend, struct gmt_trend_run *runs, size_t count,
                   struct gmt_arena *arena);

/* Leaves out changes before `since`: a day (YYYY-MM-DD), or the beginning of a commit. -ENOENT: no run has that commit. */
int gmt_trend_since(struct gmt_trend *trend, const char *since);

/* "2026-11-28", in UTC; text holds 16. An en dash where it is not known. */
const char *gmt_trend_day(char *text, int64_t start_ns);

#endif
