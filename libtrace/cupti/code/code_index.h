/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of kernels can reach, by their names, of all cubins that were loaded.
 *
 * CUPTI shows a cubin while it is loaded and never says which module a function is of, so the name has to
 * do. It is kept as a hash of 64 bits, with what the symbols of its cubin say (cubin_symbols.h): the names
 * of variables, or why nothing can be said. Cubins that say the same share it. The kernels
 * that have effects (call printf, for instance) are distinguished from their neighbours where that is certain
 * (cubin_effects.h); the variables are those of all.
 *
 * Memory is bounded (MOST_* in code_index.c): 16 MiB for names of kernels, 4 MiB for those of variables. A
 * cubin that was not seen, not read or not kept may hold a kernel of any name. From then on no kernel is
 * known.
 *
 * Any thread, in all of this.
 */
#ifndef GMT_CUPTI_CODE_CODE_INDEX_H
#define GMT_CUPTI_CODE_CODE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

/* A cubin has been loaded; `image` is read and not kept. The same one may come again. */
void gmt_code_index_add(const void *image, size_t bytes);

/* Cubins may have been loaded that were not added. */
void gmt_code_index_missed(void);

/*
 * Calls `variable` for each variable and constant in device memory of the cubins that hold a function named `kernel`
 * (mangled), managed ones and string literals too. A name may come twice, and those of another cubin that
 * holds a kernel of the same name come as well: the driver does not know them in this one's module. Names
 * live as long as the process; no lock is held in the call. Returns 0; -ENOENT: not known; -EPERM: its code
 * can do what no copy of memory takes back, as far as is known. After an error `variable` has not been called.
 */
int gmt_code_index_reach(const char *kernel, void (*variable)(void *data, const char *name),
                         void *data);

/* May code of one of the cubins allocate memory of the device's heap? */
bool gmt_code_index_allocates(void);

/* In a forked child: forget everything. */
void gmt_code_index_abandon(void);

#endif
