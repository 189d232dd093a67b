/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction of a kernel to its source line, by the line table of the cubin itself: a trace
 * that keeps the cubin can be asked on any machine, without CUDA.
 *
 * Works for programs built with -lineinfo or -G. NVIDIA's line tables hold two opcodes beside DWARF's,
 * which say what was inlined where; libdw reads them (dwarf_linecontext, since 0.188).
 */
#ifndef GMT_STORE_SASS_CUBIN_LINES_H
#define GMT_STORE_SASS_CUBIN_LINES_H

#include <stddef.h>
#include <stdint.h>

struct gmt_cubin;

/* One level of an instruction's place: the line in `file`, in `function`. Strings are the cubin's. */
struct gmt_cubin_frame {
    const char *file; /* as the compiler was called: absolute, or below its folder */
    const char
        *function; /* mangled, of an inlined function; NULL: the kernel or device function itself */
    uint32_t line, column;
};

/* Reads a cubin; the image is copied. The caller closes *cubin. Returns 0; -ENODATA: built without line
 * information; -EBADMSG: no ELF file for a GPU, or damaged; -ENOMEM. */
int gmt_cubin_open(const void *image, size_t bytes, struct gmt_cubin **cubin);
void gmt_cubin_close(struct gmt_cubin *cubin); /* NULL is fine */

/* The place of the instruction `offset` bytes into `function` (mangled): the innermost first, then the
 * call that each was inlined at. Returns how many levels, at most `limit` of which are written; 0: not
 * known. */
size_t gmt_cubin_frame(const struct gmt_cubin *cubin, const char *function, uint64_t offset,
                       struct gmt_cubin_frame *places, size_t limit);

#endif
