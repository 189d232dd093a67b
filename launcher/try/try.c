/* SPDX-License-Identifier: Apache-2.0 */
/* `gmtrace try`: runs a program with and without fixes in turns, and says what they gain and whether results are equal. */
#include "launcher/try/try.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/names.h"

#define NARROW 0.01 /* of the run: half the width of an interval that is narrow enough */

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- runs --------------------------------------------------------------------------------------- */

static const struct gmt_try_set no_fix;

/* Results are compared in any case: who has allowed less time learns after the first run how long that takes. */
static void warn_of_time(const struct gmt_try_options *options, double run_s, size_t sets)
{
    double least_s = run_s * (double)(GMT_TRY_CHECKS + sets);
    if (least_s > options->for_s) {
        gmt_say(stderr,
                "gmtrace: a run takes %.2g s, and comparing results %zu of them: some %.2g s, more "
                "than --for allows (%g s); a smaller input takes less\n",
                run_s, GMT_TRY_CHECKS + sets, least_s, options->for_s);
    }
}

/* The untouched runs that others are compared with. 0, or the status to exit with. */
static int run_reference(const struct gmt_try_options *options, size_t sets,
                         struct gmt_try_reference *reference)
{
    double began_s = now_s();
    struct gmt_try_run runs[GMT_TRY_CHECKS] = {{.note_fd = -1}};
    int failure = 0;
    unsigned made = 0;
    for (; made < GMT_TRY_CHECKS && failure == 0; made++) {
        failure = gmt_try_execute(options, made == 0 ? GMT_TRY_SHOWN : GMT_TRY_CHECKED, &no_fix,
                                  &runs[made]);
        if (failure == 0 && made == 0 && !options->json) {
            (void)gmt_try_show_output(stdout);
        }
        if (failure == 0 && made == 0) {
            warn_of_time(options, now_s() - began_s, sets);
        }
    }
    if (failure == 0 && runs[0].note->processes == 0) {
        gmt_say(stderr,
                "gmtrace: '%s' made no CUDA call: there is nothing to try. Or none was seen: there "
                "is no driver (gmtrace doctor), or it ran as another user or with another "
                "environment than gmtrace gave it (sudo, setpriv, env -i)\n",
                options->program[0]);
        failure = GMT_EXIT_FAILED;
    }
    if (failure == 0 && gmt_try_reference_make(runs, reference) != 0) {
        failure = GMT_EXIT_FAILED;
    }
    for (unsigned i = 0; i < made; i++) {
        gmt_try_run_free(&runs[i]);
    }
    return failure;
}

static void take_counts(const struct gmt_try_run *run, struct gmt_try_outcome *outcome)
{
    for (uint32_t p = 0; p < run->note->processes && p < GMT_TRY_PROCESSES; p++) {
        for (unsigned fix = 0; fix < GMT_FIX_COUNT; fix++) {
            const struct gmt_fix_counts *of = &run->note->process[p].fixes[fix];
            struct gmt_fix_counts *sum = &outcome->counts[fix];
            sum->calls += of->calls;
            sum->bytes += of->bytes;
            sum->passed_bytes += of->passed_bytes;
            for (unsigned i = 0; i < GMT_REFUSAL_COUNT; i++) {
                sum->refused[i] += of->refused[i];
                sum->refused_bytes[i] += of->refused_bytes[i];
            }
        }
    }
}

/* One more untouched run. */
static int confirm(const struct gmt_try_options *options, struct gmt_try_reference *reference)
{
    struct gmt_try_run run;
    int failure = gmt_try_execute(options, GMT_TRY_CHECKED, &no_fix, &run);
    if (failure == 0 && gmt_try_reference_narrow(reference, &run) != 0) {
        failure = GMT_EXIT_FAILED;
    }
    gmt_try_run_free(&run);
    return failure;
}

/* Where the run differs, an untouched one shows once more that these agree there: three may have agreed by chance. */
static int compare(const struct gmt_try_options *options, struct gmt_try_reference *reference,
                   const struct gmt_try_run *run, struct gmt_try_outcome *outcome)
{
    char *what = outcome->difference;
    size_t bytes = sizeof(outcome->difference);
    if (outcome->differs) {
        return 0;
    }
    if (run->is_late) {
        outcome->differs = true;
        (void)snprintf(what, bytes, "the program did not end in %.0f s", run->limit_s);
        return 0;
    }
    enum gmt_try_equality equality = gmt_try_equals(reference, run, what, bytes);
    if (equality == GMT_TRY_DIFFERENT) {
        int failure = confirm(options, reference);
        if (failure != 0) {
            return failure;
        }
        equality = gmt_try_equals(reference, run, what, bytes);
    }
    outcome->differs = equality == GMT_TRY_DIFFERENT;
    outcome->moved = outcome->moved || equality == GMT_TRY_MOVED;
    return 0;
}

static int check_outcome(const struct gmt_try_options *options, struct gmt_try_reference *reference,
                         struct gmt_try_outcome *outcome)
{
    struct gmt_try_run run;
    int failure = gmt_try_execute(options, GMT_TRY_CHECKED, &outcome->set, &run);
    if (failure == 0) {
        take_counts(&run, outcome);
        outcome->bytes = gmt_try_bytes_in(run.note);
        outcome->unseen = gmt_try_unseen_in(run.note);
        failure = compare(options, reference, &run, outcome);
    }
    gmt_try_run_free(&run);
    return failure;
}

/* One run for its time. outcome: NULL: untouched. 0, or the status to exit with. */
static int run_timed(const struct gmt_try_options *options, struct gmt_try_reference *reference,
                     struct gmt_try_outcome *outcome, double *seconds)
{
    struct gmt_try_run run;
    int failure = gmt_try_execute(options, outcome == NULL ? GMT_TRY_UNTOUCHED : GMT_TRY_TIMED,
                                  outcome != NULL ? &outcome->set : &no_fix, &run);
    if (failure == 0 && outcome != NULL) {
        failure = compare(options, reference, &run, outcome);
    }
    *seconds = run.seconds;
    gmt_try_run_free(&run);
    return failure;
}

/* One pair of runs of each; the order changes from turn to turn, so that what drifts favours none. */
static int run_turn(struct gmt_try_report *report, double *untouched_s)
{
    double seconds[GMT_TRY_SETS] = {0};
    size_t sets = report->count + 1;
    int failure = 0;
    for (size_t i = 0; i < sets && failure == 0; i++) {
        size_t at = (i + report->turns) % sets; /* the last one is untouched */
        bool untouched = at == report->count;
        if (untouched || gmt_try_is_timed(&report->outcomes[at])) {
            failure = run_timed(report->options, report->reference,
                                untouched ? NULL : &report->outcomes[at], &seconds[at]);
        }
    }
    *untouched_s = seconds[report->count];
    for (size_t i = 0; i < report->count; i++) {
        report->outcomes[i].differences[report->turns] = *untouched_s - seconds[i];
    }
    return failure;
}

static bool all_narrow(const struct gmt_try_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct gmt_try_outcome *outcome = &report->outcomes[i];
        struct gmt_try_gain gain = gmt_try_gain_of(outcome->differences, report->turns,
                                                   outcome->coverage);
        if (gmt_try_is_timed(outcome) &&
            (gain.coverage < outcome->coverage ||
             gain.high_s - gain.low_s > 2 * NARROW * report->untouched_s)) {
            return false;
        }
    }
    return true;
}

static bool any_timed(const struct gmt_try_report *report)
{
    bool any = false;
    for (size_t i = 0; i < report->count; i++) {
        any = any || gmt_try_is_timed(&report->outcomes[i]);
    }
    return any && !report->options->on_software;
}

static int run_turns(struct gmt_try_report *report, double began_s)
{
    const struct gmt_try_options *options = report->options;
    double untouched_s[GMT_TRY_MOST_TURNS];
    unsigned most = options->turns != 0 ? options->turns : GMT_TRY_MOST_TURNS;
    report->stopped = "";
    while (any_timed(report) && report->turns < most && report->stopped[0] == '\0') {
        double turn_began_s = now_s();
        int failure = run_turn(report, &untouched_s[report->turns]);
        if (failure != 0) {
            return failure;
        }
        report->turns++;
        report->untouched_s = gmt_try_median(untouched_s, report->turns);
        double now = now_s();
        if (options->turns == 0 && all_narrow(report)) {
            report->stopped = "the intervals are narrow";
        } else if (options->turns == 0 && now - began_s + (now - turn_began_s) > options->for_s) {
            report->stopped = "the time is used";
        }
    }
    return 0;
}

/* ---- what came of it ---------------------------------------------------------------------------- */

/* Of as many values the best one is taken: each interval may fail so much the less. */
static double coverage_of(const struct gmt_try_options *options, enum gmt_fix fix)
{
    unsigned values = 1;
    for (size_t i = 0; options->sweep && i < GMT_TRY_SWEEPS; i++) {
        values += gmt_try_sweeps[i].fix == fix;
    }
    return 1 - (1 - GMT_TRY_COVERAGE) / values;
}

static void make_set(const struct gmt_try_options *options, enum gmt_fix fix,
                     struct gmt_try_outcome *outcome)
{
    outcome->fix = fix;
    outcome->set.fixes[fix] = true;
    outcome->coverage = coverage_of(options, fix);
    (void)snprintf(outcome->name, sizeof(outcome->name), "%s", gmt_fixes[fix].name);
    outcome->has_prediction = gmt_try_predict(fix, outcome);
}

/* The same with each other value of a parameter. Returns how many. */
static size_t make_swept(const struct gmt_try_outcome *standard, struct gmt_try_outcome *swept)
{
    size_t count = 0;
    for (size_t i = 0; i < GMT_TRY_SWEEPS; i++) {
        const struct gmt_try_sweep *sweep = &gmt_try_sweeps[i];
        if (sweep->fix == standard->fix) {
            swept[count] = *standard;
            swept[count].set.swept[sweep->fix] = sweep;
            (void)snprintf(swept[count].name, sizeof(swept[count].name), "%s %s=%lld",
                           gmt_fixes[sweep->fix].name, gmt_fix_parameters[sweep->parameter].name,
                           (long long)sweep->value);
            count++;
        }
    }
    return count;
}

/* All fixes together first, then each by itself. Returns how many sets. */
static size_t make_sets(const struct gmt_try_options *options,
                        struct gmt_try_outcome outcomes[static GMT_TRY_SETS])
{
    size_t wanted = 0, count = 0;
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        wanted += options->wanted[i];
    }
    if (wanted > 1) {
        (void)snprintf(outcomes[0].name, sizeof(outcomes[0].name), "all");
        outcomes[0].fix = GMT_FIX_COUNT;
        outcomes[0].coverage = GMT_TRY_COVERAGE;
        memcpy(outcomes[count++].set.fixes, options->wanted, sizeof(options->wanted));
    }
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        if (options->wanted[i]) {
            make_set(options, (enum gmt_fix)i, &outcomes[count++]);
            count += options->sweep ? make_swept(&outcomes[count - 1], &outcomes[count]) : 0;
        }
    }
    return count;
}

static void judge_all(struct gmt_try_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        gmt_try_judge(report, &report->outcomes[i]);
    }
    gmt_try_sort(report->outcomes, report->count);
}

/* Words as a shell takes them; malloc'ed, NULL: no memory. */
static char *quote(char *const words[])
{
    char *joined = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&joined, &bytes);
    for (size_t i = 0; out != NULL && words[i] != NULL; i++) {
        (void)fprintf(out, "%s%s", i != 0 ? "\x1f" : "", words[i]);
    }
    char *line = out != NULL && fclose(out) == 0 ? gmt_name_shell_quote(joined, bytes, '\x1f')
                                                 : NULL;
    free(joined);
    return line;
}

static char *quote_one(const char *word)
{
    return quote((char *const[]){(char *)word, NULL});
}

/* `gmtrace apply` has all that is proven on at once: just that must have been compared, too. may_run: else, where no run was just that,
 * one fix alone stays proven. */
static int check_together(struct gmt_try_report *report, bool may_run)
{
    static struct gmt_try_outcome probe;
    struct gmt_try_set left;
    struct gmt_try_together *together = &report->together;
    if (gmt_try_proven_set(report, &together->set) < 2) {
        return 0;
    }
    const struct gmt_try_outcome *of = gmt_try_find_set(report, &together->set);
    if (of == NULL) {
        probe = (struct gmt_try_outcome){.set = together->set};
        int failure = may_run ? check_outcome(report->options, report->reference, &probe) : 0;
        if (!may_run || failure != 0) {
            gmt_try_keep_best(report);
            return failure;
        }
        of = &probe;
        judge_all(report); /* an untouched run may have taken back what was proven */
    }
    together->was_run = gmt_try_proven_set(report, &left) > 1;
    together->differs = of->differs;
    together->is_equal = !of->differs && gmt_try_is_compared(report->reference, of) &&
                         gmt_try_is_same_set(&left, &together->set);
    (void)snprintf(together->difference, sizeof(together->difference), "%s",
                   of->differs ? of->difference : "not all of it could be compared");
    if (!together->is_equal) {
        gmt_try_keep_best(report);
    }
    return 0;
}

/* What to do next, as commands. */
static void say_next(const struct gmt_try_report *report)
{
    const struct gmt_try_options *options = report->options;
    char *plan = quote_one(options->output), *program = quote(options->program);
    char *results = options->results != NULL ? quote_one(options->results) : NULL;
    char *trace = quote_one(options->trace != NULL ? options->trace : "trace.db");
    for (size_t i = 0; i < report->count; i++) {
        if (report->outcomes[i].state == GMT_FIX_PROVEN && gmt_try_is_for_plan(report, i) &&
            plan != NULL && program != NULL) {
            gmt_say(stderr, "gmtrace: to keep what is proven: gmtrace apply %s %s\n", plan,
                    program);
            break;
        }
    }
    if (results != NULL && trace != NULL) {
        gmt_say(stderr, "gmtrace: beside the findings of a trace: gmanalyze --tried %s %s\n",
                results, trace);
    }
    free(plan);
    free(program);
    free(results);
    free(trace);
}

static bool was_written(int error, const char *path)
{
    if (error != 0) {
        gmt_say(stderr, "gmtrace: cannot write '%s': %s\n", path, strerror(-error));
    }
    return error == 0;
}

static int report_all(const struct gmt_try_report *report)
{
    bool written = was_written(gmt_try_write_plan(report), report->options->output);
    written = was_written(gmt_try_write_results(report), report->options->results) && written;
    if (report->options->json) {
        written = was_written(gmt_try_print_json(report), "standard output") && written;
    } else {
        gmt_try_print(report);
    }
    if (written) {
        say_next(report);
    }
    return written ? 0 : GMT_EXIT_FAILED;
}

static int64_t realtime_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* 0, or the status to exit with. */
static int run_all(struct gmt_try_report *report, struct gmt_try_reference *reference,
                   double began_s)
{
    int failure = run_reference(report->options, report->count, reference);
    for (size_t i = 0; i < report->count && failure == 0; i++) {
        failure = check_outcome(report->options, reference, &report->outcomes[i]);
    }
    return failure == 0 ? run_turns(report, began_s) : failure;
}

int gmt_launcher_try(char *const argv[])
{
    struct gmt_try_options options;
    struct gmt_try_reference reference = {0};
    static struct gmt_try_outcome outcomes[GMT_TRY_SETS];
    int status;
    gmt_try_open_streams();
    if (gmt_try_parse(argv, &options, &status) != 0) {
        return status;
    }
    if (!gmt_launcher_can_apply(options.program[0]) ||
        (options.trace != NULL && !gmt_try_read_trace(options.trace))) {
        return GMT_EXIT_FAILED;
    }
    struct gmt_try_report report = {.options = &options,
                                    .reference = &reference,
                                    .outcomes = outcomes,
                                    .stopped = "",
                                    .began_ns = realtime_ns()};
    report.count = make_sets(&options, outcomes);
    gmt_try_forget_trace();
    double began_s = now_s();
    gmt_launcher_hold_signals(true);
    int failure = run_all(&report, &reference, began_s);
    bool has_results = failure == 0 || (failure > GMT_EXIT_SIGNAL && report.turns != 0);
    if (has_results) {
        judge_all(&report);
        int together = check_together(&report, failure == 0);
        failure = failure != 0 ? failure : together;
    }
    gmt_launcher_hold_signals(false);
    if (failure > GMT_EXIT_SIGNAL) {
        report.stopped = "interrupted";
        gmt_say(stderr, "gmtrace: interrupted%s\n",
                report.turns != 0 ? "; this is what came of it until then" : "");
    }
    if (has_results) {
        int written = report_all(&report);
        failure = failure != 0 ? failure : written;
    }
    status = reference.status;
    gmt_try_reference_free(&reference);
    return failure != 0 ? failure : gmt_launcher_exit_status(status);
}
