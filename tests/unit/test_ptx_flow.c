/* SPDX-License-Identifier: Apache-2.0 */
/* Where diverged threads reconverge, in every shape of control flow. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/ptx_fixture.h"

#define NEVER PTX_NO_RECONVERGENCE

/* The meeting point of instruction `at`; bodies here write one instruction a statement. */
static uint32_t meeting_point(const char *body, uint32_t at)
{
    struct ptx_module *module;
    const struct ptx_function *kernel = gmt_ptx_kernel(body, &module);
    uint32_t *meet = calloc(kernel->instruction_count + 1, sizeof(*meet));
    uint32_t result;

    cr_assert_eq(ptx_reconvergence(kernel, meet), 0);
    cr_assert_lt(at, kernel->instruction_count);
    result = meet[at];
    free(meet);
    ptx_free(module);
    return result;
}

Test(ptx_flow, if_and_else_meet_behind)
{
    cr_expect_eq(meeting_point("@%p1 bra L; membar.cta; L: ret;", 0), 2);
    cr_expect_eq(meeting_point("@%p1 bra E; membar.cta; bra J; E: membar.gl; J: ret;", 0), 4);
}

Test(ptx_flow, loop_meets_behind_its_end)
{
    cr_expect_eq(meeting_point("L: membar.cta; @%p1 bra L; ret;", 1), 2);
    /* continue and break */
    const char *body = "H: @%p1 bra C; @%p2 bra B; membar.cta; C: @%p3 bra H; B: ret;";

    cr_expect_eq(meeting_point(body, 0), 4);
    cr_expect_eq(meeting_point(body, 1), 4);
    cr_expect_eq(meeting_point(body, 3), 4);
}

Test(ptx_flow, nested_branches_meet_inside)
{
    const char *body = "@%p1 bra E; @%p2 bra A; membar.cta; A: bra J; E: @%p3 bra F; membar.gl;"
                       "F: membar.sys; J: ret;";

    cr_expect_eq(meeting_point(body, 0), 7);
    cr_expect_eq(meeting_point(body, 1), 3);
    cr_expect_eq(meeting_point(body, 4), 6);
}

Test(ptx_flow, switch_meets_behind_all_cases)
{
    const char *body = "@%p1 bra D; brx.idx %r1, T; A: bra J; B: membar.cta; bra J; D: bra J;"
                       "T: .branchtargets A, B, D, B; J: ret;";

    cr_expect_eq(meeting_point(body, 0), 6);
    cr_expect_eq(meeting_point(body, 1), 6);
    /* All targets the same. */
    cr_expect_eq(meeting_point("brx.idx %r1, T; A: ret; T: .branchtargets A, A;", 0), 1);
}

Test(ptx_flow, threads_that_leave_do_not_keep_others_apart)
{
    /* A guarded exit, an exit and a trap inside an "if": those that stay meet behind it. */
    cr_expect_eq(meeting_point("@%p1 bra L; @%p2 exit; membar.cta; L: ret;", 0), 3);
    cr_expect_eq(meeting_point("@%p1 bra L; @%p2 bra M; exit; M: membar.cta; L: ret;", 0), 4);
    cr_expect_eq(meeting_point("@%p1 bra L; @%p2 bra M; trap; M: membar.cta; L: exit;", 0), 4);
    cr_expect_eq(meeting_point("@%p1 bra L; @%p2 ret; membar.cta; L: ret;", 0), 3);
    /* Two returns: nobody comes behind. */
    cr_expect_eq(meeting_point("@%p1 bra L; ret; L: membar.cta; ret;", 0), NEVER);
    cr_expect_eq(meeting_point("@%p1 bra L; membar.cta; L:", 0), NEVER);
}

Test(ptx_flow, functions_return_to_a_caller_that_goes_on)
{
    struct ptx_module *module = gmt_ptx_module(
        ".func f(.param .b32 x) { .reg .pred p, q; @p bra L; @q ret; membar.cta; L: ret; }");
    uint32_t meet[4];

    cr_assert_eq(ptx_reconvergence(module->functions[0], meet), 0);
    cr_expect_eq(meet[0], NEVER); /* at the return */
    ptx_free(module);
}

Test(ptx_flow, irreducible_loop_has_a_meeting_point)
{
    const char *body = "@%p1 bra B; A: membar.cta; @%p2 bra C; B: membar.gl; @%p3 bra A; C: ret;";

    cr_expect_eq(meeting_point(body, 0), 5);
    cr_expect_eq(meeting_point(body, 2), 5);
    cr_expect_eq(meeting_point(body, 4), 5);
}

Test(ptx_flow, infinite_loops_and_unreachable_code_are_no_trouble)
{
    cr_expect_eq(meeting_point("A: @%p1 bra B; membar.cta; B: bra A;", 0), 2);
    cr_expect_eq(meeting_point("A: @%p1 bra B; membar.cta; B: @%p2 exit; bra A;", 0), 2);
    cr_expect_eq(meeting_point("@%p1 bra F; A: bra A; F: membar.cta; ret; @%p2 bra F;", 0), 2);
    cr_expect_eq(meeting_point("bra L; @%p1 bra L; membar.cta; L: ret;", 1), 3);
}
