/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that have been walked, to be recognized without another walk.
 *
 * A walk follows from the registers it starts with, from rows, and from the words that it reads. So a
 * stack is the one of an earlier walk if all of these are what they were: an entry lists where the words lie, and
 * holds a hash of 64 bits of all of them.
 */
#ifndef GMT_PRELOAD_UNWIND_CHAINS_H
#define GMT_PRELOAD_UNWIND_CHAINS_H

#include <stdint.h>

#include "preload/unwind/walk.h"

/* The number that the same stack was put under, 0 if there is none. Uses what goes into a walk, and walks
 * not. No lock is taken. */
uint32_t gmt_chains_find(const struct gmt_walk *walk);

/* Put a walk under a number other than 0; it takes the place of an older one. Where another thread is
 * writing, or the walk read too much, or further than 512 KiB out, it is left out. */
void gmt_chains_put(const struct gmt_walk *walk, uint32_t number);

/* All numbers are void: a forked child. */
void gmt_chains_reset(void);

/* Make the table's pages present; before anybody uses it. */
void gmt_chains_populate(void);

#endif
