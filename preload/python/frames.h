/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a thread's Python functions, innermost first, and which call of the interpreter's loop runs each.
 *
 * The calling thread is inside of a function that Python called: its frames do not change meanwhile, with the GIL
 * or without.
 */
#ifndef GMT_PRELOAD_PYTHON_FRAMES_H
#define GMT_PRELOAD_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/python/code.h"

enum gmt_python_step {
    GMT_PYTHON_FRAME, /* a function: `code`, `offset` */
    GMT_PYTHON_LOOP, /* one call of the loop runs the functions since the last step of this kind; `loop` lies in its
                          frame on the stack, 0: not known where */
    GMT_PYTHON_END,    /* no more */
    GMT_PYTHON_BROKEN, /* what is there cannot be: the layout is not the interpreter's */
};

struct gmt_python_walk {
    const struct gmt_python *python;
    uintptr_t code;
    int32_t offset; /* of the instruction, in bytes; below 0: none was executed */
    uintptr_t loop;
    /* Private. */
    uintptr_t frame, cframe;
    uint32_t steps;
    bool loop_ends;
};

/* Begin at a PyThreadState. False: it cannot be one. */
bool gmt_python_walk_start(struct gmt_python_walk *walk, const struct gmt_python *python,
                           uintptr_t thread);
enum gmt_python_step gmt_python_walk_step(struct gmt_python_walk *walk);

#endif
