/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of boundaries: one trace with a number in it, and what a rule says of it on either side. */
#ifndef GMT_TESTS_RULES_BOUNDARY_H
#define GMT_TESTS_RULES_BOUNDARY_H

#include "tests/rules/fixture.h"

/* The fixture that the rule speaks of, changed by an SQL text with numbers, as printf has it. */
__attribute__((format(printf, 3, 4))) void
gmt_boundary_load(struct gmt_fixture *fixture, const char *rule, const char *format, ...);
/* Analyzes the fixture by the rule, and frees it. How many findings there are; notes do not count. */
size_t gmt_boundary_findings(struct gmt_fixture *fixture, const char *rule);
/* The same of notes; 0 where there is a finding. */
size_t gmt_boundary_notes(struct gmt_fixture *fixture, const char *rule);

/* Findings and notes of the rule in tests/rules/<name>.sql, changed by `sql`. */
size_t gmt_boundary_reports(const char *name, const char *rule, const char *sql);
/*
 * The two sides of a boundary, on the fixture GM<number>_positive or _negative: its rule reports nothing
 * after `silent`, and once after `reported`.
 */
void gmt_boundary_expect_edge(const char *name, const char *silent, const char *reported);

#endif
