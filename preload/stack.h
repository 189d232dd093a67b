/* SPDX-License-Identifier: Apache-2.0 */
/* Who called: the short chain of return addresses from a hook through the CUDA runtime. */
#ifndef GMT_PRELOAD_STACK_H
#define GMT_PRELOAD_STACK_H

#include <stdint.h>

/* The gmt_stack.id of the chain that starts at a hook's frame pointer; 0 if stacks are off. The
 * runtime keeps frame pointers, so the chain reaches the program's own call of a cuda* function even
 * where the program was built without them; beyond that it may end early, never wrongly: addresses
 * that do not follow a call instruction in mapped code are cut off. */
uint32_t gmt_stack_here(const void *frame);

/* Write the maps of objects loaded since the last time (GMT_REC_OBJECT). */
void gmt_stack_note_objects(void);

/* In a forked child: nothing has been written to its trace yet. */
void gmt_stack_reset(void);

#endif
