/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory snapshot of PyTorch's caching allocator, as torch.cuda.memory._snapshot() returns it and _dump_snapshot() pickles it:
 * segments of device memory, the blocks that they are divided into, and the history of what was allocated and freed.
 * What each key holds: torch/cuda/memory.py and torch/csrc/cuda/Module.cpp of PyTorch.
 */
#ifndef GMT_ANALYZER_SNAPSHOT_SNAPSHOT_H
#define GMT_ANALYZER_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/arena.h"

struct gmt_pickle;
struct gmt_pickle_value;

/* Of each kind at most, in all devices together: values may be shared, so that a small file may name many. */
enum {
    GMT_SNAPSHOT_MOST_RECORDS = 1 << 23, /* segments, blocks, events */
    GMT_SNAPSHOT_MOST_PLACES = 1 << 16,
    GMT_SNAPSHOT_MOST_FRAMES = 1024, /* of a stack, from the innermost; others are not looked at */
    GMT_SNAPSHOT_MOST_DEVICES = 256,
};

/* No place is known. */
#define GMT_SNAPSHOT_NO_PLACE UINT32_MAX

/* Where something was allocated: the innermost frame of the program's own. */
struct gmt_snapshot_place {
    const char *file, *function; /* NULL: not known */
    int64_t line;                /* 0: not known */
};

enum gmt_block_state {
    GMT_BLOCK_INACTIVE,
    GMT_BLOCK_ACTIVE,  /* holds a tensor */
    GMT_BLOCK_PENDING, /* freed, but another stream may still use it */
};

struct gmt_snapshot_block {
    uint64_t address, size;
    uint64_t requested; /* at most size */
    uint32_t place;     /* index, or GMT_SNAPSHOT_NO_PLACE */
    uint8_t state;      /* enum gmt_block_state */
};

struct gmt_snapshot_segment {
    uint64_t address, size;
    int64_t stream, device;
    size_t first_block, block_count;
    bool small, expandable;
    bool private_pool; /* of a CUDA graph or a MemPool */
};

enum gmt_snapshot_action {
    GMT_SNAPSHOT_ALLOC,
    GMT_SNAPSHOT_FREE_REQUESTED,
    GMT_SNAPSHOT_FREE_COMPLETED,
    GMT_SNAPSHOT_SEGMENT_ALLOC,
    GMT_SNAPSHOT_SEGMENT_FREE,
    GMT_SNAPSHOT_SEGMENT_MAP,
    GMT_SNAPSHOT_SEGMENT_UNMAP,
    GMT_SNAPSHOT_TAKEN,
    GMT_SNAPSHOT_OOM,
    GMT_SNAPSHOT_OTHER, /* an action that this version does not know */
};

struct gmt_snapshot_event {
    uint64_t address;        /* of OOM the free bytes of the device */
    uint64_t size;           /* as requested; of segments whole ones */
    int64_t stream, time_us; /* of the system's clock; INT64_MIN: not known */
    uint32_t place;
    uint8_t action; /* enum gmt_snapshot_action */
};

/* What PYTORCH_CUDA_ALLOC_CONF sets, as far as it decides on the size of segments. */
struct gmt_allocator_settings {
    uint64_t max_split_bytes;       /* UINT64_MAX: no limit */
    double garbage_collection;      /* threshold; 0: none */
    unsigned roundup_divisions[16]; /* by the power of two from 1 MiB on; 0: none */
    bool expandable;
};

struct gmt_torch_snapshot {
    struct gmt_arena arena;
    struct gmt_snapshot_segment *segments; /* by address */
    size_t segment_count;
    struct gmt_snapshot_block *blocks; /* by segment, in the order of their addresses */
    size_t block_count;
    struct gmt_snapshot_event *events; /* by device, in the order of time */
    size_t event_count;
    size_t device_events[GMT_SNAPSHOT_MOST_DEVICES + 1]; /* where those of each device begin */
    size_t device_count;                                 /* of the history */
    struct gmt_snapshot_place *places;
    size_t place_count;
    struct gmt_allocator_settings settings;
    bool has_settings;
    const char *path;       /* as it is shown; set by who loads it */
    const char *conf;       /* PYTORCH_CUDA_ALLOC_CONF as it was set; NULL: not known */
    size_t unknown_actions; /* events of GMT_SNAPSHOT_OTHER */
};

/*
 * Reads a file. 0; -EINVAL: it is no snapshot, -errno: it cannot be read: with one line in message. To be given to
 * gmt_snapshot_free in any case.
 */
int gmt_snapshot_load(struct gmt_torch_snapshot *snapshot, const char *path, char *message,
                      size_t bytes);

/* The same of bytes in memory; nothing of the snapshot points to them. */
int gmt_snapshot_read(struct gmt_torch_snapshot *snapshot, const unsigned char *data,
                      size_t data_bytes, char *message, size_t bytes);
void gmt_snapshot_free(struct gmt_torch_snapshot *snapshot);

/* ---- parts of reading ---- */

struct gmt_snapshot_reader {
    const struct gmt_pickle *pickle;
    struct gmt_torch_snapshot *snapshot;
    uint32_t *
        place_of; /* of each value of the pickle that is a list of frames: its place + 1; 0: not looked at */
    uint32_t *place_table; /* hash table of places: index + 1 */
    size_t table_size;
    char *message;
    size_t message_bytes;
};

/* The place of a record's frames. Whole lists are looked at once, however many records share them. */
uint32_t gmt_snapshot_place(struct gmt_snapshot_reader *reader,
                            const struct gmt_pickle_value *record);
/* allocator_settings; what it lacks stays at its default. */
void gmt_snapshot_settings(struct gmt_snapshot_reader *reader,
                           const struct gmt_pickle_value *settings);

#endif
