/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a memory snapshot of PyTorch's caching allocator that was given beside the trace. */
#ifndef GMT_REPORTS_MODEL_SNAPSHOT_H
#define GMT_REPORTS_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one place of the program, or of one library. */
struct gmt_snapshot_holder {
    const char *label;           /* "train.py:42", "libcublasLt.so.12". Never NULL */
    const char *function, *file; /* NULL: not known */
    const char *name;            /* that all of its blocks have; NULL: none, or several */
    int64_t line;                /* 0: not known */
    double bytes, count;         /* of blocks or allocations */
};

/* Largest first; what is not listed is in the rest. */
struct gmt_snapshot_holders {
    struct gmt_snapshot_holder *list;
    size_t count;
    double rest_bytes, rest_count, rest_places;
};

/* A moment of the history: the peak of what tensors asked for, or an out-of-memory error. */
struct gmt_snapshot_moment {
    double at_ns;           /* from the first CUDA call; NAN: not known */
    double reserved_bytes;  /* of segments */
    double requested_bytes; /* by the tensors in them */
    double asked_bytes,
        free_bytes; /* of an error: the request, and what the device had; else NAN */
    struct gmt_snapshot_holders holders; /* of what was requested */
    double other_bytes; /* of allocations outside of segments then; NAN: at_ns is not known */
    struct gmt_snapshot_holders others;
};

/* The history under other settings of the allocator. */
struct gmt_snapshot_replay {
    const char *setting;   /* "expandable_segments:True"; NULL: as recorded */
    double reserved_bytes; /* at the peak; NAN: could not be replayed */
    double
        needed_bytes; /* of the last out-of-memory error: with its request; NAN: there was none */
    bool fits;        /* in what the device had */
};

/*
 * Of one device at the time of the snapshot. The parts up to unmatched_bytes do not overlap, and their sum is total_bytes; what
 * was not measured is in none of them.
 */
struct gmt_snapshot_device {
    int64_t device;
    double total_bytes;
    double tensor_bytes;   /* as requested, of blocks in use */
    double pending_bytes;  /* of blocks that were freed while a stream may use them */
    double rounding_bytes; /* of both: blocks are larger than requested */
    double unused_bytes;   /* free blocks of segments */
    double other_bytes;    /* allocations of the trace outside of segments */
    struct gmt_snapshot_holders tensors, others;
    double segment_bytes, segments; /* the first four, and how many */
    double unmatched_bytes; /* of segments that are not in the trace: within segment_bytes */
    double blocks;          /* in use */
    double at_ns;           /* of the snapshot, from the first CUDA call; NAN: not known */
    bool aligned;  /* by times of the history; else the last moment that fits its segments */
    double events; /* of the history; 0: there is none */
    double recorded_peak_bytes;         /* of segments in the history; NAN: no history */
    double lost_bytes;                  /* requested by blocks that are older than the history */
    struct gmt_snapshot_moment *peak;   /* NULL: no history */
    struct gmt_snapshot_moment *errors; /* the last ones, in the order of time */
    size_t error_count;
    double all_errors;                   /* how many there were */
    struct gmt_snapshot_replay *replays; /* the first: as recorded; none without a history */
    size_t replay_count;
    const struct gmt_snapshot_replay *best; /* that is worth trying; NULL: none is */
};

struct gmt_report_snapshot {
    const char *path;
    const char *conf; /* PYTORCH_CUDA_ALLOC_CONF as it was set; NULL: not known */
    struct gmt_snapshot_device *devices;
    size_t device_count;
    bool collects;      /* garbage_collection_threshold is set, which is not replayed */
    bool defaults;      /* it does not say how the allocator was set up: that is assumed */
    bool private_pools; /* some segments are of private pools, which are not replayed */
    double unknown_actions;
};

/* Of the setting that is worth trying, as a sentence; NULL: none is. In that arena. */
struct gmt_arena;
const char *gmt_snapshot_advice(struct gmt_arena *arena, const struct gmt_snapshot_device *device);

/* What makes the replays less sure, as sentences; NULL: nothing does. In that arena. */
const char *gmt_snapshot_caveats(struct gmt_arena *arena,
                                 const struct gmt_report_snapshot *snapshot,
                                 const struct gmt_snapshot_device *device);

/* Is there a moment of the history with more in tensors than at the snapshot, in digits that are shown? */
bool gmt_snapshot_peak_differs(const struct gmt_snapshot_device *device);

/* How far the replay as recorded is from what was recorded: a share; NAN: not known. */
double gmt_snapshot_replay_error(const struct gmt_snapshot_device *device);

#endif
