/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown in place of each column of a trace that may hold a text: redact_columns.def. */
#include "analyzer/redact/redact_columns.h"

#include <stddef.h>
#include <string.h>

#define AS_IT_IS NULL
#define HIDDEN "NULL"
#define BY_USE "NULL" /* redact.c has the expression */

static const struct gmt_redaction redactions[] = {
#define GMT_REDACT(table, column, paths, names) {#table, #column, paths, names, false},
#define GMT_REDACT_WORD(table, column) {#table, #column, NULL, NULL, true},
#include "analyzer/redact/redact_columns.def"
#undef GMT_REDACT
#undef GMT_REDACT_WORD
};

const struct gmt_redaction *gmt_redaction_of(const char *table, const char *column)
{
    for (size_t i = 0; i < sizeof(redactions) / sizeof(redactions[0]); i++) {
        if (strcmp(redactions[i].table, table) == 0 && strcmp(redactions[i].column, column) == 0) {
            return &redactions[i];
        }
    }
    return NULL;
}
