/* SPDX-License-Identifier: Apache-2.0 */
/* What the ELF file of a program tells before it is run. */
#ifndef GMT_PRELOAD_PROGRAM_H
#define GMT_PRELOAD_PROGRAM_H

#include <stdbool.h>

struct gmt_program {
    bool is_static; /* no dynamic loader: LD_PRELOAD has no effect */
    char asan[64];  /* file name of the ASan runtime it needs, or "" */
};

/* Look at the file that execvp would take for `name`. Scripts, files of other machines and files
 * that cannot be read have no traits: all fields are false or empty. */
struct gmt_program gmt_program_look(const char *name);

#endif
