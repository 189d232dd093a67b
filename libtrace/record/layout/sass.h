/* SPDX-License-Identifier: Apache-2.0 */
/* Side records of instructions that were counted on the GPU, and of their cubins. A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_SASS_H
#define GMT_RECORD_LAYOUT_SASS_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

enum gmt_sass_slot {
    GMT_SASS_EXECUTED = 0,
    GMT_SASS_LANES,
    GMT_SASS_SECTORS,
    GMT_SASS_IDEAL_SECTORS,
    GMT_SASS_WAVEFRONTS,
    GMT_SASS_IDEAL_WAVEFRONTS,
    GMT_SASS_LOCAL_SECTORS,
    GMT_SASS_LANES_ON,
    GMT_SASS_TAGS,
    GMT_SASS_WIDTH_8, /* the widths: each twice the one before it */
    GMT_SASS_WIDTH_16,
    GMT_SASS_WIDTH_32,
    GMT_SASS_WIDTH_64,
    GMT_SASS_WIDTH_128,
    GMT_SASS_SLOTS
};

/* Counts of one machine instruction over all warps of one launch (sass_metrics.def); text: the function
 * it stands in (mangled), which need not be the kernel itself. */
struct gmt_sass_instruction {
    struct gmt_side_head head;
    uint32_t launch_seq;
    uint32_t kernel_class;
    uint32_t cubin_crc; /* as CUPTI computes it: gmt_cubin_place.crc */
    uint32_t function_index;
    uint32_t pc_offset; /* bytes from the start of the function */
    uint32_t measured;  /* bit per slot: counted, if only 0 */
    uint64_t values[GMT_SASS_SLOTS];
};

/* The file of the spool in which every cubin is put aside that the driver loads, one behind the other. What
 * is in it does not change any more. */
#define GMT_CUBIN_FILE "cubins"
#define GMT_CUBIN_FILE_MOST_BYTES (UINT64_C(1) << 30)
#define GMT_CUBIN_MOST_BYTES (UINT64_C(256) << 20) /* of one; libraries' modules are smaller */

/* A kernel of this cubin was counted: its image is wanted, which was whole in the file before this was
 * written. */
struct gmt_cubin_place {
    struct gmt_side_head head;
    uint32_t crc;
    uint32_t reserved;
    uint64_t offset, bytes; /* in the file */
};

/* A part of a cubin of which a kernel was counted; the image's bytes follow. */
struct gmt_cubin_piece {
    struct gmt_side_head head;
    uint32_t crc;
    uint32_t bytes; /* that follow */
    uint64_t total; /* of the whole image */
    uint64_t offset;
};

static_assert(sizeof(struct gmt_sass_instruction) == 40 + 8 * GMT_SASS_SLOTS, "sass instruction");
static_assert(sizeof(struct gmt_cubin_place) == 40, "place of a cubin");
static_assert(sizeof(struct gmt_cubin_piece) == 40, "piece of a cubin");

#endif
