/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and ranks as JSON: for scripts, and for the page. */
#include "reports/several/several_json.h"

#include <math.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/words.h"

static json_t *of_trace(const struct gmt_summary *trace)
{
    return json_pack("{so, so, so, so, so, so, sb}", "trace", gmt_json_text(trace->trace_path),
                     "command", gmt_json_text(trace->command), "hostname",
                     gmt_json_text(trace->hostname), "rank", gmt_json_text(trace->rank), "device",
                     gmt_json_text(trace->device_name), "driver_version",
                     gmt_json_text(trace->driver_version), "software", (int)trace->simulated);
}

static json_t *of_finding(const struct gmt_finding *f)
{
    if (f == NULL) {
        return json_null();
    }
    json_t *json = json_pack(
        "{ss, ss, so, s{so, so, so, so, so}, so, so}", "severity", gmt_severity_name(f->severity),
        "fingerprint", f->fingerprint, "headline", gmt_json_text(f->headline), "where", "label",
        gmt_json_text(f->where.label), "function", gmt_json_text(f->where.function), "file",
        gmt_json_text(f->where.file), "line", gmt_json_line(f->where.line), "kernel",
        gmt_json_text(f->where.kernel), "saving", gmt_json_saving(&f->saving), "excess_bytes",
        f->excess_bytes > 0 ? gmt_json_number(f->excess_bytes) : json_null());
    if (f->tried != NULL) {
        json_object_set_new(json, "tried", gmt_json_tried(f->tried));
    }
    return json;
}

/* A share of INFINITY, "none before", is null, too: a and b show it. */
static json_t *of_share(double share)
{
    return isfinite(share) ? json_real(share) : json_null();
}

static json_t *head_of_figure(int i)
{
    const struct gmt_figure_row *row = &gmt_figure_rows[i];

    return json_pack("{ss, ss, ss, sb}", "name", row->name, "label", row->label, "unit",
                     gmt_kind_unit(row->kind), "gated", (int)row->gated);
}

static json_t *of_part(const struct gmt_part_sum *sum)
{
    if (sum->name == NULL) {
        return json_null();
    }
    return json_pack("{so, so, so}", "count", gmt_json_number(sum->count), "bytes",
                     gmt_json_number(sum->bytes), "time_ns", gmt_json_ns(sum->time_ns));
}

static json_t *of_parts(const struct gmt_part_change *rows, size_t n)
{
    json_t *json = json_array();

    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i].a.name != NULL ? rows[i].a.name : rows[i].b.name;

        json_array_append_new(json, json_pack("{so, so, so}", "name", gmt_json_text(name), "a",
                                              of_part(&rows[i].a), "b", of_part(&rows[i].b)));
    }
    return json;
}

static json_t *of_result(const struct gmt_result *result)
{
    return json_pack("{so, so, s{so, so, so}, so, so, sI, sI, sI}", "sentence",
                     gmt_json_text(result->sentence), "note", gmt_json_text(result->note),
                     "predicted", "low_ns", gmt_json_ns(result->predicted_low_ns), "best_ns",
                     gmt_json_ns(result->predicted_ns), "high_ns",
                     gmt_json_ns(result->predicted_high_ns), "got_ns", gmt_json_ns(result->got_ns),
                     "noise_ns", gmt_json_ns(result->noise_ns), "fixed", (json_int_t)result->fixed,
                     "left", (json_int_t)result->left, "new", (json_int_t)result->fresh);
}

json_t *gmt_json_comparison(const struct gmt_comparison *c)
{
    json_t *figures = json_array(), *findings = json_array();

    for (int i = 0; i < GMT_FIGURES; i++) {
        const struct gmt_figure_change *f = &c->figures[i];
        json_t *figure = head_of_figure(i);
        json_t *rest = json_pack("{so, so, so, so, ss}", "a", gmt_json_number(f->a), "b",
                                 gmt_json_number(f->b), "change", of_share(f->share), "noise",
                                 of_share(f->noise), "verdict", gmt_change_name(f->change));

        json_object_update(figure, rest);
        json_decref(rest);
        json_array_append_new(figures, figure);
    }
    for (size_t i = 0; i < c->finding_count; i++) {
        const struct gmt_finding_change *f = &c->findings[i];
        const struct gmt_finding *one = f->b != NULL ? f->b : f->a;

        json_array_append_new(findings, json_pack("{ss, ss, ss, ss, ss, so, so, so}", "state",
                                                  gmt_fate_name(f->fate), "why", f->why, "rule",
                                                  one->rule, "slug", one->slug, "title", one->title,
                                                  "a", of_finding(f->a), "b", of_finding(f->b),
                                                  "got_ns", gmt_json_ns(f->got_ns)));
    }
    return json_pack("{ss, si, ss, ss, so, so, so, so, so, so, so, so, so}", "format",
                     "gmtrace-diff", "version", 1, "schema_version", "1.2", "tool_version",
                     GMT_VERSION, "a", of_trace(c->a), "b", of_trace(c->b), "warning",
                     gmt_json_text(c->warning), "result", of_result(&c->result), "figures", figures,
                     "findings", findings, "kernels", of_parts(c->kernels, c->kernel_count),
                     "copies", of_parts(c->copies, c->copy_count), "memory",
                     of_parts(c->holders, c->holder_count));
}

static json_t *of_rank_figure(const struct gmt_ranks *ranks, int i)
{
    const struct gmt_rank_figure *f = &ranks->figures[i];
    json_t *values = json_array(), *odd = json_array(), *figure = head_of_figure(i);

    for (size_t t = 0; t < ranks->count; t++) {
        json_array_append_new(values, gmt_json_number(ranks->traces[t].values[i]));
        if (f->known > 0 && gmt_rank_is_odd(f, t)) {
            json_array_append_new(odd, json_integer((json_int_t)t));
        }
    }
    json_t *rest = json_pack("{so, so, so, so, so}", "min", gmt_json_number(f->min), "median",
                             gmt_json_number(f->median), "max", gmt_json_number(f->max), "values",
                             values, "odd", odd);
    json_object_update(figure, rest);
    json_decref(rest);
    return figure;
}

static json_t *of_rank_finding(const struct gmt_rank_finding *merged)
{
    json_t *traces = json_array();

    for (size_t i = 0; i < merged->count; i++) {
        json_array_append_new(traces, json_integer((json_int_t)merged->traces[i]));
    }
    return json_pack("{ss, ss, ss, so, so, so, so, so}", "rule", merged->largest->rule, "slug",
                     merged->largest->slug, "title", merged->largest->title, "largest",
                     of_finding(merged->largest), "traces", traces, "min_ns",
                     gmt_json_ns(merged->min_ns), "median_ns", gmt_json_ns(merged->median_ns),
                     "max_ns", gmt_json_ns(merged->max_ns));
}

json_t *gmt_json_ranks(const struct gmt_ranks *ranks)
{
    json_t *traces = json_array(), *figures = json_array(), *findings = json_array();

    for (size_t i = 0; i < ranks->count; i++) {
        json_array_append_new(traces, of_trace(&ranks->traces[i]));
    }
    for (int i = 0; i < GMT_FIGURES; i++) {
        json_array_append_new(figures, of_rank_figure(ranks, i));
    }
    for (size_t i = 0; i < ranks->finding_count; i++) {
        json_array_append_new(findings, of_rank_finding(&ranks->findings[i]));
    }
    return json_pack("{ss, si, ss, ss, so, so, so, so}", "format", "gmtrace-ranks", "version", 1,
                     "schema_version", "1.0", "tool_version", GMT_VERSION, "traces", traces, "odd",
                     ranks->odd < ranks->count ? json_integer((json_int_t)ranks->odd) : json_null(),
                     "figures", figures, "findings", findings);
}
