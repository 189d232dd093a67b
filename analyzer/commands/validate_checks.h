/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a trace: queries whose rows are what is wrong. */
#ifndef GMT_ANALYZER_COMMANDS_VALIDATE_CHECKS_H
#define GMT_ANALYZER_COMMANDS_VALIDATE_CHECKS_H

#include <sqlite3.h>
#include <stddef.h>

enum gmt_check_state {
    GMT_CHECK_OK,
    GMT_CHECK_SKIPPED, /* the trace is of a version without those tables */
    GMT_CHECK_WARNING, /* something is missing, what is there is right */
    GMT_CHECK_FAILED
};

/* What of our schema a check without SQL of its own asks for. */
enum gmt_check_made_of { GMT_CHECK_OWN_SQL, GMT_CHECK_TYPES, GMT_CHECK_CONSTRAINTS };

struct gmt_check {
    const char *name, *what;    /* `what` is true of a good trace */
    const char *sql;            /* one row per fault, its first column says where */
    enum gmt_check_state state; /* of a trace with a fault */
    enum gmt_check_made_of made_of;
};

/* The statement that looks for faults in `db`; the caller's (sqlite3_free), NULL: no memory. */
char *gmt_check_sql(const struct gmt_check *check, sqlite3 *db);

extern const struct gmt_check gmt_checks[];
extern const size_t gmt_check_count;

#endif
