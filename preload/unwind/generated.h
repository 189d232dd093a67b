/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for code that no object holds: made by the program while it runs. */
#ifndef GMT_PRELOAD_UNWIND_GENERATED_H
#define GMT_PRELOAD_UNWIND_GENERATED_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes before and after an address that show what kind of place it is. */
#define GMT_CODE_BEFORE 8
#define GMT_CODE_AFTER 8

/* Does a call instruction end at `at`? The GMT_CODE_BEFORE bytes before it are read. */
bool gmt_code_ends_call(const uint8_t *at);

/* The row for an address outside of all objects, with its flags. Nothing need be mapped there. */
uint64_t gmt_generated_row(uintptr_t pc, bool interrupted);

#endif
