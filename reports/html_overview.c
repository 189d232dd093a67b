/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen of the html report: what ran, what could be saved, and the ranked findings. */
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/html_parts.h"

/* The command without the directory of its program; quoted ones stay as they are. */
static const char *short_command(const struct gmt_report *r)
{
    const char *command = r->command != NULL ? r->command : r->trace_path;
    const char *end = command + strcspn(command, " '\"");

    while (end > command && end[-1] != '/')
        end--;
    return end;
}

static void dotted(FILE *out, const char *text)
{
    if (text == NULL)
        return;
    fputs(" · ", out);
    gmt_html_text(out, text);
}

void gmt_html_title(FILE *out, const struct gmt_report *r)
{
    fputs("<header><p class=\"brand\">gmtrace</p><h1>", out);
    gmt_html_text(out, short_command(r));
    fputs("</h1><p class=\"dim\">", out);
    gmt_html_text(out, r->device_name != NULL ? r->device_name : "no GPU recorded");
    if (r->compute_capability != NULL) {
        fputs(", compute ", out);
        gmt_html_text(out, r->compute_capability);
    }
    if (r->driver_version != NULL) {
        fputs(", driver ", out);
        gmt_html_text(out, r->driver_version);
    }
    dotted(out, r->hostname);
    dotted(out, r->exe);
    dotted(out, r->trace_path);
    fputs("</p>", out);
    if (r->simulated)
        gmt_html_element(out, "p", "device", GMT_SIMULATED_BADGE);
    fputs("</header>\n", out);
}

void gmt_html_interval(FILE *out, const struct gmt_saving *saving, double scale_ns)
{
    double best = 100 * fmin(1, saving->best_ns / scale_ns);
    double low = 100 * fmin(1, saving->low_ns / scale_ns);
    double high = 100 * fmin(1, saving->high_ns / scale_ns);
    char from[GMT_FORMAT_BYTES], to[GMT_FORMAT_BYTES];

    if (!isfinite(best) || !isfinite(low) || !isfinite(high))
        return;
    fprintf(out,
            "<svg class=\"interval\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"between %s and %s\">"
            "<rect class=\"back\" width=\"100\" height=\"10\"/>"
            "<rect class=\"doubt\" x=\"%.2f\" width=\"%.2f\" height=\"10\"/>"
            "<rect class=\"fill\" y=\"3\" width=\"%.2f\" height=\"4\"/></svg>",
            gmt_format_ns(from, saving->low_ns), gmt_format_ns(to, saving->high_ns), low,
            fmax(0.4, high - low), fmax(0.4, best));
}

double gmt_html_scale(const struct gmt_report *r)
{
    double scale_ns = 0;

    for (size_t i = 0; i < r->finding_count; i++)
        scale_ns = fmax(scale_ns, r->findings[i].saving.high_ns);
    return scale_ns;
}

/* What tells a person most in few characters. */
static const char *place(const struct gmt_finding *f)
{
    const struct gmt_where *w = &f->where;

    if (w->kernel != NULL)
        return w->kernel;
    return w->file == NULL && w->function != NULL ? w->function : w->label;
}

static void row(FILE *out, const struct gmt_report *r, const struct gmt_finding *f, double scale_ns)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    fprintf(out, "<li class=\"%s\"><a href=\"#f-%s\"><span class=\"what\">",
            gmt_severity_name(f->severity), f->fingerprint);
    gmt_html_element(out, "b", "", f->title);
    gmt_html_element(out, "code", "", place(f));
    fputs("</span>", out);
    if (isfinite(f->saving.best_ns)) {
        gmt_html_interval(out, &f->saving, scale_ns);
        fprintf(out, "<span class=\"much\"><b>%s</b> <small>%s</small></span>",
                gmt_format_ns(time, f->saving.best_ns),
                gmt_format_percent(share, 100 * f->saving.share));
    } else {
        const char *why = r->simulated ? GMT_SIMULATED_TIME : "not priced";

        fputs("<span></span><span class=\"much\">", out);
        if (f->excess_bytes > 0)
            fprintf(out, "<b>%s</b> <small>for nothing</small>",
                    gmt_format_bytes(time, f->excess_bytes));
        else
            fprintf(out, "<small>%s</small>", why);
        fputs("</span>", out);
    }
    fputs("</a></li>\n", out);
}

void gmt_html_overview(FILE *out, const struct gmt_report *r)
{
    char saved[GMT_FORMAT_BYTES], wall[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    double scale_ns = gmt_html_scale(r);

    fputs("<section class=\"overview\" id=\"overview\">", out);
    if (r->finding_count == 0) {
        fprintf(out,
                "<p class=\"hero\"><strong>No findings.</strong> Nothing that was checked %s.</p>"
                "</section>\n",
                r->simulated ? "does a noticeable part of its work for nothing"
                             : "would save a noticeable part of the run");
        return;
    }
    if (r->combined.best_ns > 0)
        fprintf(
            out,
            "<p class=\"hero\"><strong>%s</strong> of the run could be saved: about %s of %s, by "
            "%zu finding%s.</p>\n",
            gmt_format_percent(share, 100 * r->combined.share),
            gmt_format_ns(saved, r->combined.best_ns), gmt_format_ns(wall, r->wall_ns),
            r->finding_count, r->finding_count == 1 ? "" : "s");
    else
        fprintf(out, "<p class=\"hero\"><strong>%zu</strong> finding%s%s.</p>\n", r->finding_count,
                r->finding_count == 1 ? "" : "s",
                r->simulated ? ", ranked by excess work" : ", none of them priced");
    fputs("<ol class=\"ranking\">\n", out);
    for (size_t i = 0; i < r->finding_count; i++)
        row(out, r, &r->findings[i], scale_ns);
    fputs("</ol>", out);
    if (scale_ns > 0)
        fputs(
            "<p class=\"dim legend\">Bars: the saving that each would bring alone, and how far it "
            "may be off. Savings that overlap count once in the sum.</p>",
            out);
    fputs("</section>\n", out);
}
