/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of CSV as RFC 4180 has them, in UTF-8. */
#ifndef GMT_REPORTS_CSV_H
#define GMT_REPORTS_CSV_H

#include <stdint.h>
#include <stdio.h>

/* One field, quoted where it must be; unknown text (NULL) is an empty field, empty text is "". */
void gmt_csv_text(FILE *out, const char *text);
void gmt_csv_integer(FILE *out, int64_t value);
void gmt_csv_number(FILE *out, double value); /* NAN: an empty field */

/* Between two fields, and behind the last. */
#define GMT_CSV_NEXT ","
#define GMT_CSV_END "\r\n"

#endif
