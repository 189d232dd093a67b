/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about held memory say how a program ended that had no time to free it. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/rules/fixture.h"

Test(ends, are_named_where_a_rule_cannot_say_what_the_program_would_have_done)
{
    static const struct {
        const char *sql, *why;
    } cases[] = {
        {"UPDATE process SET end_reason = 'killed'", "the program was killed"},
        {"UPDATE process SET end_reason = 'killed', exit_status = 6",
         "the program was ended by signal 6"},
        {"UPDATE process SET exit_status = 139", "the program was ended by signal 11"},
        {"UPDATE process SET exit_status = 768;"
         "INSERT INTO sync (id, api_id, thread_id, begin_ns, end_ns, result, capturing, kind) "
         "VALUES (990001, 3, 1, 99000000, 99000001, 700, 0, 'device')",
         "the program ended with exit status 3 after a call that failed"},
        {"UPDATE process SET end_reason = 'exec'", "the program became another one (exec)"},
        {"UPDATE process SET end_reason = 'unknown'", "it is not known how the program ended"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, "GM204", cases[i].sql);
        gmt_fixture_analyze(&fixture, "GM204");
        const struct gmt_rule_result *rule = &fixture.report.rules[0];
        cr_assert_eq(rule->outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s", cases[i].sql);
        cr_expect(strncmp(rule->why, cases[i].why, strlen(cases[i].why)) == 0, "%s", rule->why);
        cr_expect_not_null(strstr(rule->why, ": what it would still have freed is not known"));
        gmt_fixture_free(&fixture);
    }
}
