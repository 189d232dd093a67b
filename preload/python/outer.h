/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread's outer Python functions are, at the price of some words of memory: cheap enough for calls whose stack is not read.
 *
 * From 3.11 on a thread has its frames in chunks of a data stack, one behind the other, the outermost first. The first chunk is not
 * freed before the thread's state. The size of a frame follows from its code object: while the outer functions have the same code
 * objects, their frames lie at the same positions. Lists of such positions are kept, with a hash of the code objects and of the frames'
 * callers: a list that fits is read without following a chain, and one that does not is made anew. What comes out does not depend on
 * the lists. Generators and coroutines have their frames elsewhere, and are looked at as callers of those that are listed.
 */
#ifndef GMT_PRELOAD_PYTHON_OUTER_H
#define GMT_PRELOAD_PYTHON_OUTER_H

#include <stdint.h>

#include "preload/python/code.h"

/* Frames of the first chunk that are looked at, from the outermost inwards. */
#define GMT_PYTHON_OUTER 32u

/* A hash of where a thread is in its outermost functions, by addresses of instructions: in all of them, if there are GMT_PYTHON_OUTER at
 * most and they lie in the first chunk. 0: there are none, or they cannot be read. `thread` is the calling thread's PyThreadState, of which
 * 128 bytes can be read. `hint`: what calls with the same functions have in common; a bad one costs time. No lock is taken. */
uint64_t gmt_python_outer_of(const struct gmt_python *python, uintptr_t thread, uint64_t hint);

/* The same where a list is known that was made for this thread and fits; else 0, and gmt_python_outer_of is to be asked. Of `thread` nothing
 * needs to be known but that it is the calling thread's, or NULL. */
uint64_t gmt_python_outer_known(const struct gmt_python *python, uintptr_t thread, uint64_t hint);

#endif
