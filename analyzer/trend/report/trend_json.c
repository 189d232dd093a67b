/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, for scripts; docs/trend.schema.json describes it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/trend/report/trend_write.h"
#include "libtrace/base/memory_short.h"
#include "reports/json/json_stream.h"
#include "reports/json/json_values.h"

static json_t *day_of(const struct gmt_trend_run *run)
{
    char day[16];

    return run->start_ns != 0 ? gmt_json_text(gmt_trend_day(day, run->start_ns)) : json_null();
}

static json_t *of_run(const struct gmt_trend_run *run)
{
    return json_pack("{so, so, so, so, so, so}", "trace", gmt_json_text(run->trace), "commit",
                     gmt_json_text(run->commit), "day", day_of(run), "start_ns",
                     run->start_ns != 0 ? json_integer(run->start_ns) : json_null(), "host",
                     gmt_json_text(run->host), "gmtrace", gmt_json_text(run->tool));
}

static json_t *of_machine(const struct gmt_trend_program *program)
{
    return json_pack("{so, so, so, so, so}", "program", gmt_json_text(program->name), "executable",
                     gmt_json_text(program->exe), "rank", gmt_json_text(program->rank), "device",
                     gmt_json_text(program->device), "driver", gmt_json_text(program->driver));
}

static json_t *of_change(const struct gmt_trend *trend, const struct gmt_trend_change *change)
{
    static const char *const kinds[] = {[GMT_TREND_OF_MEASURE] = "measure",
                                        [GMT_TREND_OF_FINDING] = "finding",
                                        [GMT_TREND_OF_GAIN] = "gain"};
    const struct gmt_trend_program *program = &trend->programs[change->program];
    const struct gmt_trend_finding *finding = change->finding;
    const struct gmt_trend_row *row = finding == NULL ? &gmt_trend_rows[change->measure] : NULL;
    json_t *json = of_machine(program);

    json_object_set_new(json, "of", gmt_json_text(kinds[change->of]));
    json_object_set_new(json, "measure", gmt_json_text(row != NULL ? row->name : NULL));
    json_object_set_new(json, "unit",
                        gmt_json_text(row != NULL                       ? gmt_kind_unit(row->kind)
                                      : change->of == GMT_TREND_OF_GAIN ? "ns"
                                                                        : "count"));
    json_object_set_new(json, "rule", gmt_json_text(finding != NULL ? finding->rule : NULL));
    json_object_set_new(json, "fingerprint",
                        gmt_json_text(finding != NULL ? finding->fingerprint : NULL));
    json_object_set_new(json, "headline",
                        gmt_json_text(finding != NULL ? finding->headline : NULL));
    json_object_set_new(json, "place", gmt_json_text(finding != NULL ? finding->place : NULL));
    json_object_set_new(json, "verdict",
                        gmt_json_text(change->is_worse    ? "worse"
                                      : change->is_better ? "better"
                                                          : "other"));
    json_object_set_new(json, "before", gmt_json_number(change->before));
    json_object_set_new(json, "after", gmt_json_number(change->after));
    json_object_set_new(json, "p", gmt_json_number(change->p));
    json_object_set_new(json, "run", of_run(&program->runs[change->run]));
    json_object_set_new(json, "run_before", of_run(&program->runs[change->previous]));
    return json;
}

static json_t *of_point(const struct gmt_trend_run *run)
{
    json_t *json = of_run(run);

    for (int m = 0; m < GMT_TREND_MEASURES; m++) {
        json_object_set_new(json, gmt_trend_rows[m].name, gmt_json_number(run->values[m]));
    }
    json_object_set_new(json, "findings", gmt_json_integer(run->finding_count));
    return json;
}

static json_t *of_program(const struct gmt_trend_program *program)
{
    json_t *json = of_machine(program), *points = json_array();

    for (size_t r = 0; r < program->count; r++) {
        json_array_append_new(points, of_point(&program->runs[r]));
    }
    json_object_set_new(json, "judged", json_boolean(gmt_trend_tests(program->count) > 0));
    json_object_set_new(json, "left_out", gmt_json_integer(program->left_out));
    json_object_set_new(json, "runs", points);
    return json;
}

void gmt_trend_json(const struct gmt_trend_view *view)
{
    const struct gmt_trend *trend = &view->trend;
    json_t *root = json_object(), *changes = json_array(), *programs = json_array(),
           *unread = json_array();

    for (size_t i = 0; i < trend->change_count; i++) {
        json_array_append_new(changes, of_change(trend, &trend->changes[i]));
    }
    for (size_t p = 0; p < trend->program_count; p++) {
        json_array_append_new(programs, of_program(&trend->programs[p]));
    }
    for (size_t i = trend->compared; i < trend->count; i++) {
        json_array_append_new(unread,
                              json_pack("{so, so}", "trace", gmt_json_text(trend->runs[i].trace),
                                        "why_not", gmt_json_text(trend->runs[i].trouble)));
    }
    json_object_set_new(root, "format", json_string("gmtrace-trend"));
    json_object_set_new(root, "version", json_integer(1));
    json_object_set_new(root, "since", gmt_json_text(view->since));
    json_object_set_new(root, "compared", gmt_json_integer(trend->compared));
    json_object_set_new(root, "false_alarms", gmt_json_number(trend->false_alarms));
    json_object_set_new(root, "series", gmt_json_integer(trend->series));
    json_object_set_new(root, "changes", changes);
    json_object_set_new(root, "programs", programs);
    json_object_set_new(root, "not_compared", unread);
    /* With a part missing it would look whole. */
    if (!gmt_memory_short()) {
        json_dumpf(root, stdout, GMT_JSON_INDENTED);
        putchar('\n');
    }
    json_decref(root);
}
