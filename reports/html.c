/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one self-contained page without scripts, to look at and to mail. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/html_parts.h"
#include "reports/writers.h"
#include "style.h"

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Base64 of the 32 bytes that 64 hex digits stand for: how a content policy wants its hashes. */
static void base64_of_hex(const char *hex, char text[45])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, pending = 0;
    size_t used = 0;

    for (; *hex != '\0'; hex++) {
        pending = pending << 4 | (unsigned)hex_digit(*hex);
        bits += 4;
        if (bits >= 6) {
            bits -= 6;
            text[used++] = alphabet[pending >> bits & 63];
            pending &= (1u << bits) - 1;
        }
    }
    /* 256 bits leave four over: two zero bits and one sign of padding complete them. */
    text[used++] = alphabet[pending << 2 & 63];
    text[used++] = '=';
    text[used] = '\0';
}

static void page_head(FILE *out, const struct gmt_report *r)
{
    char hash[45];

    base64_of_hex(GMT_STYLE_SHA256, hash);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>gmtrace: ",
            hash);
    gmt_html_text(out, r->command != NULL ? r->command : r->trace_path);
    fprintf(out, "</title>\n<style>%s</style></head>\n<body>\n", gmt_style_text);
}

static void tile(FILE *out, const char *name, const char *value, const char *sub, double share)
{
    fputs("<div class=\"tile\">", out);
    gmt_html_element(out, "span", "label", name);
    gmt_html_element(out, "strong", "", value);
    if (isfinite(share))
        gmt_html_bar(out, share, "busy", name);
    gmt_html_element(out, "small", "", sub);
    fputs("</div>\n", out);
}

static void verdict(FILE *out, const struct gmt_report *r)
{
    char value[GMT_FORMAT_BYTES], number[GMT_FORMAT_BYTES], sub[96];

    fputs("<section class=\"tiles\" aria-label=\"verdict\">\n", out);
    snprintf(sub, sizeof(sub), "ended: %s", r->end_reason != NULL ? r->end_reason : "unknown");
    tile(out, "wall time", gmt_format_ns(value, r->wall_ns), sub, NAN);
    tile(out, "GPU busy", gmt_format_percent(value, 100 * r->gpu_busy_ns / r->wall_ns),
         "of the wall time", r->gpu_busy_ns / r->wall_ns);
    snprintf(sub, sizeof(sub), "%s call%s", gmt_format_count(number, (double)r->transfers),
             r->transfers == 1 ? "" : "s");
    tile(out, "copies", gmt_format_ns(value, r->copy_ns), sub, r->copy_ns / r->wall_ns);
    snprintf(sub, sizeof(sub), "%s launch%s", gmt_format_count(number, (double)r->launches),
             r->launches == 1 ? "" : "es");
    tile(out, "kernels", gmt_format_ns(value, r->kernel_ns), sub, r->kernel_ns / r->wall_ns);
    snprintf(sub, sizeof(sub), "%s allocation%s", gmt_format_count(number, r->allocation_count),
             r->allocation_count > 1 ? "s" : "");
    tile(out, "peak device memory", gmt_format_bytes(value, r->peak_device_bytes), sub, NAN);
    snprintf(sub, sizeof(sub), "%" PRIu64 " of %" PRIu64 " kernel classes", r->measured_classes,
             r->kernel_classes);
    tile(out, "measured launches", gmt_format_count(value, (double)r->measured_launches), sub, NAN);
    fputs("</section>\n", out);
}

static void where(FILE *out, const struct gmt_where *w)
{
    fputs("<p class=\"where\">", out);
    if (w->kernel != NULL) {
        gmt_html_element(out, "code", "kernel", w->kernel);
        if (strcmp(w->label, w->kernel) == 0) {
            fputs("</p>\n", out);
            return;
        }
        fputs(" launched at ", out);
    }
    gmt_html_element(out, "code", "", w->label);
    if (w->function != NULL) {
        fputs(" in ", out);
        gmt_html_element(out, "code", "", w->function);
    }
    if (w->api != NULL && w->kernel == NULL)
        gmt_html_element(out, "span", "dim api", w->api);
    fputs("</p>\n", out);
}

static const char *evidence_text(const struct gmt_evidence *e, char *text)
{
    if (strcmp(e->unit, "ns") == 0)
        return gmt_format_ns(text, e->value);
    if (strcmp(e->unit, "bytes") == 0)
        return gmt_format_bytes(text, e->value);
    if (strcmp(e->unit, "bytes_per_s") == 0)
        return gmt_format_rate(text, e->value);
    if (strcmp(e->unit, "percent") == 0)
        return gmt_format_percent(text, e->value);
    if (strcmp(e->unit, "ratio") == 0)
        return gmt_format_decimal(text, e->value, 2);
    return gmt_format_count(text, e->value);
}

static void evidence(FILE *out, const struct gmt_finding *f)
{
    char text[GMT_FORMAT_BYTES], name[64];

    fputs("<details><summary>Evidence</summary><dl class=\"evidence\">\n", out);
    for (size_t i = 0; i < f->evidence_count; i++) {
        snprintf(name, sizeof(name), "%s", f->evidence[i].name);
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        gmt_html_element(out, "dt", "", name);
        gmt_html_element(out, "dd", "", evidence_text(&f->evidence[i], text));
    }
    fputs("</dl>", out);
    if (f->sql != NULL) {
        fputs("<pre class=\"sql\">", out);
        gmt_html_code(out, f->sql);
        fputs("</pre>", out);
    }
    if (f->where.stack_depth > 0) {
        fputs("<ol class=\"stack\">\n", out);
        for (size_t i = 0; i < f->where.stack_depth; i++) {
            const struct gmt_report_frame *frame = &f->where.stack[i];

            fprintf(out, "<li class=\"%s\"><code>", frame->runtime ? "dim" : "");
            /* Names of the static runtime's functions are mere numbers. */
            bool nameless = frame->function == NULL ||
                            strncmp(frame->function, "libcudart_static_", 17) == 0;
            gmt_html_text(out, !nameless        ? frame->function
                               : frame->runtime ? "inside the CUDA runtime"
                                                : "?");
            fputs("</code> ", out);
            if (frame->file != NULL && frame->line > 0) {
                gmt_html_text(out, frame->file);
                fprintf(out, ":%" PRId64, frame->line);
            } else {
                gmt_html_text(out, frame->module);
            }
            fputs("</li>\n", out);
        }
        fputs("</ol>", out);
    }
    fprintf(out, "<p class=\"dim\">effort: %s · fingerprint %s</p></details>\n",
            gmt_effort_name(f->effort), f->fingerprint);
}

/* The cases of a merged finding. */
static void parts(FILE *out, const struct gmt_finding *f)
{
    char time[GMT_FORMAT_BYTES];

    if (f->part_count == 0)
        return;
    fputs("<ul class=\"parts\">", out);
    for (size_t i = 0; i < f->part_count; i++) {
        fputs("<li>", out);
        gmt_html_text(out, f->parts[i].label);
        if (isfinite(f->parts[i].best_ns) && f->parts[i].label != f->parts[i].headline)
            fprintf(out, " <span class=\"dim\">saves %s</span>",
                    gmt_format_ns(time, f->parts[i].best_ns));
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void lines(FILE *out, const struct gmt_report *r, const struct gmt_finding *f)
{
    char share[GMT_FORMAT_BYTES];

    if (f->line_count == 0)
        return;
    fputs("<ul class=\"parts\">", out);
    for (size_t i = 0; i < f->line_count; i++) {
        fputs("<li>", out);
        gmt_html_element(out, "code", "", gmt_line_label(r->arena, &f->lines[i]));
        fputc(' ', out);
        gmt_html_element(out, "code", "dim", f->lines[i].opcode);
        fprintf(out, " <span class=\"dim\">%s of the excess</span></li>\n",
                gmt_format_percent(share, 100 * f->lines[i].share));
    }
    fputs("</ul>\n", out);
}

static void card_saving(FILE *out, const struct gmt_report *r, const struct gmt_finding *f,
                        double scale_ns)
{
    char best[GMT_FORMAT_BYTES], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    char share[GMT_FORMAT_BYTES];

    fputs("<div class=\"saving\">", out);
    if (isnan(f->saving.best_ns)) {
        const char *why = r->simulated ? GMT_SIMULATED_TIME : "not priced";

        if (f->excess_bytes > 0)
            fprintf(out, "<span>for nothing</span><strong>%s</strong><small>%s</small></div>",
                    gmt_format_bytes(best, f->excess_bytes), why);
        else
            fprintf(out, "<strong>%s</strong></div>", why);
        return;
    }
    fprintf(out, "<span>saves</span><strong>%s</strong>", gmt_format_ns(best, f->saving.best_ns));
    gmt_html_interval(out, &f->saving, scale_ns);
    fprintf(out, "<small>%s to %s · %s of the run</small></div>",
            gmt_format_ns(low, f->saving.low_ns), gmt_format_ns(high, f->saving.high_ns),
            gmt_format_percent(share, 100 * f->saving.share));
}

static void card(FILE *out, const struct gmt_report *r, const struct gmt_finding *f,
                 double scale_ns)
{
    fprintf(out, "<article class=\"card %s\" id=\"f-%s\"><div class=\"top\"><div>",
            gmt_severity_name(f->severity), f->fingerprint);
    gmt_html_element(out, "span", "badge", gmt_severity_name(f->severity));
    gmt_html_element(out, "span", "rule", f->rule);
    gmt_html_element(out, "h3", "", f->title);
    where(out, &f->where);
    gmt_html_element(out, "p", "headline", f->headline);
    lines(out, r, f);
    parts(out, f);
    fputs("</div>\n", out);
    card_saving(out, r, f, scale_ns);
    fputs("</div>\n<p class=\"said\"><span class=\"label\">Fix</span><span>", out);
    gmt_html_text(out, f->fix);
    fputs("</span></p>\n", out);
    if (f->sketch != NULL) {
        fputs("<pre>", out);
        gmt_html_code(out, f->sketch);
        fputs("</pre>\n", out);
    }
    fprintf(out, "<p class=\"said dim\"><span class=\"label\">Price</span><span>%s: ",
            gmt_confidence_words(r, f->confidence));
    gmt_html_text(out, f->method);
    fputs("</span></p>\n", out);
    evidence(out, f);
    fputs("</article>\n", out);
}

static void findings(FILE *out, const struct gmt_report *r)
{
    double scale_ns = gmt_html_scale(r);

    if (r->finding_count == 0)
        return;
    fputs("<section id=\"findings\"><h2>Findings</h2>\n", out);
    for (size_t i = 0; i < r->finding_count; i++)
        card(out, r, &r->findings[i], scale_ns);
    fputs("</section>\n", out);
}

static int write_html(const struct gmt_report *report, const struct gmt_writer_options *options,
                      FILE *out)
{
    (void)options;
    page_head(out, report);
    gmt_html_title(out, report);
    fputs("<main>\n", out);
    gmt_html_overview(out, report);
    verdict(out, report);
    findings(out, report);
    gmt_html_notes(out, report);
    gmt_html_races(out, report);
    gmt_html_kernels(out, report);
    gmt_html_transfers(out, report);
    gmt_html_gaps(out, report);
    gmt_html_calibration(out, report);
    fputs("</main><footer class=\"dim\">gmtrace ", out);
    gmt_html_text(out, report->tool_version);
    fputs("</footer></body></html>\n", out);
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_html = {
    .name = "html", .extension = "html", .write = write_html};
