/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the PTX in what programs hand to the driver: plain PTX text, a fat binary (the container
 * nvcc embeds, entries stored plainly or compressed with LZ4 or zstd), the wrapper that points to
 * one, or an ELF file (a cubin), which holds machine code and is refused. Machine code is never read.
 *
 * Layout, read off what nvcc 13.0 writes (-fatbin, every --compress-mode, several -gencode):
 *   container  0 u32 magic, 4 u16 version (1), 6 u16 header bytes (16), 8 u64 bytes of all entries
 *   entry      0 u16 kind (1 = PTX, 2 = ELF, 8 = NVVM for link-time optimization), 2 u16 version,
 *              4 u32 header bytes (64 and more: names and options follow), 8 u64 payload bytes, padded
 *              to 8, 16 u32 bytes if compressed, else 0, 20 u32 offset of the options,
 *              24 u16 minor, 26 u16 major PTX version, 28 u32 target (90), 32 u32 offset and
 *              36 u32 length of the file's name, 40 u64 flags, 48 u64, 56 u64 uncompressed bytes
 *   flags      0x1 64 bit, 0x2 debug, 0x2000 LZ4 block (--compress-mode=speed and older versions),
 *              0x8000 zstd frame (default, size, balance), 0x100000 architecture specific (sm_90a),
 *              0x200000 family specific (sm_100f)
 *   wrapper    0 u32 magic, 4 u32 version, 8 pointer to the container
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
    FATBIN_LATER_PTX,    /* PTX for later devices only, or for other members of a family */
    FATBIN_DAMAGED,      /* lengths or compressed data do not fit together */
    FATBIN_NO_MEMORY,
};

/*
 * The PTX of the highest target that is at most `sm` (90 = compute capability 9.0; family or
 * architecture specific targets, "sm_90a", only on an exact match).
 * `image` is `bytes` long; SIZE_MAX where the caller does not know (cuModuleLoadData): the lengths in
 * the image are then trusted, as the real driver does. A wrapper, which holds a pointer, is followed
 * only then. `*ptx` is malloc'ed, NUL-terminated, `*ptx_bytes`
 * without the NUL; the caller frees it.
 */
enum fatbin_result fatbin_ptx(const void *image, size_t bytes, unsigned sm, char **ptx,
                              size_t *ptx_bytes);

#endif
