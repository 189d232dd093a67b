/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the PTX in what programs hand to the driver: plain PTX text, a fat binary (the container
 * nvcc embeds, entries stored plainly or compressed with LZ4 or zstd), the wrapper that points to
 * one, or an ELF file (a cubin), which holds machine code and is refused. Machine code is never read.
 *
 * Layout: container of magic 0xBA55ED50 with a 16-byte header (u32 magic, u16 version, u16 header
 * bytes, u64 body bytes), then entries, each u16 kind (1 = PTX, 2 = ELF), u16 version, u32 header
 * bytes, u64 padded payload bytes, u32 compressed bytes, ..., payload. Wrapper: u32 magic 0x466243b1,
 * u32 version, pointer to the container. Read off nvcc 13.0's output; see docs/software-device.md.
 */
#ifndef SIMGPU_FATBIN_FATBIN_H
#define SIMGPU_FATBIN_FATBIN_H

#include <stddef.h>
#include <stdint.h>

#define FATBIN_MAGIC 0xBA55ED50u
#define FATBIN_WRAPPER_MAGIC 0x466243b1u

enum fatbin_result {
    FATBIN_OK = 0,
    FATBIN_NOT_AN_IMAGE, /* none of the forms above */
    FATBIN_NO_PTX,       /* machine code only */
    FATBIN_DAMAGED,      /* lengths or compressed data do not fit together */
    FATBIN_NO_MEMORY,
};

/*
 * The PTX of the highest target that is at most `sm` (90 = compute capability 9.0; family or
 * architecture specific targets, "sm_90a", only on an exact match).
 * `image` is `bytes` long; SIZE_MAX where the caller does not know (cuModuleLoadData): the lengths in
 * the image are then trusted, as the real driver does. `*ptx` is malloc'ed, NUL-terminated, `*ptx_bytes`
 * without the NUL; the caller frees it.
 */
enum fatbin_result fatbin_ptx(const void *image, size_t bytes, unsigned sm, char **ptx,
                              size_t *ptx_bytes);

#endif
