/* SPDX-License-Identifier: Apache-2.0 */
/* What atom and red do to one word of memory. */
#ifndef SIMGPU_EXEC_ATOMIC_APPLY_H
#define SIMGPU_EXEC_ATOMIC_APPLY_H

#include "simgpu/exec/access.h"

/*
 * The lanes of a checked access, one after another in lane order, with atomic operations of the host,
 * because blocks run in parallel. `at` bytes into the access; `b` and `c` are lane arrays of operands
 * (c: of cas only), `old` gets what was there.
 */
typedef void (*sim_atomic)(const struct sim_access *access, unsigned at, const uint8_t *b,
                           const uint8_t *c, uint8_t *old);

/* The operation `name` on `type` (the pair as PTX spells it), NULL if PTX has none or it is not
 * supported. */
sim_atomic sim_atomic_find(const char *name, enum ptx_type type);

#endif
