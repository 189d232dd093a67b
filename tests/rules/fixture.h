/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic trace in memory, analysed: schema.sql + common.sql + one fixture, with model.json. */
#ifndef GMT_TESTS_RULES_FIXTURE_H
#define GMT_TESTS_RULES_FIXTURE_H

#include "analyzer/run/analysis.h"

struct gmt_fixture {
    sqlite3 *db;
    struct gmt_arena arena;
    struct gmt_timeline timeline;
    struct gmt_model model;
    struct gmt_report report;
};

/* name as in tests/rules/<name>.sql. Fails the running test when anything goes wrong. */
void gmt_fixture_load(struct gmt_fixture *fixture, const char *name);
/* The fixture that the rule speaks of, changed by `sql`. */
void gmt_fixture_load_positive(struct gmt_fixture *fixture, const char *rule, const char *sql);
/* After gmt_fixture_load; NULL: all rules. */
void gmt_fixture_analyze(struct gmt_fixture *fixture, const char *rule);
void gmt_fixture_analyze_by(struct gmt_fixture *fixture, const char *const *rules, size_t count);
/* gmt_fixture_analyze, and the one finding that there must be. */
const struct gmt_finding *gmt_fixture_only(struct gmt_fixture *fixture, const char *rule);
/* What was found, for the message of an assertion: rule, severity and place of each. Valid until the next call. */
const char *gmt_fixture_found(const struct gmt_report *report);
/* NAN: the finding has none of that name. */
double gmt_fixture_evidence(const struct gmt_finding *finding, const char *name);
/* As a user without any device model has it. To be called before gmt_fixture_analyze. */
void gmt_fixture_drop_model(struct gmt_fixture *fixture);
void gmt_fixture_sql(struct gmt_fixture *fixture, const char *sql);
/* As gmanalyze reads a trace of an earlier version: `sql` takes away what that did not have. */
void gmt_fixture_make_earlier(struct gmt_fixture *fixture, const char *sql);
void gmt_fixture_free(struct gmt_fixture *fixture);

/* A file for tests of several threads: the golden trace with records of the device and more calls, changed by `sql`. The
 * caller unlinks it. The path is always the same one of the process. */
const char *gmt_fixture_make_file(const char *sql);

/* The whole file; the caller frees. NULL: no such file. */
char *gmt_fixture_read(const char *path);
/* How `text` differs from the file: the first 40 lines of a unified diff; the caller frees. Empty: not at all. */
char *gmt_fixture_difference(const char *path, const char *text);

#endif
