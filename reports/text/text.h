/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text for a terminal. */
#ifndef GMT_REPORTS_TEXT_TEXT_H
#define GMT_REPORTS_TEXT_TEXT_H

#include "reports/model/writer.h"

enum { GMT_TEXT_LINES = 60 }; /* what one looks through at a terminal */

extern const struct gmt_writer gmt_writer_text;

#endif
