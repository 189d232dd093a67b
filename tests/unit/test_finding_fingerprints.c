/* SPDX-License-Identifier: Apache-2.0 */
/* What findings are known by: no other finding changes it. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/findings/fingerprints.h"

/* A finding of a rule in main(), on this line; text NULL: the trace has no source. */
static struct gmt_finding at(const char *rule, int64_t line, const char *const *text)
{
    return (struct gmt_finding){.rule = rule,
                                .where = {.label = "app.cu",
                                          .function = "main",
                                          .file = "/a/app.cu",
                                          .line = line,
                                          .api = "cudaMalloc (cuMemAlloc_v2)"},
                                .place = {.file = "/a/app.cu",
                                          .line = line,
                                          .first_line = line,
                                          .lines = text,
                                          .line_count = text != NULL}};
}

static struct gmt_finding in_kernel(const char *kernel, int64_t line)
{
    struct gmt_finding finding = at("GM301", line, NULL);

    finding.where.kernel = kernel;
    return finding;
}

static void identify(struct gmt_finding *findings, size_t n, struct gmt_finding *notes,
                     size_t note_count)
{
    struct gmt_report report = {
        .findings = findings, .finding_count = n, .notes = notes, .note_count = note_count};

    cr_assert_eq(gmt_findings_identify(&report), 0);
}

static const char *const outer[] = {"cudaMalloc(&m, bytes);"};
static const char *const inner[] = {"cudaMalloc(&d, n * sizeof(*d));"};
static const char *const spaced[] = {"\tcudaMalloc( &d, n*sizeof( *d ) );\r"};

Test(finding_fingerprints, stay_when_another_finding_of_the_rule_appears)
{
    struct gmt_finding before[] = {at("GM201", 44, inner)};
    struct gmt_finding after[] = {at("GM201", 43, outer), at("GM201", 45, inner)};

    identify(before, 1, NULL, 0);
    identify(after, 2, NULL, 0);
    cr_assert_str_eq(before[0].fingerprint, after[1].fingerprint);
    cr_assert_str_neq(after[0].fingerprint, after[1].fingerprint);
}

Test(finding_fingerprints, do_not_depend_on_which_saves_more)
{
    struct gmt_finding one[] = {at("GM201", 43, inner), at("GM201", 45, inner)};
    struct gmt_finding other[] = {at("GM201", 45, inner), at("GM201", 43, inner)};

    identify(one, 2, NULL, 0);
    identify(other, 2, NULL, 0);
    cr_assert_str_eq(one[0].fingerprint, other[1].fingerprint);
    cr_assert_str_eq(one[1].fingerprint, other[0].fingerprint);
    cr_assert_str_neq(one[0].fingerprint, one[1].fingerprint);
}

Test(finding_fingerprints, of_equal_lines_the_first_keeps_its_own)
{
    struct gmt_finding one[] = {at("GM201", 43, inner)};
    struct gmt_finding two[] = {at("GM201", 50, inner), at("GM201", 43, inner)};

    identify(one, 1, NULL, 0);
    identify(two, 2, NULL, 0);
    cr_assert_str_eq(one[0].fingerprint, two[1].fingerprint);
}

Test(finding_fingerprints, of_a_finding_stay_when_a_note_appears)
{
    struct gmt_finding one[] = {at("GM201", 43, inner)}, same[] = {at("GM201", 43, inner)};
    struct gmt_finding note[] = {at("GM201", 40, inner)};

    identify(one, 1, NULL, 0);
    identify(same, 1, note, 1);
    cr_assert_str_eq(one[0].fingerprint, same[0].fingerprint);
    cr_assert_str_neq(note[0].fingerprint, same[0].fingerprint);
}

Test(finding_fingerprints, stay_when_lines_move_or_are_formatted_anew)
{
    struct gmt_finding before[] = {at("GM201", 44, inner)}, after[] = {at("GM201", 90, spaced)};

    identify(before, 1, NULL, 0);
    identify(after, 1, NULL, 0);
    cr_assert_str_eq(before[0].fingerprint, after[0].fingerprint);
}

Test(finding_fingerprints, distinguish_rules_places_and_calls)
{
    struct gmt_finding all[] = {at("GM201", 44, inner), at("GM203", 44, inner),
                                at("GM201", 44, inner), at("GM201", 44, inner),
                                in_kernel("blur", 44),  in_kernel("shade", 44)};

    all[2].where.function = "setup";
    all[3].where.api = "cudaMallocAsync (cuMemAllocAsync)";
    identify(all, 6, NULL, 0);
    for (size_t i = 0; i < 6; i++) {
        cr_assert_eq(strlen(all[i].fingerprint), 16);
        for (size_t k = 0; k < i; k++) {
            cr_assert_str_neq(all[i].fingerprint, all[k].fingerprint);
        }
    }
}

/* Its launches, and the line that causes most, may be others in the next run. */
Test(finding_fingerprints, of_a_kernel_are_of_its_name)
{
    struct gmt_finding before[] = {in_kernel("blur", 44)}, after[] = {in_kernel("blur", 60)};

    after[0].where.api = "cudaLaunchKernel (cuLaunchKernel)";
    after[0].place = (struct gmt_source_quote){
        .file = "/a/app.cu", .line = 60, .first_line = 60, .lines = inner, .line_count = 1};
    identify(before, 1, NULL, 0);
    identify(after, 1, NULL, 0);
    cr_assert_str_eq(before[0].fingerprint, after[0].fingerprint);
}

/* Addresses are not compared as texts: 0x9f comes before 0x1000. */
Test(finding_fingerprints, without_lines_go_by_addresses)
{
    struct gmt_finding one[] = {at("GM201", 0, NULL), at("GM201", 0, NULL)};
    struct gmt_finding other[] = {at("GM201", 0, NULL), at("GM201", 0, NULL)};

    one[0].where.label = "app+0x9f";
    one[1].where.label = "app+0x1000";
    other[0].where.label = "app+0x1040";
    other[1].where.label = "app+0xbf";
    identify(one, 2, NULL, 0);
    identify(other, 2, NULL, 0);
    cr_assert_str_eq(one[0].fingerprint, other[1].fingerprint);
    cr_assert_str_eq(one[1].fingerprint, other[0].fingerprint);
}

/* What SARIF has beside it, for alerts of before. */
Test(finding_fingerprints, of_before_are_numbered_in_a_function)
{
    struct gmt_finding filed[2] = {at("GM201", 43, outer)}, next = at("GM201", 45, inner);
    struct gmt_report report = {.findings = filed};

    gmt_finding_number(&report, &filed[0]);
    cr_assert_str_eq(filed[0].fingerprint_v1, "a7b1697a291f0681");
    report.finding_count = 1;
    gmt_finding_number(&report, &next);
    cr_assert_str_eq(next.fingerprint_v1, "f22837d13d494994");
}

/* Of kernels, and of traces without sources, most are the same in both forms. */
Test(finding_fingerprints, stay_as_before_without_a_statement)
{
    struct gmt_finding filed[] = {in_kernel("blur", 44), at("GM201", 43, NULL)};
    struct gmt_report report = {.findings = filed, .finding_count = 0};

    gmt_finding_number(&report, &filed[0]);
    gmt_finding_number(&report, &filed[1]);
    identify(filed, 2, NULL, 0);
    cr_assert_str_eq(filed[0].fingerprint, filed[0].fingerprint_v1);
    cr_assert_str_eq(filed[1].fingerprint, filed[1].fingerprint_v1);
}
