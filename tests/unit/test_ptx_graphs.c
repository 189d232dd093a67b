/* SPDX-License-Identifier: Apache-2.0 */
/* Meeting points of random graphs, against the definition, and of large ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

enum { NODES = 24 };

/* By definition: what is on every way from a node to the end. Bit NODES is the end. */
static uint32_t slow_meeting_point(const unsigned *targets, unsigned at)
{
    uint32_t after[NODES + 1];
    bool changed = true;

    for (unsigned i = 0; i < NODES; i++) {
        after[i] = UINT32_MAX;
    }
    after[NODES] = 1U << NODES;
    while (changed) {
        changed = false;
        for (unsigned i = NODES; i-- > 0;) {
            uint32_t now = 1U << i | (after[i + 1] & after[targets[i]]);

            changed = changed || now != after[i];
            after[i] = now;
        }
    }
    after[at] &= ~(1U << at);
    /* The nearest: the one whose own followers are all the others. */
    for (unsigned i = 0; i <= NODES; i++) {
        if (i != at && (after[at] >> i & 1) != 0 && (after[i] | 1U << i) == after[at]) {
            return i;
        }
    }
    return NEVER;
}

Test(ptx_graphs, agrees_with_the_definition_on_random_graphs)
{
    srand(1);
    for (unsigned round = 0; round < 500; round++) {
        char body[NODES * 32], *at = body;
        unsigned targets[NODES];

        for (unsigned i = 0; i < NODES; i++) {
            targets[i] = (unsigned)rand() % (NODES + 1);
            at += sprintf(at, "L%u: @%%p1 bra L%u;", i, targets[i]);
        }
        sprintf(at, "L%u: ret;", NODES);
        for (unsigned i = 0; i < NODES; i++) {
            cr_assert_eq(meeting_point(body, i), slow_meeting_point(targets, i), "%u: %s", i, body);
        }
    }
}

/* Every block branches far ahead or back: the shapes that make simple algorithms quadratic. */
Test(ptx_graphs, hundred_thousand_branches_take_no_time)
{
    enum { COUNT = 100000 };
    char *body = malloc(COUNT * 64), *at = body;
    struct timespec start, end;

    for (unsigned i = 0; i < COUNT; i++) {
        unsigned target = i % 2 == 0 ? i + COUNT / 2 : i * 7919U % COUNT;

        at += sprintf(at, "L%u: @%%p%u bra L%u;", i, i % 10, target < COUNT ? target : COUNT);
    }
    sprintf(at, "L%u: ret;", COUNT);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    cr_expect_eq(meeting_point(body, COUNT - 1), COUNT);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    cr_expect_lt(end.tv_sec - start.tv_sec, 10);
    free(body);
}
