/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of a format without api.traits gives the findings that it gives with them. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

static void expect_same(const struct gmt_report *now, const struct gmt_report *earlier,
                        const char *name)
{
    cr_assert_eq(now->rule_count, earlier->rule_count);
    for (size_t i = 0; i < now->rule_count; i++) {
        cr_expect_eq(now->rules[i].outcome, earlier->rules[i].outcome, "%s: %s", name,
                     now->rules[i].id);
    }
    cr_assert_eq(now->finding_count, earlier->finding_count, "%s", name);
    cr_assert_eq(now->note_count, earlier->note_count, "%s", name);
    for (size_t i = 0; i < now->finding_count; i++) {
        cr_expect_str_eq(now->findings[i].headline, earlier->findings[i].headline, "%s", name);
    }
    cr_assert_eq(now->failure_count, earlier->failure_count, "%s", name);
}

/* Rules about copies and memory ask what calls mean. */
Test(older_traits, give_the_same_findings)
{
    glob_t files = {0};

    cr_assert_eq(glob(GMT_SOURCE_DIR "/tests/rules/fixtures/GM[12]*.sql", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct gmt_fixture now, earlier;
        char name[64];
        const char *file = strrchr(files.gl_pathv[i], '/') + 1;

        (void)snprintf(name, sizeof(name), "fixtures/%.*s", (int)strcspn(file, "."), file);
        gmt_fixture_load(&now, name);
        gmt_fixture_load(&earlier, name);
        gmt_fixture_make_earlier(&earlier, "ALTER TABLE api DROP COLUMN traits");
        gmt_fixture_analyze(&now, NULL);
        gmt_fixture_analyze(&earlier, NULL);
        expect_same(&now.report, &earlier.report, name);
        gmt_fixture_free(&now);
        gmt_fixture_free(&earlier);
    }
    globfree(&files);
}
