/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, analyzes and frees the traces of tests of boundaries. */
#include "tests/rules/boundary.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

void gmt_boundary_load(struct gmt_fixture *fixture, const char *rule, const char *format, ...)
{
    char sql[4096];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof(sql));
    gmt_fixture_load_positive(fixture, rule, sql);
}

size_t gmt_boundary_findings(struct gmt_fixture *fixture, const char *rule)
{
    gmt_fixture_analyze(fixture, rule);
    size_t n = fixture->report.finding_count;
    gmt_fixture_free(fixture);
    return n;
}

size_t gmt_boundary_notes(struct gmt_fixture *fixture, const char *rule)
{
    gmt_fixture_analyze(fixture, rule);
    size_t n = fixture->report.finding_count == 0 ? fixture->report.note_count : 0;
    gmt_fixture_free(fixture);
    return n;
}

size_t gmt_boundary_reports(const char *name, const char *rule, const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, name);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, rule);
    size_t reports = fixture.report.finding_count + fixture.report.note_count;
    gmt_fixture_free(&fixture);
    return reports;
}

void gmt_boundary_expect_edge(const char *name, const char *silent, const char *reported)
{
    char path[64], rule[8];

    (void)snprintf(path, sizeof(path), "fixtures/%s", name);
    (void)snprintf(rule, sizeof(rule), "%.5s", name);
    cr_expect_eq(gmt_boundary_reports(path, rule, silent), 0, "%s reports after %s", rule, silent);
    cr_expect_eq(gmt_boundary_reports(path, rule, reported), 1, "%s is silent after %s", rule,
                 reported);
}
