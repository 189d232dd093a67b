/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction vectors: a form of an instruction, its inputs, what a device makes of them. */
#ifndef TESTS_SIMGPU_VECTORS_H
#define TESTS_SIMGPU_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VECTOR_THREADS 4096u
#define VECTOR_APPROXIMATE_THREADS 1024u
#define VECTOR_MAX_TARGETS 4u
#define VECTOR_MAX_SOURCES 5u
#define VECTOR_TARGET_FILL \
    0x5a5a5a5a5a5a5a5aULL /* what a destination holds before a guarded form */

enum judgement { JUDGE_EXACT, JUDGE_WARP, JUDGE_PLAIN, JUDGE_ABSOLUTE, JUDGE_RELATIVE };

struct form {
    char text[160];
    const char *targets; /* letters, ended by '=' */
    const char *sources;
    enum judgement judgement;
    unsigned row; /* of forms.def: the approximation's true value */
    double bound;
};

/* All forms of forms.def, alternatives expanded; NULL when memory is out. */
struct form *forms_all(size_t *count);
unsigned form_targets(const struct form *form);
unsigned form_sources(const struct form *form);
bool form_is_approximate(const struct form *form);

/* Value of source `operand` of kind `letter` for thread `thread`. */
uint64_t input_value(char letter, unsigned operand, unsigned thread);
/* Whether the guard lets `thread` through. */
bool input_guard(unsigned thread);

/* PTX of a module with one kernel, "form", that runs the form plainly, then under a guard. */
bool kernel_text(const struct form *form, char *text, size_t bytes);

/* Results: [guarded][target][thread]. */
struct results {
    uint64_t value[2][VECTOR_MAX_TARGETS][VECTOR_THREADS];
};

/* All return NULL or a message. */
const char *device_open(void);
const char *device_name(char *name, size_t bytes, int *driver);
const char *device_run(const struct form *form, struct results *results);

uint64_t results_hash(const struct form *form, const struct results *results);
/* First thread whose guarded result is not what the plain one and the guard say, or -1. */
int results_guard_fault(const struct form *form, const struct results *results);
/* Whether result `actual` of thread `thread` is as good as the instruction promises; `recorded` is
 * the hardware's. */
bool judge(const struct form *form, unsigned thread, uint64_t actual, uint64_t recorded);

#endif
