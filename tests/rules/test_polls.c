/* SPDX-License-Identifier: Apache-2.0 */
/* Small copies of one place of the device, again and again: no copy can do for all of them. */
#include <criterion/criterion.h>

#include "tests/rules/fixture.h"

static const struct {
    const char *what, *sql;
    size_t findings;
} cases[] = {
    {"pieces", "SELECT 1", 1},
    {"pieces to one buffer of the host",
     "UPDATE transfer SET direction = 'd2h', api_id = 2, src = dst, dst = 4096, src_class = "
     "'device', "
     "dst_class = 'pageable'",
     1},
    {"a flag that is polled",
     "UPDATE transfer SET direction = 'd2h', api_id = 2, src = 1048576, dst = 4096, bytes = 4, "
     "src_class = 'device', dst_class = 'pageable'",
     0},
    {"a value that is replaced", "UPDATE transfer SET dst = 1048576", 0},
    {"two places in turn", "UPDATE transfer SET dst = 1048576 + id % 2 * 4096", 1},
    {"places that are not known", "UPDATE transfer SET dst = NULL", 1},
};

Test(polls, are_not_to_be_gathered)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM101_positive");
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM101");
        cr_expect_eq(fixture.report.finding_count, cases[i].findings, "%s: %zu findings: %s",
                     cases[i].what, fixture.report.finding_count,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}
