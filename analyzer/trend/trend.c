/* SPDX-License-Identifier: Apache-2.0 */
/* Makes series of the runs of each program, and asks each where it changes. */
#include "analyzer/trend/trend.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/compare/compare.h"
#include "analyzer/trend/programs.h"

const struct gmt_trend_row gmt_trend_rows[GMT_TREND_MEASURES] = {
#define GMT_TREND_MEASURE(NAME, name, kind, side, share, value, what) \
    {#name, what, GMT_KIND_##kind, GMT_TREND_##side, share},
#include "analyzer/trend/measures.def"
#undef GMT_TREND_MEASURE
};

/* A gain that changes by less is not worth a line: shares of itself, and of the program's time. */
#define GAIN_SHARE 0.1
#define GAIN_OF_PROGRAM 0.01

/* One series of a program, without the runs in which it is not known. */
struct series {
    struct gmt_trend_change about; /* what it is of */
    struct gmt_trend_least least;
    bool is_ratio;
    double *values;
    size_t *runs; /* of each value */
    size_t n;
};

struct all_series {
    struct series *series;
    size_t count;
    struct gmt_arena *arena;
};

const char *gmt_trend_day(char *text, int64_t start_ns)
{
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct tm utc;

    if (start_ns <= 0 || gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, 16, "%Y-%m-%d", &utc) == 0) {
        strcpy(text, "–");
    }
    return text;
}

/* ---- series ----------------------------------------------------------------------------------- */

static const struct gmt_trend_finding *find(const struct gmt_trend_run *run,
                                            const char *fingerprint)
{
    for (size_t i = 0; i < run->finding_count; i++) {
        if (strcmp(run->findings[i].fingerprint, fingerprint) == 0) {
            return &run->findings[i];
        }
    }
    return NULL;
}

static bool could_check(const struct gmt_trend_run *run, const char *rule)
{
    for (size_t i = 0; i < run->unchecked_count; i++) {
        if (strcmp(run->unchecked[i], rule) == 0) {
            return false;
        }
    }
    return true;
}

static double value_of(const struct gmt_trend_run *run, const struct gmt_trend_change *about)
{
    if (about->of == GMT_TREND_OF_MEASURE) {
        return run->values[about->measure];
    }
    const struct gmt_trend_finding *finding = find(run, about->finding->fingerprint);
    if (about->of == GMT_TREND_OF_GAIN) {
        return finding != NULL ? finding->gain_ns : NAN;
    }
    return finding != NULL ? 1 : could_check(run, about->finding->rule) ? 0 : NAN;
}

/* Keeps it where it varies: one that does not can show nothing. */
static int add_series(struct all_series *all, const struct gmt_trend_program *program,
                      const struct gmt_trend_change *about, struct gmt_trend_least least,
                      bool is_time)
{
    struct series series = {.about = *about, .least = least, .is_ratio = is_time};
    bool varies = false;

    series.values = gmt_arena_alloc(all->arena, program->count * sizeof(*series.values));
    series.runs = gmt_arena_alloc(all->arena, program->count * sizeof(*series.runs));
    if (series.values == NULL || series.runs == NULL) {
        return -ENOMEM;
    }
    for (size_t r = 0; r < program->count; r++) {
        double value = value_of(&program->runs[r], about);

        if (!isfinite(value)) {
            continue;
        }
        varies = varies || (series.n > 0 && value != series.values[0]);
        series.is_ratio = series.is_ratio && value > 0;
        series.values[series.n] = value;
        series.runs[series.n++] = r;
    }
    if (!varies || gmt_trend_tests(series.n) == 0) {
        return 0;
    }
    struct series *kept = GMT_PUSH(all->arena, all->series, all->count);
    if (kept == NULL) {
        return -ENOMEM;
    }
    *kept = series;
    return 0;
}

/* Was the finding in a later run? Then it has its series already. */
static bool is_of_later(const struct gmt_trend_program *program, size_t run,
                        const char *fingerprint)
{
    for (size_t r = run + 1; r < program->count; r++) {
        if (find(&program->runs[r], fingerprint) != NULL) {
            return true;
        }
    }
    return false;
}

static double usual_time(const struct gmt_trend_program *program, double *room)
{
    size_t n = 0;

    for (size_t r = 0; r < program->count; r++) {
        if (!isnan(program->runs[r].values[GMT_TREND_TIME])) {
            room[n++] = program->runs[r].values[GMT_TREND_TIME];
        }
    }
    return n > 0 ? gmt_median(room, n) : 0;
}

static int add_findings(struct all_series *all, const struct gmt_trend_program *program,
                        size_t index)
{
    double *room = malloc((program->count + 1) * sizeof(*room));
    int rc = room != NULL ? 0 : -ENOMEM;
    struct gmt_trend_least gain = {GAIN_SHARE, 0};

    if (rc == 0) {
        gain.size = GAIN_OF_PROGRAM * usual_time(program, room);
    }
    free(room);
    for (size_t r = program->count; rc == 0 && r-- > 0;) {
        const struct gmt_trend_run *run = &program->runs[r];

        for (size_t i = 0; i < run->finding_count && rc == 0; i++) {
            struct gmt_trend_change about = {
                .program = index, .of = GMT_TREND_OF_FINDING, .finding = &run->findings[i]};

            if (find(run, run->findings[i].fingerprint) != &run->findings[i] ||
                is_of_later(program, r, run->findings[i].fingerprint)) {
                continue;
            }
            rc = add_series(all, program, &about, (struct gmt_trend_least){0}, false);
            about.of = GMT_TREND_OF_GAIN;
            if (rc == 0) {
                rc = add_series(all, program, &about, gain, true);
            }
        }
    }
    return rc;
}

static int add_measures(struct all_series *all, const struct gmt_trend_program *program,
                        size_t index)
{
    int rc = 0;

    for (int m = 0; m < GMT_TREND_MEASURES && rc == 0; m++) {
        const struct gmt_trend_row *row = &gmt_trend_rows[m];
        struct gmt_trend_change about = {
            .program = index, .of = GMT_TREND_OF_MEASURE, .measure = (enum gmt_trend_measure)m};

        rc = add_series(all, program, &about, (struct gmt_trend_least){row->share, 0},
                        row->kind == GMT_KIND_NS);
    }
    return rc;
}

/* ---- changes ---------------------------------------------------------------------------------- */

static bool more_is_worse(const struct gmt_trend_change *change)
{
    return change->of != GMT_TREND_OF_MEASURE ||
           gmt_trend_rows[change->measure].side == GMT_TREND_WORSE;
}

static int add_changes(struct gmt_trend *trend, const struct series *series, double alpha,
                       struct gmt_arena *arena)
{
    struct gmt_trend_shift *shifts;
    size_t count;
    int rc = gmt_trend_shifts(series->values, series->n, series->is_ratio, alpha, series->least,
                              &shifts, &count);

    for (size_t i = 0; i < count && rc == 0; i++) {
        struct gmt_trend_change *change = GMT_PUSH(arena, trend->changes, trend->change_count);

        if (change == NULL) {
            rc = -ENOMEM;
            break;
        }
        *change = series->about;
        change->run = series->runs[shifts[i].at];
        change->previous = series->runs[shifts[i].at - 1];
        change->before = shifts[i].before;
        change->after = shifts[i].after;
        change->p = shifts[i].p;
        change->is_worse = more_is_worse(change) && change->after > change->before;
        change->is_better = more_is_worse(change) && change->after < change->before;
    }
    free(shifts);
    return rc;
}

/* So far apart two changes of a program can be one: the place of what has noise is not exact. */
enum { APART_MOST = 2 };

/* Of changes of one program that lie close together, those that are less sure take the place of the surest. */
static void join_near(struct gmt_trend *trend)
{
    for (size_t i = 0; i < trend->change_count; i++) {
        struct gmt_trend_change *change = &trend->changes[i];
        const struct gmt_trend_change *surest = change;

        for (size_t k = 0; k < trend->change_count; k++) {
            const struct gmt_trend_change *other = &trend->changes[k];
            size_t apart = change->run > other->run ? change->run - other->run
                                                    : other->run - change->run;

            if (other->program == change->program && apart <= APART_MOST && other->p < surest->p) {
                surest = other;
            }
        }
        change->run = surest->run;
        change->previous = surest->previous;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct gmt_trend_change *x = a, *y = b;

    if (x->program != y->program) {
        return x->program < y->program ? -1 : 1;
    }
    if (x->run != y->run) {
        return x->run < y->run ? -1 : 1;
    }
    if (x->of != y->of) {
        return x->of < y->of ? -1 : 1;
    }
    return x->of == GMT_TREND_OF_MEASURE ? (x->measure > y->measure) - (x->measure < y->measure)
                                         : strcmp(x->finding->fingerprint, y->finding->fingerprint);
}

int gmt_trend_fill(struct gmt_trend *trend, struct gmt_trend_run *runs, size_t count,
                   struct gmt_arena *arena)
{
    struct all_series all = {.arena = arena};

    *trend = (struct gmt_trend){
        .runs = runs, .count = count, .false_alarms = GMT_TREND_FALSE_ALARMS};
    int rc = gmt_trend_programs(trend, arena);
    for (size_t p = 0; p < trend->program_count && rc == 0; p++) {
        rc = add_measures(&all, &trend->programs[p], p);
        if (rc == 0) {
            rc = add_findings(&all, &trend->programs[p], p);
        }
    }
    trend->series = all.count;
    for (size_t i = 0; i < all.count && rc == 0; i++) {
        rc = add_changes(trend, &all.series[i], GMT_TREND_FALSE_ALARMS / (double)all.count, arena);
    }
    join_near(trend);
    if (trend->change_count > 1) {
        qsort(trend->changes, trend->change_count, sizeof(*trend->changes), by_time);
    }
    return rc == 0 && arena->failed ? -ENOMEM : rc;
}

/* ---- since ------------------------------------------------------------------------------------ */

static bool is_day(const char *text)
{
    for (size_t i = 0; i < 10; i++) {
        bool dash = i == 4 || i == 7;

        if (dash ? text[i] != '-' : !isdigit((unsigned char)text[i])) {
            return false;
        }
    }
    return text[10] == '\0';
}

/* When the first run of a commit began. -1: there is none. */
static int64_t start_of(const struct gmt_trend *trend, const char *commit)
{
    int64_t first = -1;

    for (size_t i = 0; i < trend->compared; i++) {
        const struct gmt_trend_run *run = &trend->runs[i];

        if (run->commit != NULL && strncmp(run->commit, commit, strlen(commit)) == 0 &&
            (first < 0 || run->start_ns < first)) {
            first = run->start_ns;
        }
    }
    return first;
}

int gmt_trend_since(struct gmt_trend *trend, const char *since)
{
    bool by_day = is_day(since);
    int64_t first = by_day ? 0 : start_of(trend, since);
    size_t kept = 0;
    char day[16];

    if (first < 0) {
        return -ENOENT;
    }
    for (size_t i = 0; i < trend->change_count; i++) {
        const struct gmt_trend_change *change = &trend->changes[i];
        const struct gmt_trend_run *run = &trend->programs[change->program].runs[change->run];

        if (by_day ? strcmp(gmt_trend_day(day, run->start_ns), since) >= 0
                   : run->start_ns >= first) {
            trend->changes[kept++] = *change;
        }
    }
    trend->change_count = kept;
    return 0;
}
