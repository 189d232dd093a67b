/* SPDX-License-Identifier: Apache-2.0 */
/* The line of an instruction, from the line table of its code object. */
#ifndef GMT_PRELOAD_PYTHON_LINES_H
#define GMT_PRELOAD_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "preload/python/layout.h"

/* `offset`: bytes from the first instruction; below 0: nothing was executed yet, and the line is the first one. 0: the
 * instruction belongs to no line, or the table does not reach it. */
int32_t gmt_python_line_of(enum gmt_python_table table, const uint8_t *bytes, size_t count,
                           int32_t first_line, int32_t offset);

#endif
