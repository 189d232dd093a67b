/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine instructions of a cubin: what an instruction is, by its encoding. Volta and later, whose
 * instructions are 16 bytes: opcode in the lowest bits, width of an access further up.
 */
#ifndef GMT_STORE_SASS_CUBIN_CODE_H
#define GMT_STORE_SASS_CUBIN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_cubin_code;

struct gmt_cubin_op {
    const char *name;   /* 'LDG'; static; NULL: none that is of interest here */
    const char *suffix; /* '.128'; static */
    unsigned kind;      /* enum gmt_inst_kind; GENERIC: the address decides */
    bool load;          /* of GENERIC: reads */
    unsigned width;     /* bytes per lane, 0 = not in the encoding */
};

/* The image must live until it is closed. 0; -EBADMSG: no cubin of a GPU, or damaged; -ENOMEM. */
int gmt_cubin_code_open(const void *image, size_t bytes, struct gmt_cubin_code **code);
void gmt_cubin_code_close(struct gmt_cubin_code *code); /* NULL is fine */

/* The instruction `offset` bytes into `function` (mangled). False: there is none. */
bool gmt_cubin_code_at(const struct gmt_cubin_code *code, const char *function, uint64_t offset,
                       struct gmt_cubin_op *op);

#endif
