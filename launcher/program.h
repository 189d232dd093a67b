/* SPDX-License-Identifier: Apache-2.0 */
/* What the ELF file of a program says before it is run. */
#ifndef GMT_LAUNCHER_PROGRAM_H
#define GMT_LAUNCHER_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#define GMT_SOFTWARE_DEVICE_CAPABILITY 90 /* 90 = compute capability 9.0 */

/* What matters to the software device; programs without device code of their own have no traits. */
struct gmt_program_cuda {
    bool has_code;       /* device code was compiled into it */
    unsigned ptx_target; /* lowest target of its PTX text, 90 = compute_90; 0: none */
    bool static_runtime; /* the CUDA runtime is in the program itself */
    bool finds_other;  /* its DT_RPATH, which outweighs LD_LIBRARY_PATH, leads to another runtime */
    char unhooked[64]; /* a driver function that it is linked with and that no hook is for, or "" */
    char runtime[64];  /* the shared runtime it needs, "libcudart.so.13", or "" */
};

struct gmt_program {
    char path[PATH_MAX]; /* the file that was looked at, "" if none is found */
    bool is_elf;         /* for this machine's loader */
    bool is_static;      /* no dynamic loader: LD_PRELOAD has no effect */
    bool is_musl;  /* its loader refuses libraries of another libc, and does not start it then */
    char asan[64]; /* file name of the ASan runtime it needs, or "" */
    struct gmt_program_cuda cuda;
};

/* Look at the file that execvp would take for `name`. Scripts, files of other machines and files
 * that cannot be read have no traits: all fields are false or empty. */
struct gmt_program gmt_program_look(const char *name);

/* That file; "" if there is none. */
void gmt_program_find(const char *name, char path[static PATH_MAX]);

/* A part of it: `path` is the file behind the image. */
struct gmt_elf;
void gmt_program_look_for_cuda(const struct gmt_elf *image, const char *path,
                               struct gmt_program_cuda *cuda);

#endif
