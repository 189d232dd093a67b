/* SPDX-License-Identifier: Apache-2.0 */
/* What a code object says: an identity of its content, its names, and the lines of its instructions. */
#ifndef GMT_PRELOAD_PYTHON_CODE_H
#define GMT_PRELOAD_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/python/layout.h"

/* An interpreter in this process. */
struct gmt_python {
    struct gmt_python_layout layout;
    uintptr_t code_type, text_type, bytes_type;
};

/* A hash of all that the names and lines of a code object follow from: file, name, first line and line table. Another object
 * that comes to lie at the same address has another one, unless it says the same. 0: they cannot be read. `code` is one for
 * which gmt_python_code_bytes did not return 0. */
uint64_t gmt_python_code_identity(const struct gmt_python *python, uintptr_t code);

/* The bytes of its instructions, 0 if this is no code object; where they start in *start. */
size_t gmt_python_code_bytes(const struct gmt_python *python, uintptr_t code, uintptr_t *start);

/* Are the types of code and frames of the sizes that the layout says? A build for debugging has other objects. */
bool gmt_python_fits(const struct gmt_python *python, uintptr_t type_type, uintptr_t frame_type);

/* Is the object at `at` of this type? */
bool gmt_python_is(const struct gmt_python *python, uintptr_t at, uintptr_t type);

struct gmt_python_place {
    char function[512], file[4096]; /* UTF-8; qualified from 3.11 on; cut where they are longer */
    int32_t line;                   /* 0: none */
};
bool gmt_python_code_place(const struct gmt_python *python, uintptr_t code, int32_t offset,
                           struct gmt_python_place *place);

#endif
