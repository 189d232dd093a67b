/* SPDX-License-Identifier: Apache-2.0 */
/* The page with whatever payload: what the writers of pages share. */
#ifndef GMT_REPORTS_HTML_HTML_H
#define GMT_REPORTS_HTML_HTML_H

#include <stdio.h>

#include "reports/html/payload.h"
#include "reports/model/writer.h"

/* `name` goes into the title, `report` (or null) into the payload's head. 0 or negative errno. */
int gmt_html_write(FILE *out, const char *name, const struct gmt_payload *page,
                   const struct gmt_report *report);

extern const struct gmt_writer gmt_writer_html;

#endif
