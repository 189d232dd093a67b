/* SPDX-License-Identifier: Apache-2.0 */
/* A trace with ranges for tests of their tree. */
#ifndef GMT_TESTS_RULES_RANGE_TRACE_H
#define GMT_TESTS_RULES_RANGE_TRACE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/*
 * Launches of thread 1 at 60, 62, ... 78 ms. Each has a kernel of 1 ms from 10 us after it on; the first one was counted in
 * place of that, and has the time of its class.
 */
static inline void load(struct gmt_fixture *fixture, const char *ranges)
{
    char sql[4096];

    gmt_fixture_load(fixture, "golden/trace");
    gmt_fixture_sql(fixture,
                    "DELETE FROM transfer; DELETE FROM allocation;"
                    "DELETE FROM launch WHERE id = 990000;"
                    "INSERT INTO string VALUES (60, 'step'), (61, 'forward'), (62, 'conv'),"
                    "(63, 'backward'), (64, 'a'), (65, 'b'), (66, 'domain');");
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, "
                   "depth) VALUES %s",
                   ranges);
    gmt_fixture_sql(fixture, sql);
}

static inline bool has_path(const struct gmt_report *report, int32_t node, const char *path)
{
    char text[512] = "", longer[512];

    for (; node >= 0; node = report->range_nodes[node].parent) {
        const char *label = report->range_nodes[node].label;

        int length = snprintf(longer, sizeof(longer), "%s%s%s", label != NULL ? label : "(others)",
                              text[0] != '\0' ? " > " : "", text);
        cr_assert_lt(length, (int)sizeof(longer));
        memcpy(text, longer, sizeof(text));
    }
    return strcmp(text, path) == 0;
}

static inline const struct gmt_range_node *node_at(const struct gmt_report *report,
                                                   const char *path)
{
    const struct gmt_range_node *found = NULL;

    for (size_t i = 0; i < report->range_node_count; i++) {
        if (has_path(report, (int32_t)i, path)) {
            cr_expect_null(found, "two nodes of the path %s", path);
            found = &report->range_nodes[i];
        }
    }
    cr_assert_not_null(found, "no path %s", path);
    return found;
}

static inline void expect_ms(double ns, double ms, const char *what)
{
    cr_expect_float_eq(ns, ms * 1e6, 1, "%s: %.6f ms, not %.6f", what, ns / 1e6, ms);
}

#endif
