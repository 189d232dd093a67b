/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the html report: escaping, numbers, bars, and its tables. */
#ifndef GMT_REPORTS_HTML_PARTS_H
#define GMT_REPORTS_HTML_PARTS_H

#include <stdio.h>

#include "reports/report.h"

/* Cleaned and escaped, for text and for attribute values in double quotes. NULL prints nothing. */
void gmt_html_text(FILE *out, const char *text);
/* The same, keeping line breaks: for code. */
void gmt_html_code(FILE *out, const char *code);
/* <tag class="...">text</tag> */
void gmt_html_element(FILE *out, const char *tag, const char *class, const char *text);
/* A bar of share 0..1 as inline SVG (no style attributes: the policy forbids them). */
void gmt_html_bar(FILE *out, double share, const char *class, const char *label);
/* A right-aligned cell. */
void gmt_html_number(FILE *out, const char *text);

/* The saving on a scale: its bar, and the interval in which it lies. Nothing where it is unknown. */
void gmt_html_interval(FILE *out, const struct gmt_saving *saving, double scale_ns);
/* The highest saving that any finding may bring: the common scale of all intervals. */
double gmt_html_scale(const struct gmt_report *report);

void gmt_html_title(FILE *out, const struct gmt_report *report);
void gmt_html_overview(FILE *out, const struct gmt_report *report);
void gmt_html_transfers(FILE *out, const struct gmt_report *report);
void gmt_html_kernels(FILE *out, const struct gmt_report *report);
void gmt_html_notes(FILE *out, const struct gmt_report *report);
void gmt_html_races(FILE *out, const struct gmt_report *report);
void gmt_html_gaps(FILE *out, const struct gmt_report *report);
void gmt_html_calibration(FILE *out, const struct gmt_report *report);

#endif
