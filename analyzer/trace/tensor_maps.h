/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps of a trace: their shape, the calls that encoded them, and the kernels that were given them. */
#ifndef GMT_ANALYZER_TRACE_TENSOR_MAPS_H
#define GMT_ANALYZER_TRACE_TENSOR_MAPS_H

#include "analyzer/trace/timeline.h"
#include "libtrace/base/arena.h"

enum { GMT_TENSOR_DIMS = 5 };

/* As the program gave it (table tensor_map); 0: there is none, or it is not known. */
struct gmt_tensor_map_row {
    int64_t id, rank, element_bits;
    uint64_t address;
    int64_t dim[GMT_TENSOR_DIMS], box[GMT_TENSOR_DIMS], step[GMT_TENSOR_DIMS];
    int64_t stride[GMT_TENSOR_DIMS]; /* bytes, of dimension 1 and up */
    bool tiled;                      /* else im2col: box is channels and pixels */
    bool interleaved;                /* or not known */
    bool swizzled;                   /* or not known */
    bool used;                       /* a launch was given it */
};

/* A call that encoded `map`, by index. */
struct gmt_tensor_map_call {
    struct gmt_tl_call call;
    size_t map;
};

/* A class of launches that was given `map`. */
struct gmt_tensor_map_use {
    int32_t class_index;
    size_t map;
};

struct gmt_tensor_maps {
    struct gmt_tensor_map_row *maps; /* by id */
    size_t count;
    struct gmt_tensor_map_call *calls; /* by place, map and time */
    size_t call_count;
    struct gmt_tensor_map_use *uses; /* by class, each pair once */
    size_t use_count;
};

/* False: the trace is of a version that did not record them. */
bool gmt_tensor_maps_recorded(const struct gmt_timeline *timeline);
/* 0, -ENOMEM or -EIO. The arrays are the arena's. */
int gmt_tensor_maps_load(struct gmt_tensor_maps *maps, const struct gmt_timeline *timeline,
                         struct gmt_arena *arena);

/* Bytes of a row of the box: what lies side by side in the innermost dimension. NAN: not known. */
double gmt_tensor_map_inner_bytes(const struct gmt_tensor_map_row *map);

/*
 * Bytes of the whole sectors that a run of a box lies in, per byte of it; NAN: not known.
 *
 * A run is what a box takes without a gap: a row, or several where each begins at the end of the one
 * before. Addresses, strides and rows are multiples of 16 bytes (cuda.h, cuTensorMapEncodeTiled), so that
 * a run of B bytes begins at the start of a sector of 32 bytes or in its middle. It touches ceil(B / 32)
 * sectors in the former case and ceil((B + 16) / 32) in the latter. How many runs begin in the middle
 * follows from the address and the strides: all, none, or half of them where a stride is an odd multiple of
 * 16 and the coordinates along it take odd values, too. Boxes are taken to begin at multiples of their
 * size. What neighbouring boxes find in a cache is not looked at; what lies outside of the tensor is not
 * read.
 */
double gmt_tensor_map_sector_ratio(const struct gmt_tensor_map_row *map);

#endif
