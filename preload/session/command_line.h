/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of this process. */
#ifndef GMT_PRELOAD_SESSION_COMMAND_LINE_H
#define GMT_PRELOAD_SESSION_COMMAND_LINE_H

#include <stddef.h>

/* As the kernel has it, arguments joined by \x1f; what does not fit is left out. "": it cannot be read. */
void gmt_command_line_read(char *text, size_t bytes);

#endif
