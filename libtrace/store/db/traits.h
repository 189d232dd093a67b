/* SPDX-License-Identifier: Apache-2.0 */
/* What a call means (libtrace/record/traits.h): of a function by its name, and as a condition in SQL. */
#ifndef GMT_STORE_DB_TRAITS_H
#define GMT_STORE_DB_TRAITS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/traits.h"

/* SQL: `column` has one of these traits (GMT_TRAIT_..., or several with | in between). Whoever joins many calls
 * asks api first: "api_id IN (SELECT id FROM api WHERE " GMT_SQL_HAS("traits", ...) ")". */
#define GMT_SQL_HAS(column, traits) "(" column " & (" GMT_SQL_NUMBER(traits) "))"
#define GMT_SQL_NUMBER(number) GMT_SQL_TEXT(number)
#define GMT_SQL_TEXT(text) #text

/* The traits in the row of the hooked function of that name; 0: there is none. */
uint32_t gmt_traits_of(const char *name, size_t bytes);

/* Makes that the function gmt_traits(name) of this connection. 0 or negative errno. */
int gmt_traits_register(sqlite3 *db);

/* SQL that gives the traits of a row of the trace's own table api, also where the table lacks the column, or the
 * row has none, since an earlier version wrote it: then it calls gmt_traits(name). */
const char *gmt_traits_column(sqlite3 *db);

/* Where that is not just the column: hide the table by a view that has it. 0 or negative errno. */
int gmt_traits_complete(sqlite3 *db);

#endif
