/* SPDX-License-Identifier: Apache-2.0 */
/* Text that kernels print, and reading device memory on behalf of one thread. */
#ifndef SIMGPU_EXEC_PRINT_H
#define SIMGPU_EXEC_PRINT_H

#include "simgpu/exec/run.h"

/* Keep `bytes` bytes of text that a thread of `block` printed. -ENOMEM if there is no room. */
int sim_print_append(struct sim_printer *printer, uint64_t block, const char *text, size_t bytes);

/*
 * Memory at a generic address as a thread sees it: a pointer, and how many bytes follow; NULL where
 * nothing is. For strings and arguments of printf, which are not counted.
 */
const uint8_t *sim_peek(const struct sim_warp *warp, unsigned lane, uint64_t address,
                        size_t *bytes);
/* Copy exactly `bytes`; false where they are not all there. */
bool sim_peek_copy(const struct sim_warp *warp, unsigned lane, uint64_t address, void *to,
                   size_t bytes);
/* A NUL-terminated string, cut to fit; false where it is not all there. */
bool sim_peek_string(const struct sim_warp *warp, unsigned lane, uint64_t address, char *to,
                     size_t bytes);

#endif
