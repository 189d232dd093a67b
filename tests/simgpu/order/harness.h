/* SPDX-License-Identifier: Apache-2.0 */
/* What generated programs have in common, most of which run under the fixes of preload/apply: each is a process of its own. */
#ifndef SIMGPU_TESTS_ORDER_HARNESS_H
#define SIMGPU_TESTS_ORDER_HARNESS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/plan.h"

extern unsigned harness_program, harness_seed; /* at hand */
extern const char *harness_word;               /* behind the plan, NULL: none */

void harness_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void harness_ok(CUresult result, const char *call, int line);
#define OK(call) harness_ok((call), #call, __LINE__)

/* A call returned `found`, and must have returned `expected`. */
void harness_expect(CUresult found, CUresult expected, const char *what);

/* One without parameters that writes where nothing is. */
CUfunction harness_failing_kernel(void);

/* On the first device; it is current then. */
CUcontext harness_new_context(void);

/* Work in a stream that waits, for 2 s at most, until it is ended, which waits for the stream. False: it did not wait so long. */
void harness_begin_waiting_work(CUstream stream);
bool harness_end_waiting_work(CUstream stream);

/* To so many calls a fix was applied in this program by now. */
uint64_t harness_applied(enum gmt_fix fix);

/* A number below `bound`. */
unsigned harness_draw(uint64_t *random, unsigned bound);
/* Both ranges hold the same bytes, or the program fails. */
void harness_same(const uint8_t *found, const uint8_t *expected, size_t bytes, const char *what);
/* In run(): an access that nothing orders was reported, so the program fails. */
void harness_expect_no_conflict(void);

/*
 * FIRST COUNT SEEDS [PLAN [WORD]]: programs FIRST and up, each under SEEDS orders. With a plan (preload/apply/plan.h) and libgmtrace.so
 * preloaded its fixes are on, and what those of `fixes` did is printed. The exit status is 0 where no program failed, and, with
 * a plan, something was applied.
 */
int harness_main(int argc, char **argv, void (*run)(void), const enum gmt_fix *fixes,
                 unsigned fix_count);

#endif
