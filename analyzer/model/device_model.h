/* SPDX-License-Identifier: Apache-2.0 */
/* The device model of gmcalibrate: what copies, calls and access patterns cost on a GPU. */
#ifndef GMT_ANALYZER_MODEL_DEVICE_MODEL_H
#define GMT_ANALYZER_MODEL_DEVICE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/model/curve.h"
#include "reports/model/report.h"

struct gmt_timeline;

struct gmt_model_variant {
    const char *name, *reference;
    double parameter;
    double sectors_per_request, ways; /* NAN: not defined for it */
    double median_ns, spread_ns, bytes_asked, sectors, wavefronts;
    double load_requests, store_requests, store_sectors, shared_requests; /* NAN: none */
    double occupancy;
    double relative_time; /* against its reference; NAN */
};

struct gmt_model_family {
    struct gmt_model_variant *variants;
    size_t n;
};

enum { GMT_MODE_SYNC, GMT_MODE_ASYNC, GMT_MODES };
enum { GMT_HOST_PAGEABLE, GMT_HOST_PINNED, GMT_HOST_REGISTERED, GMT_HOSTS };

/* A 2-D copy: its time, as a multiple of that of a 1-D copy of as many bytes. */
struct gmt_model_shape {
    double width_bytes, rows, pitch_bytes, factor;
};

struct gmt_model_shapes {
    struct gmt_model_shape *shapes; /* ascending in width, then rows, then pitch */
    size_t n;
};

/* Of the device that was measured; NAN: the model does not say. */
struct gmt_model_limits {
    double sm_count, l2_bytes, max_warps_per_sm, max_blocks_per_sm, shared_bytes_per_sm;
    double registers_per_sm;
};

struct gmt_model {
    enum gmt_provenance provenance;
    struct gmt_arena arena;
    const char *origin, *device_name, *device_uuid, *created;
    const char *compute_capability; /* "9.0"; NULL */
    struct gmt_model_limits limits;
    const char *json; /* as it was parsed; NULL: none */
    /* A member of another type than it should be: why it cannot be used; "": none. */
    char wrong[128];
    bool noisy;
    /* Time of one copy over its size: [h2d, d2h][class][mode]. */
    struct gmt_model_curve copy[2][GMT_HOSTS][GMT_MODES];
    /* The same from this device to another, asynchronously; of two devices where there are more. */
    struct gmt_model_curve peer;
    struct gmt_model_curve on_device; /* from one buffer of a device to another */
    /* Time of one copy among many of that size, back to back. */
    struct gmt_model_curve back_to_back[2][GMT_HOSTS][GMT_MODES];
    /* Time of all of them in one cudaMemcpyBatchAsync, per copy. */
    struct gmt_model_curve batched[2][GMT_HOSTS][GMT_MODES];
    /* Time of a 2-D copy / time of a 1-D copy of as many bytes: for one shape (NAN), for many. */
    double copy_2d_factor[2][GMT_HOSTS][GMT_MODES];
    struct gmt_model_shapes copy_2d[2][GMT_HOSTS][GMT_MODES];
    /* Device time of a kernel that reads or writes each byte once, coalesced. */
    struct gmt_model_curve mapped_read, mapped_write, device_read;
    struct gmt_model_curve malloc_free, malloc_async_free_async, pin_unpin, register_unregister;
    double dram_bytes_per_s, l2_sectors_per_s, l1_sectors_per_s, shared_wavefronts_per_s; /* NAN */
    double dram_copy_bytes_per_s;    /* read and written; NAN */
    double l1_strided_sectors_per_s; /* hits of lanes in sectors of their own; NAN */
    double write_sectors_per_s;      /* whole sectors that L2 takes in; NAN */
    double dram_scattered_sectors_per_s, l2_scattered_sectors_per_s; /* single ones; NAN */
    /* Partly written sectors: each one, each second one, one of each line; NAN. */
    double partial_sectors_per_s, partial_pairs_per_s, partial_lines_per_s;
    double constant_words_per_s;      /* different ones that a warp reads at once; NAN */
    double dram_load_ns;              /* latency of one load; NAN */
    struct gmt_model_curve occupancy; /* occupancy -> bytes per second */
    /* Bytes in flight -> bytes per second. 1: a load of 4 bytes by every thread that the device holds;
     * narrow loads as far as they go, 16-byte loads beyond. */
    struct gmt_model_curve in_flight;
    struct gmt_model_family offset, stride, bank, occupancies, store, stride_wide, gather;
    struct gmt_model_family launch_bound, block_size;
    double launch_queued_ns;        /* one launch call in a run of them; NAN */
    double launch_queued_spread_ns; /* of it; NAN */
    /* ns of the whole device for one more of it in one warp, beyond the good twin; NAN. */
    double constant_word_ns; /* another word in a read of constants */
};

/* The origin of a model that the trace carries. */
#define GMT_MODEL_OF_TRACE "stored in the trace"

/*
 * Parses a model. origin is what a report calls it. provenance says only which kind of place it
 * comes from; gmt_model_judge sets it from the device. 0; -EINVAL with the reason in message;
 * -ENOMEM. gmt_model_free in every case.
 */
int gmt_model_parse(struct gmt_model *model, const char *json, size_t bytes, const char *origin,
                    char *message, size_t message_bytes);
int gmt_model_read(struct gmt_model *model, const char *path, char *message, size_t message_bytes);
void gmt_model_free(struct gmt_model *model);

/* How well the model fits a device: calibrated, another device of its name, modelled. */
enum gmt_provenance gmt_model_judge(const struct gmt_model *model, const char *device_name,
                                    const char *device_uuid);

/*
 * The best model there is, in this order: file (when not NULL, nothing else is tried), the one in
 * the trace, the cache of this user, the shipped ones. Among several of one place, the best judged;
 * a place that has only another GPU's figures does not end the search. `fresh`: the cache was just
 * filled and goes before the trace. 0 with provenance NONE when
 * there is none; negative only for an unusable `file`.
 */
int gmt_model_find(struct gmt_model *model, const struct gmt_timeline *timeline, const char *file,
                   bool fresh, char *message, size_t message_bytes);
/*
 * The model to price a simulated trace with: file (when not NULL, nothing else is tried), else of those
 * that come with gmtrace the one whose device is most like the one that the software device presents: of
 * its compute capability, and of as many multiprocessors. Never one of a cache, which would be whatever
 * was calibrated there last. Return value as above.
 */
int gmt_model_find_shipped(struct gmt_model *model, const struct gmt_timeline *timeline,
                           const char *file, char *message, size_t message_bytes);
/*
 * Factor by which a 2-D copy of that shape is slower than a 1-D copy of as many bytes: interpolated
 * between the shapes that were measured, on logarithms of width and rows; NAN without shapes.
 */
double gmt_shapes_factor(const struct gmt_model_shapes *shapes, double width_bytes, double rows);

/* The variant of a family whose name that is, or NULL. */
const struct gmt_model_variant *gmt_family_variant(const struct gmt_model_family *family,
                                                   const char *name);

#endif
