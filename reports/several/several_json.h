/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and ranks as JSON objects; docs/json.md documents their shape. */
#ifndef GMT_REPORTS_SEVERAL_SEVERAL_JSON_H
#define GMT_REPORTS_SEVERAL_SEVERAL_JSON_H

#include <jansson.h>

#include "reports/model/comparison.h"
#include "reports/model/ranks.h"

/* New references; NULL: no memory. */
json_t *gmt_json_comparison(const struct gmt_comparison *comparison);
json_t *gmt_json_ranks(const struct gmt_ranks *ranks);

#endif
