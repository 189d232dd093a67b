/* SPDX-License-Identifier: Apache-2.0 */
/* Python programs: whether the interpreter can name their functions in call stacks. */
#ifndef GMT_LAUNCHER_PYTHON_H
#define GMT_LAUNCHER_PYTHON_H

#include <limits.h>
#include <stdbool.h>

/* The interpreter that `path`, the file of a program, is or is a script for: its file in
 * `interpreter`. False: none of Python's. */
bool gmt_python_interpreter(const char *path, char interpreter[static PATH_MAX]);

struct gmt_python_version {
    int major, minor, micro;
};

/* Asks an interpreter, by its option -V, which takes some 10 ms. False: it does not say. */
bool gmt_python_version(const char *interpreter, struct gmt_python_version *version);

/* Make a Python that is to be executed in this process write down its functions, and say so to the user,
 * unless the user has said anything about that. `program` is the program's file. */
void gmt_launcher_name_python(const char *program);

#endif
