/* SPDX-License-Identifier: Apache-2.0 */
/* Values of reports as JSON: what is unknown becomes null, and text of traces valid UTF-8. */
#ifndef GMT_REPORTS_JSON_VALUES_H
#define GMT_REPORTS_JSON_VALUES_H

#include <jansson.h>

json_t *gmt_json_text(const char *text);  /* without control characters; NULL: null */
json_t *gmt_json_lines(const char *text); /* keeps the ends of lines */
json_t *gmt_json_number(double value);    /* whole numbers without a fraction; NAN: null */
json_t *gmt_json_ns(double ns);           /* rounded; NAN: null */

#endif
