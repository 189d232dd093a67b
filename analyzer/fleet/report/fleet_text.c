/* SPDX-License-Identifier: Apache-2.0 */
/* One screen about a fleet. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/fleet/outliers.h"
#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"

#define MOST_SCORE 1000.0 /* beyond, a number means nothing more */

static const char *value_text(char *text, enum gmt_fleet_unit unit, double value)
{
    switch (unit) {
    case GMT_FLEET_UNIT_NS: return gmt_format_ns(text, value);
    case GMT_FLEET_UNIT_BYTES: return gmt_format_bytes(text, value);
    case GMT_FLEET_UNIT_COUNT:
        return gmt_format_decimal(text, value, value == floor(value) ? 0 : 1);
    /* As the rate that it is: bytes per second. */
    case GMT_FLEET_UNIT_RATE: return gmt_format_rate(text, value > 0 ? 1e15 / value : NAN);
    }
    return "";
}

/* Its empty line: gmt_say makes a space of one at the begin of a text. */
static void begin_section(void)
{
    gmt_say(stdout, "\n");
}

static void print_head(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_result *result = &view->result;
    char step[GMT_FORMAT_BYTES];
    size_t hosts = gmt_fleet_hosts(&view->fleet);

    gmt_say(stdout, "%zu of %zu ranks compared, on %zu host%s", result->compared, view->fleet.count,
            hosts, hosts == 1 ? "" : "s");
    if (result->step_count > 0) {
        gmt_say(stdout, "; %zu steps of %s", result->step_count,
                gmt_format_ns(step, result->spread[GMT_FLEET_STEP].median));
    }
    gmt_say(stdout, "\n");
    if (result->compared < 2) {
        gmt_say(stdout, "There are no two ranks to be compared.\n");
    } else if (result->step_count < GMT_FLEET_LEAST_STEPS) {
        gmt_say(stdout,
                "Fewer than %d steps are common to half of the ranks: only versions and clocks are "
                "compared.\n",
                GMT_FLEET_LEAST_STEPS);
    } else if (result->few_ranks) {
        gmt_say(stdout, "So few ranks show no spread of their own: what is odd among them is what "
                        "persists over the steps.\n");
    } else if (result->few_in_part) {
        gmt_say(stdout,
                "In a part of the run fewer than %d ranks have enough steps: what is odd "
                "there is what persists over them.\n",
                GMT_OUTLIERS_LEAST);
    }
}

static void print_difference(const struct gmt_fleet_view *view,
                             const struct gmt_fleet_difference *difference)
{
    const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[difference->measure];
    const struct gmt_fleet_result *result = &view->result;
    char own[GMT_FORMAT_BYTES], usual[GMT_FORMAT_BYTES];
    bool whole = difference->first_step == result->first_step &&
                 difference->last_step == result->first_step + result->step_count - 1;

    gmt_say(stdout, "    %s: %s", row->what, value_text(own, row->unit, difference->value));
    gmt_say(stdout,
            row->cause == GMT_FLEET_CAUSE_LEAK ? " per step, of the others %s" : ", usual are %s",
            value_text(usual, row->unit, difference->middle));
    if (isinf(difference->score)) {
        gmt_say(stdout, " (the others are equal)");
    } else {
        gmt_say(stdout, " (%s%.*f standard %s, odd from %.1f)",
                fabs(difference->score) > MOST_SCORE ? "over " : "",
                fabs(difference->score) > MOST_SCORE ? 0 : 1,
                fmin(fabs(difference->score), MOST_SCORE),
                difference->by_steps ? "errors over the steps" : "deviations of the others",
                difference->limit);
    }
    if (!whole) {
        gmt_say(stdout, ", steps %zu to %zu", difference->first_step + 1,
                difference->last_step + 1);
    }
    gmt_say(stdout, "\n");
}

static void print_odd(const struct gmt_fleet_view *view, const struct gmt_fleet_odd *odd)
{
    const struct gmt_fleet_rank *rank = &view->fleet.ranks[odd->rank];
    const struct gmt_fleet_wait *wait = &view->waits.ranks[odd->rank];
    double step = view->result.spread[GMT_FLEET_STEP].median;
    char time[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES];

    gmt_say(stdout, "  rank %s on %s: %s\n", gmt_fleet_rank_name(rank),
            rank->host != NULL ? rank->host : "an unknown host",
            gmt_fleet_cause_rows[odd->cause].what);
    if (odd->waited_ns > 0) {
        gmt_say(stdout, "    the others wait %s of each step for it",
                gmt_format_ns(time, odd->waited_ns));
        gmt_say(stdout, step > 0 ? " (%.1f %%)\n" : "\n", odd->waited_ns / step * 100);
    } else if (wait->last * 2 > wait->count) {
        gmt_say(stdout,
                "    it came last in %zu of %zu collectives, %s behind the last but one in "
                "sum\n",
                wait->last, wait->count, gmt_format_ns(time, wait->made_ns));
    }
    if (odd->trait >= 0) {
        gmt_say(stdout, "    %s %s, the others have %s\n", gmt_fleet_trait_word(odd->trait),
                rank->traits[odd->trait], odd->usual);
    }
    if (odd->clock_ns != 0) {
        gmt_say(stdout, "    its clock is %s %s, ± %s\n", gmt_format_ns(time, fabs(odd->clock_ns)),
                odd->clock_ns > 0 ? "behind" : "ahead", gmt_format_ns(error, odd->clock_error_ns));
    }
    for (size_t i = 0; i < odd->difference_count; i++) {
        if (odd->differences[i].measure != GMT_FLEET_COLLECTIVES || odd->difference_count == 1) {
            print_difference(view, &odd->differences[i]);
        }
    }
    gmt_say(stdout, "    %s\n", rank->trace);
}

static void print_all_odd(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_result *result = &view->result;
    size_t shown = gmt_fleet_shown(view, result->odd_count);

    if (result->compared < 2) {
        return;
    }
    begin_section();
    gmt_say(stdout, "%zu odd rank%s", result->odd_count, result->odd_count == 1 ? "" : "s");
    if (!result->few_ranks && !result->few_in_part) {
        gmt_say(stdout, " (of fleets without one, %.0f %% would show one)",
                result->false_alarms * 100);
    }
    gmt_say(stdout, "\n");
    for (size_t i = 0; i < shown; i++) {
        print_odd(view, &result->odd[i]);
    }
    gmt_fleet_text_more(result->odd_count, shown);
}

static void print_spread(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_result *result = &view->result;

    if (result->compared < 2 || result->step_count == 0) {
        return;
    }
    begin_section();
    gmt_say(stdout,
            "Per step, medians of each rank%*s least (rank)      median        most (rank)\n", 21,
            "");
    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[m];
        const struct gmt_fleet_spread *spread = &result->spread[m];
        char least[GMT_FORMAT_BYTES], median[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];
        const char *what = row->cause == GMT_FLEET_CAUSE_LEAK ? "live device memory" : row->what;

        if (isnan(spread->median) || spread->most == 0) {
            continue;
        }
        const char *comma = strchr(what, ',');
        int width = comma != NULL && m == GMT_FLEET_COLLECTIVES ? (int)(comma - what)
                                                                : (int)strlen(what);
        /* Rates are kept as time per size, and printed as size per time. */
        bool turned = row->unit == GMT_FLEET_UNIT_RATE;
        size_t least_rank = turned ? spread->most_rank : spread->least_rank;
        size_t most_rank = turned ? spread->least_rank : spread->most_rank;
        gmt_say(stdout, "  %.*s%*s %10s %-7.7s %10s  %10s %.7s\n", width, what,
                width < 46 ? 46 - width : 0, "",
                value_text(least, row->unit, turned ? spread->most : spread->least),
                gmt_fleet_rank_name(&view->fleet.ranks[least_rank]),
                value_text(median, row->unit, spread->median),
                value_text(most, row->unit, turned ? spread->least : spread->most),
                gmt_fleet_rank_name(&view->fleet.ranks[most_rank]));
    }
}

static void print_memory(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_imbalance *memory = &view->memory;
    char least[GMT_FORMAT_BYTES], median[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];

    if (memory->ranks < 2) {
        return;
    }
    const struct gmt_fleet_rank *rank = &view->fleet.ranks[memory->most_rank];
    begin_section();
    gmt_say(
        stdout,
        "Device memory: peaks of %zu ranks are %s to %s, median %s; rank %s on %s has most, %.2f "
        "times the median\n",
        memory->ranks, gmt_format_bytes(least, memory->least), gmt_format_bytes(most, memory->most),
        gmt_format_bytes(median, memory->median), gmt_fleet_rank_name(rank),
        rank->host != NULL ? rank->host : "an unknown host", memory->most / memory->median);
}

static void print_finding(const struct gmt_fleet_view *view,
                          const struct gmt_common_finding *common)
{
    const struct gmt_fleet_finding *worst = common->worst;
    char total[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];

    gmt_say(stdout, "  %s %s, %s: on %zu of %zu ranks", worst->rule, worst->title, worst->place,
            common->ranks, view->common.analysed);
    if (common->priced > 0) {
        gmt_say(stdout, ", saves %s in sum", gmt_format_ns(total, common->total_ns));
    }
    if (common->priced > 0 && common->total_ns > 0) {
        gmt_say(stdout, ", most on rank %s: %s",
                gmt_fleet_rank_name(&view->fleet.ranks[common->worst_rank]),
                gmt_format_ns(most, worst->saves_ns));
    }
    gmt_say(stdout, common->is_modelled ? " (modelled)\n" : "\n");
}

static void print_findings(const struct gmt_fleet_view *view)
{
    const struct gmt_common_findings *common = &view->common;
    size_t shown = gmt_fleet_shown(view, common->count);

    if (view->fleet.is_parquet) {
        begin_section();
        gmt_say(stdout, "Not asked of Parquet files: findings, copies between ranks\n");
    }
    if (common->analysed == 0) {
        return;
    }
    begin_section();
    gmt_say(stdout, "Findings in the %zu whole trace%s\n", common->analysed,
            common->analysed == 1 ? "" : "s");
    for (size_t i = 0; i < shown; i++) {
        print_finding(view, &common->findings[i]);
    }
    if (common->count == 0) {
        gmt_say(stdout, "  none\n");
    }
    gmt_fleet_text_more(common->count, shown);
}

static void print_changes(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_changes *changes = &view->changes;

    if (view->against == NULL) {
        return;
    }
    begin_section();
    gmt_say(stdout, "Since %s, by %zu ranks of both\n", view->against, changes->paired);
    if (changes->needed > changes->paired) {
        gmt_say(stdout, "  too few to distinguish a change from chance\n");
    } else if (changes->count == 0) {
        gmt_say(stdout, "  nothing changed that is worth a line in %zu ranks or more\n",
                changes->needed);
    }
    for (size_t i = 0; i < changes->count; i++) {
        const struct gmt_fleet_change *change = &changes->changes[i];
        const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[change->measure];
        char before[GMT_FORMAT_BYTES], after[GMT_FORMAT_BYTES];

        gmt_say(stdout, "  %s: %s, before %s, in %zu ranks\n",
                row->cause == GMT_FLEET_CAUSE_LEAK ? "live device memory" : row->what,
                value_text(after, row->unit, change->after),
                value_text(before, row->unit, change->before),
                change->more > change->less ? change->more : change->less);
    }
}

static void print_clocks(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_clocks *clocks = &view->clocks;
    double largest = 0, error = 0;
    size_t corrected = 0;
    char one[GMT_FORMAT_BYTES], two[GMT_FORMAT_BYTES], matched[GMT_FORMAT_BYTES],
        ambiguous[GMT_FORMAT_BYTES];

    for (size_t r = 0; r < view->fleet.count; r++) {
        const struct gmt_fleet_clock *clock = &clocks->ranks[r];

        if (clock->confidence != GMT_FLEET_NO_MATCH) {
            corrected++;
            largest = fmax(largest, fabs(clock->offset_ns));
            error = fmax(error, clock->error_ns);
        }
    }
    if (corrected == 0) {
        begin_section();
        gmt_say(stdout,
                clocks->ambiguous == 0
                    ? "Clocks: no collectives to compare them by\n"
                    : "Clocks: not compared: of %s collectives, ranks have too few in common, or "
                      "their numbers are in doubt\n",
                gmt_format_count(ambiguous, (double)clocks->ambiguous));
        return;
    }
    begin_section();
    gmt_say(stdout,
            "Clocks: %zu ranks compared by %s collectives, %s ambiguous ones left out; furthest "
            "%s off, error ± %s at most\n",
            corrected, gmt_format_count(matched, (double)clocks->matched),
            gmt_format_count(ambiguous, (double)clocks->ambiguous), gmt_format_ns(one, largest),
            gmt_format_ns(two, error));
}

static void begin_left_out(void)
{
    begin_section();
    gmt_say(stdout, "Not compared, or in part\n");
}

static void print_left_out(const struct gmt_fleet_view *view)
{
    size_t count = 0;
    bool is_begun = view->job.missing_count > 0 || view->job.rerun_count > 0;

    gmt_fleet_text_job(view, begin_left_out);
    for (size_t r = 0; r < view->fleet.count; r++) {
        const struct gmt_fleet_rank *rank = &view->fleet.ranks[r];
        const char *why = rank->trouble, *remark = rank->remark;

        if (why == NULL && remark == NULL) {
            continue;
        }
        if (count == 0 && !is_begun) {
            begin_left_out();
        }
        if (view->top == 0 || count < view->top) {
            gmt_say(stdout, "  rank %s, %s: %s%s%s\n", gmt_fleet_rank_name(rank), rank->trace,
                    why != NULL ? why : "", why != NULL && remark != NULL ? "; " : "",
                    remark != NULL ? remark : "");
        }
        count++;
    }
    gmt_fleet_text_more(count, gmt_fleet_shown(view, count));
}

void gmt_fleet_text(const struct gmt_fleet_view *view)
{
    print_head(view);
    print_all_odd(view);
    print_spread(view);
    print_memory(view);
    print_findings(view);
    print_changes(view);
    gmt_fleet_text_traffic(view);
    gmt_fleet_text_direct(view);
    gmt_fleet_text_staged(view);
    print_clocks(view);
    print_left_out(view);
}
