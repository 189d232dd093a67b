/* SPDX-License-Identifier: Apache-2.0 */
/* Python functions in the stack of the calling thread. */
#ifndef GMT_PRELOAD_PYTHON_INTERPRETER_H
#define GMT_PRELOAD_PYTHON_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#define GMT_PYTHON_FRAMES 64u

/* Look for an interpreter, where objects have been loaded since the last look. Asks the loader: a thread inside of it, in a
 * constructor, may wait for any mutex that the caller has. */
void gmt_python_look(unsigned long long loads);

/* A hash of the functions that this thread runs and of where it is in each, the same for the same content; 0: there are
 * none, or they cannot be read. No lock is taken. */
uint64_t gmt_python_here(void);

/* A hash of where this thread is in its outer functions (outer.h), which costs some ns each: it says whether they are where
 * they were, but not what they are. 0: it cannot be had, as in 3.9, 3.10 and without the GIL. No lock is taken. */
uint64_t gmt_python_outer(uint64_t hint);

/* The native frames that Python's are put into. */
struct gmt_python_native {
    const uint64_t *address; /* return addresses, innermost first */
    /* depth + 1: where the frame of each begins on the stack, and where the last one ends, 0: not known */
    const uintptr_t *bottom;
    uint32_t depth;
    bool is_complete; /* to the thread's start: there is no frame further out */
};

/* Put the thread's functions in place of the native frames that run them: words for GMT_REC_STACK, of which there is room
 * for depth + GMT_PYTHON_FRAMES. Writes what the recorder needs to name them. Returns how many words; 0: the
 * frames do not match, and the native ones stand alone. One thread at a time. */
uint32_t gmt_python_merge(const struct gmt_python_native *native, uint64_t *words);

/* In a forked child: nothing has been written to its trace yet. */
void gmt_python_reset(void);

#endif
