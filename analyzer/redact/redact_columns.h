/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown in place of each column of a trace that may hold a text: redact_columns.def. */
#ifndef GMT_ANALYZER_REDACT_REDACT_COLUMNS_H
#define GMT_ANALYZER_REDACT_REDACT_COLUMNS_H

#include <stdbool.h>

struct gmt_redaction {
    const char *table, *column;
    const char *paths, *names; /* SQL; NULL: as it is */
    bool is_word;              /* of ours: checked, then shown as it is */
};

/* NULL: the column has no row. */
const struct gmt_redaction *gmt_redaction_of(const char *table, const char *column);

#endif
