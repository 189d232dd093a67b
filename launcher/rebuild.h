/* SPDX-License-Identifier: Apache-2.0 */
/* The command that builds a program again so that it runs on the software device. */
#ifndef GMT_LAUNCHER_REBUILD_H
#define GMT_LAUNCHER_REBUILD_H

#include <stdbool.h>
#include <stddef.h>

struct gmt_program;

/* One line for a shell, for a program with the static CUDA runtime or without PTX that the device takes; it remedies
 * both. It follows from what lies around the program: the CMakeCache.txt or the makefile nearest above it, or
 * beside it a source file of its name, or one that is the only source there. True: the line builds the program.
 * False: there is none of these, and the line is the variable to export before the usual build. */
bool gmt_rebuild_command(const struct gmt_program *program, char *command, size_t bytes);

#endif
