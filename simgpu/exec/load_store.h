/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the memory family. */
#ifndef SIMGPU_EXEC_LOAD_STORE_H
#define SIMGPU_EXEC_LOAD_STORE_H

#include "simgpu/exec/access.h"

/* ld, ldu (stores = false) and st. */
enum sim_decode_result sim_decode_load_store(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction, bool stores,
                                             struct sim_op *op);

/* cp.async and its groups. */
enum sim_decode_result sim_decode_async_copy(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction,
                                             struct sim_op *op);

#endif
