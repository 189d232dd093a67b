/* SPDX-License-Identifier: Apache-2.0 */
/* The command that builds a program again so that it runs on the software device. */
#ifndef GMT_LAUNCHER_REBUILD_H
#define GMT_LAUNCHER_REBUILD_H

#include <stddef.h>

struct gmt_program;

/* One line for a shell, for a program with the static CUDA runtime; it also asks for PTX where the program
 * has none that the device takes. It follows from what lies around the program: the CMakeCache.txt or
 * the makefile nearest above it, or a source file of its name beside it. Where there is none of these it is
 * the variable to export before the usual build. */
void gmt_rebuild_command(const struct gmt_program *program, char *command, size_t bytes);

#endif
