/* SPDX-License-Identifier: Apache-2.0 */
/* Python programs: whether the interpreter can name their functions in call stacks. */
#ifndef GMT_PRELOAD_PYTHON_H
#define GMT_PRELOAD_PYTHON_H

#include <limits.h>
#include <stdbool.h>

/* The interpreter that `path`, the file of a program, is or is a script for: its file in
 * `interpreter`. False: none of Python's. */
bool gmt_python_interpreter(const char *path, char interpreter[static PATH_MAX]);

/* Minor version of an interpreter of Python 3 by its name, that of the file behind its links, or the
 * pyvenv.cfg of its environment; 0: not known, -1: Python 2. */
int gmt_python_minor(const char *interpreter);

/* Make a Python that is to be executed in this process write down its functions, and tell the user so,
 * unless the user has said anything about that. `program` is the program's file. */
void gmt_launcher_name_python(const char *program);

#endif
