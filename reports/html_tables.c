/* SPDX-License-Identifier: Apache-2.0 */
/* The html report below its findings: notes, transfers, kernels, calibration, gaps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/html_parts.h"

static void bucket_text(double bytes, char *text, size_t capacity)
{
    char limit[GMT_FORMAT_BYTES];

    if (isfinite(bytes))
        snprintf(text, capacity, "≤ %s", gmt_format_bytes(limit, bytes));
    else
        snprintf(text, capacity, "larger");
}

void gmt_html_transfers(FILE *out, const struct gmt_report *r)
{
    double longest = 0;
    char text[GMT_FORMAT_BYTES], bucket[64];

    if (r->copy_row_count == 0)
        return;
    for (size_t i = 0; i < r->copy_row_count; i++)
        longest = fmax(longest, r->copy_rows[i].time_ns);
    fputs("<section id=\"transfers\"><h2>Transfers</h2><div class=\"scroll\"><table><thead><tr>"
          "<th>direction</th><th>host memory</th><th>size</th><th class=\"n\">copies</th>"
          "<th class=\"n\">bytes</th><th class=\"n\">time</th><th class=\"n\">rate</th>"
          "<th class=\"wide\"></th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->copy_row_count; i++) {
        const struct gmt_transfer_row *row = &r->copy_rows[i];

        bucket_text(row->bucket_bytes, bucket, sizeof(bucket));
        fputs("<tr>", out);
        gmt_html_element(out, "td", "", row->direction);
        gmt_html_element(out, "td", strcmp(row->host_class, "pageable") == 0 ? "warn" : "",
                         row->host_class);
        gmt_html_element(out, "td", "", bucket);
        gmt_html_number(out, gmt_format_count(text, (double)row->count));
        gmt_html_number(out, gmt_format_bytes(text, row->bytes));
        gmt_html_number(out, gmt_format_ns(text, row->time_ns));
        gmt_html_number(out, gmt_format_rate(text, row->bytes * 1e9 / row->time_ns));
        fputs("<td class=\"wide\">", out);
        gmt_html_bar(out, row->time_ns / longest, "time", "share of copy time");
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div></section>\n", out);
}

static void kernel_shape(const struct gmt_kernel_row *k, char *text, size_t bytes)
{
    snprintf(text, bytes,
             "%" PRId64 "×%" PRId64 "×%" PRId64 " blocks of %" PRId64 "×%" PRId64 "×%" PRId64,
             k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2]);
}

static void kernel_row(FILE *out, const struct gmt_kernel_row *k)
{
    char text[GMT_FORMAT_BYTES], other[GMT_FORMAT_BYTES], shape[160];

    kernel_shape(k, shape, sizeof(shape));
    fputs("<tr><td class=\"name\"><code>", out);
    gmt_html_text(out, k->name);
    fputs("</code>", out);
    gmt_html_element(out, "small", "", shape);
    if (k->occupancy != NULL && k->occupancy->lift != NULL)
        gmt_html_element(out, "small", "", k->occupancy->lift);
    fputs("</td>", out);
    gmt_html_number(out, gmt_format_count(text, (double)k->launches));
    gmt_html_number(out, gmt_format_ns(text, k->device_ns));
    gmt_html_number(out, gmt_format_percent(text, 100 * k->share));
    gmt_html_element(out, "td", k->load_efficiency < 50 ? "n warn" : "n",
                     gmt_format_percent(text, k->load_efficiency));
    gmt_html_element(out, "td", k->store_efficiency < 50 ? "n warn" : "n",
                     gmt_format_percent(text, k->store_efficiency));
    gmt_html_element(out, "td", k->shared_ways >= 2 ? "n warn" : "n",
                     gmt_format_decimal(text, k->shared_ways, 1));
    gmt_format_percent(text, 100 * k->achieved_occupancy);
    gmt_format_percent(other, 100 * k->theoretical_occupancy);
    fputs("<td class=\"n\">", out);
    fprintf(out, "%s <span class=\"dim\">of %s</span></td>", text, other);
    gmt_html_number(out, gmt_format_rate(text, k->dram_bytes_per_s));
    fputs("</tr>\n", out);
}

void gmt_html_kernels(FILE *out, const struct gmt_report *r)
{
    if (r->kernel_count == 0)
        return;
    fputs("<section id=\"kernels\"><h2>Kernels</h2><div class=\"scroll\"><table><thead><tr>"
          "<th>kernel</th><th class=\"n\">launches</th><th class=\"n\">time</th>"
          "<th class=\"n\">of run</th><th class=\"n\">load efficiency</th>"
          "<th class=\"n\">store efficiency</th><th class=\"n\">bank conflict ways</th>"
          "<th class=\"n\">occupancy</th><th class=\"n\">DRAM</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->kernel_count; i++)
        kernel_row(out, &r->kernels[i]);
    fputs("</tbody></table></div><p class=\"dim\">Efficiency: bytes asked for / bytes of the "
          "sectors touched. n-way: passes through shared memory / ideal. Occupancy: achieved of "
          "theoretical. An en dash: not measured.</p></section>\n",
          out);
}

void gmt_html_notes(FILE *out, const struct gmt_report *r)
{
    if (r->note_count == 0)
        return;
    fputs("<section id=\"notes\"><h2>Notes</h2><p class=\"dim\">Seen, but not worth a change."
          "</p><ul class=\"plain\">\n",
          out);
    for (size_t i = 0; i < r->note_count; i++) {
        const struct gmt_finding *f = &r->notes[i];

        fputs("<li>", out);
        gmt_html_element(out, "span", "rule", f->rule);
        fputs(" <code>", out);
        gmt_html_text(out, f->where.kernel != NULL ? f->where.kernel : f->where.label);
        fputs("</code> ", out);
        gmt_html_text(out, f->headline);
        gmt_html_element(out, "span", "dim why", f->note_why);
        fputs("</li>\n", out);
    }
    fputs("</ul></section>\n", out);
}

void gmt_html_races(FILE *out, const struct gmt_report *r)
{
    char text[GMT_FORMAT_BYTES];

    if (r->race_count == 0)
        return;
    fputs("<section id=\"races\"><h2>Races in shared memory</h2><p class=\"dim\">Two accesses to "
          "one word, one of them a store, without a barrier between.</p><ul class=\"plain\">\n",
          out);
    for (size_t i = 0; i < r->race_count; i++) {
        const struct gmt_race_row *race = &r->races[i];

        fputs("<li>", out);
        gmt_html_element(out, "code", "", race->kernel);
        fputs(" ", out);
        gmt_html_element(out, "code", "", gmt_line_label(r->arena, &race->first));
        fputs(" and ", out);
        gmt_html_element(out, "code", "", gmt_line_label(r->arena, &race->second));
        fprintf(out, " <span class=\"dim\">%s ×</span></li>\n",
                gmt_format_count(text, race->count));
    }
    fputs("</ul></section>\n", out);
}

void gmt_html_gaps(FILE *out, const struct gmt_report *r)
{
    if (r->gap_count == 0)
        return;
    fputs("<section id=\"gaps\"><h2>Could not check</h2><dl>\n", out);
    for (size_t i = 0; i < r->gap_count; i++) {
        const struct gmt_gap *gap = &r->gaps[i];

        gmt_html_element(out, "dt", "", gap->what);
        fputs("<dd>", out);
        gmt_html_text(out, gap->why);
        if (gap->remedy != NULL) {
            fputs(" <span class=\"dim\">", out);
            gmt_html_text(out, gap->remedy);
            fputs("</span>", out);
        }
        fputs("</dd>\n", out);
    }
    fputs("</dl></section>\n", out);
}

static void fact(FILE *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    gmt_html_element(out, "dt", "", name);
    gmt_html_element(out, "dd", "", value);
}

void gmt_html_calibration(FILE *out, const struct gmt_report *r)
{
    static const char *const meaning[] = {
        [GMT_MODEL_NONE] = "There is no device model: nothing could be priced.",
        [GMT_MODEL_MODELLED] = "Prices come from the figures of another kind of GPU.",
        [GMT_MODEL_SHIPPED] =
            "Prices come from the figures of such a GPU elsewhere; gmcalibrate measures this one.",
        [GMT_MODEL_OTHER_BOARD] = "Prices were measured on another board of the same name.",
        [GMT_MODEL_CALIBRATED] = "Prices were measured on this very board."};

    fputs("<section id=\"calibration\"><h2>Prices</h2><p>", out);
    fputs(r->simulated ? "None: the software device executes on the CPU, its times mean nothing "
                         "for a GPU."
                       : meaning[r->model_provenance],
          out);
    fputs(r->model_noisy ? " The device was busy or throttled meanwhile.</p><dl>" : "</p><dl>",
          out);
    fact(out, "measured on", r->model_device);
    fact(out, "at", r->model_created);
    fact(out, "model", r->model_origin);
    fputs("</dl><details><summary>Rules</summary><div class=\"scroll\"><table><tbody>\n", out);
    for (size_t i = 0; i < r->rule_count; i++) {
        const struct gmt_rule_result *rule = &r->rules[i];

        fputs("<tr>", out);
        gmt_html_element(out, "td", "rule", rule->id);
        gmt_html_element(out, "td", "", rule->slug);
        gmt_html_element(out, "td", rule->outcome == GMT_OUTCOME_FAIL ? "warn" : "",
                         gmt_outcome_name(rule->outcome));
        gmt_html_element(out, "td", "dim", rule->why);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details></section>\n", out);
}
