/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings of two traces are the same. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/compare/compare_findings.h"
#include "libtrace/base/arena.h"

/* A finding of one rule in main(): on this line, with this text (NULL: the trace has no source), numbered so. */
static struct gmt_finding churn(int64_t line, const char *const *text, const char *fingerprint)
{
    struct gmt_finding finding = {
        .rule = "GM201",
        .severity = GMT_SEVERITY_LOW,
        .saving = {NAN, NAN, NAN, NAN},
        .where = {.label = "", .function = "main", .file = "/a/app.cu", .line = line},
        .place = {.file = "/a/app.cu", .line = line, .first_line = line, .lines = text}};

    finding.place.line_count = text != NULL;
    snprintf(finding.fingerprint, sizeof(finding.fingerprint), "%s", fingerprint);
    return finding;
}

static const char *const outer[] = {"cudaMalloc(&m, bytes);"};
static const char *const inner[] = {"cudaMalloc(&d, n * sizeof(*d));"};
static const char *const edited[] = {"cudaMalloc(&d, 2 * n);"};

/* The line in B that the finding of A on this line is paired with; 0: none. */
static int64_t partner(struct gmt_finding *a, size_t n_a, struct gmt_finding *b, size_t n_b,
                       int64_t line)
{
    struct gmt_rule_result rule = {.id = "GM201", .outcome = GMT_OUTCOME_FAIL};
    struct gmt_summary of_a = {
        .findings = a, .finding_count = n_a, .rules = &rule, .rule_count = 1};
    struct gmt_summary of_b = {
        .findings = b, .finding_count = n_b, .rules = &rule, .rule_count = 1};
    struct gmt_comparison comparison = {.a = &of_a, .b = &of_b};
    struct gmt_arena arena = {0};
    int64_t found = -1;

    gmt_compare_findings(&comparison, &arena);
    for (size_t i = 0; i < comparison.finding_count; i++) {
        const struct gmt_finding_change *change = &comparison.findings[i];

        if (change->a != NULL && change->a->where.line == line) {
            found = change->b != NULL ? change->b->where.line : 0;
        }
    }
    gmt_arena_free(&arena);
    return found;
}

Test(compare_findings, a_new_one_before_it_does_not_take_its_place)
{
    struct gmt_finding a[] = {churn(44, inner, "1")};
    struct gmt_finding b[] = {churn(43, outer, "1"), churn(45, inner, "2")};

    cr_assert_eq(partner(a, 1, b, 2, 44), 45);
}

Test(compare_findings, one_that_is_fixed_does_not_take_the_next)
{
    struct gmt_finding a[] = {churn(43, outer, "1"), churn(44, inner, "2")};
    struct gmt_finding b[] = {churn(40, inner, "1")};

    cr_assert_eq(partner(a, 2, b, 1, 43), 0);
    cr_assert_eq(partner(a, 2, b, 1, 44), 40);
}

Test(compare_findings, an_edited_line_keeps_its_finding)
{
    struct gmt_finding a[] = {churn(43, outer, "1"), churn(44, inner, "2")};
    struct gmt_finding b[] = {churn(43, outer, "1"), churn(44, edited, "2")};

    cr_assert_eq(partner(a, 2, b, 2, 44), 44);
}

Test(compare_findings, equal_lines_go_by_their_numbers)
{
    struct gmt_finding a[] = {churn(43, inner, "1"), churn(50, inner, "2")};
    struct gmt_finding b[] = {churn(50, inner, "2"), churn(43, inner, "1")};

    cr_assert_eq(partner(a, 2, b, 2, 43), 43);
    cr_assert_eq(partner(a, 2, b, 2, 50), 50);
}

Test(compare_findings, without_sources_numbers_decide)
{
    struct gmt_finding a[] = {churn(43, NULL, "1"), churn(44, NULL, "2")};
    struct gmt_finding b[] = {churn(53, NULL, "1"), churn(54, NULL, "2")};

    cr_assert_eq(partner(a, 2, b, 2, 43), 53);
    cr_assert_eq(partner(a, 2, b, 2, 44), 54);
}
