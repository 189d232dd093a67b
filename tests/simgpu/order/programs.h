/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs that are right and need each of their waits, events and edges. */
#ifndef SIMGPU_TESTS_ORDER_PROGRAMS_H
#define SIMGPU_TESTS_ORDER_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

struct program {
    const char *name;
    bool (*run)(void); /* true: its results are right */
};
extern const struct program programs[];
extern const size_t program_count;

/* In this process, once: starts the device first. Exits with 1 where a call fails. */
bool program_run(const struct program *program);

#endif
