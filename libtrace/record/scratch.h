/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the length of a function, where the stack may be too small for it: it is the program's. */
#ifndef GMT_RECORD_SCRATCH_H
#define GMT_RECORD_SCRATCH_H

#include <limits.h>
#include <stddef.h>
#include <sys/mman.h>

#define GMT_SPOOL_PATH_BYTES ((size_t)PATH_MAX + 32) /* for the path of any file of a spool */

/* NULL: there is none. May set errno. */
static inline void *gmt_scratch_take(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static inline void gmt_scratch_give(void *memory, size_t bytes)
{
    (void)munmap(memory, bytes);
}

#endif
