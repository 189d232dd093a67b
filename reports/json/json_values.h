/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the JSON report: what is not known is null, and text of any bytes becomes valid. */
#ifndef GMT_REPORTS_JSON_JSON_VALUES_H
#define GMT_REPORTS_JSON_JSON_VALUES_H

#include <jansson.h>
#include <stdint.h>

#include "reports/model/report.h"

/* Characters of a text that came from a trace; one that is longer ends with an ellipsis. */
enum { GMT_JSON_MAX_TEXT = 16384 };

json_t *gmt_json_text(const char *value); /* one line; NULL: null */
json_t *gmt_json_code(const char *value); /* keeps its lines and its length */
json_t *gmt_json_number(double value);    /* whole numbers stay whole; NAN: null */
json_t *gmt_json_ns(double value);        /* rounded; NAN: null */
json_t *gmt_json_integer(uint64_t value);
json_t *gmt_json_line(int64_t line); /* 0: null */
/* Object of the strings in "key=value;..."; NULL: null. */
json_t *gmt_json_settings(const char *text);
/* An array of the calls. */
json_t *gmt_json_chain(const struct gmt_inline_chain *chain);

#endif
