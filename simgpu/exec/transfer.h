/* SPDX-License-Identifier: Apache-2.0 */
/* Moving data between the memory that a checked access points to and the registers of its lanes. */
#ifndef SIMGPU_EXEC_TRANSFER_H
#define SIMGPU_EXEC_TRANSFER_H

#include "simgpu/exec/access.h"

/* One element of each lane: `at` bytes into its access, `registers` its lane array. */
typedef void (*sim_transfer)(const struct sim_access *access, uint8_t *registers, unsigned at);

/* A size of elements in memory with a size of registers. Loads extend with zeros or the sign; stores
 * put the low bytes; of several lanes that store to one address the highest wins. */
struct sim_transfer_pair {
    unsigned element_bits, register_bits;
    sim_transfer load, load_signed, store;
};
extern const struct sim_transfer_pair sim_transfers[];
#define SIM_TRANSFER_BITS 4 /* an index in sim_transfers */

/* Index of the pair, or -1: PTX has no such access. */
int sim_transfer_find(unsigned element_bytes, unsigned register_bytes);

/* One value to all lanes of `mask`; `value` points to the element. */
void sim_transfer_spread(const struct sim_transfer_pair *pair, bool extend_sign, const void *value,
                         uint32_t mask, uint8_t *registers);

#endif
