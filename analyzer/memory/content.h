/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the bytes that copies moved: which of them the destination held already, and which
 * had just come from a device.
 *
 * Calls are followed in the order in which the host made them. A place is a range of a device
 * allocation that one copy filled or read; what it holds is known by the fingerprint of that copy
 * until another copy, a memset or a kernel may have written to it. A kernel that got a pointer into
 * the allocation leaves a place known where it cannot have written it (the software device counted no
 * store, or the parameter is a pointer to const), else doubtful: see gmt_doubt. Memory that others
 * than this program's calls write (managed, another process's, another API's) is not followed.
 */
#ifndef GMT_ANALYZER_MEMORY_CONTENT_H
#define GMT_ANALYZER_MEMORY_CONTENT_H

#include "analyzer/trace/timeline.h"

enum gmt_content_known {
    GMT_CONTENT_UNKNOWN, /* one of both has no fingerprint, or they are not comparable */
    GMT_CONTENT_OTHER,
    GMT_CONTENT_SAME
};

/* A fingerprint; whole = -1: there is none. */
struct gmt_print {
    uint64_t high, low;
    int64_t bytes_hashed;
    int8_t whole;
    uint8_t skipped; /* why there is none: enum gmt_fingerprint_state, NONE: they were off */
};

/* What may have written a place; above 0: launches of the class with that number, less 1. */
enum gmt_doubt {
    GMT_DOUBT_NONE = 0,
    GMT_DOUBT_ARGUMENTS = -1, /* a launch of unknown arguments, a graph, a communication library */
    GMT_DOUBT_INDIRECT = -2,  /* no launch ever gets a pointer into that memory                   */
    GMT_DOUBT_STREAM = -3,    /* earlier work of another stream, which nobody has waited for      */
    GMT_DOUBT_SHARED = -4,    /* another process, to which the program gave access                */
    GMT_DOUBT_UNSEEN = -5,    /* calls outside of the range                                       */
    GMT_DOUBT_VALUE = -6,     /* a value that a stream writes, at an address that is not recorded */
};

/* Whether the host has the bytes that a copy brings from a device, as far as copies show. */
enum gmt_host_holds { GMT_HOST_UNKNOWN, GMT_HOST_ELSEWHERE, GMT_HOST_THERE };

/* About one copy between the host and a device. */
struct gmt_copy_content {
    struct gmt_print print; /* of every copy                                             */
    /* Earlier copy by which the content of its destination was known, or of its source if it goes to the host; -1: none. */
    int32_t before;
    int32_t source;                  /* copy from a device that filled its source; -1: none       */
    enum gmt_content_known place;    /* the same bytes as `before`?                            */
    enum gmt_content_known trip;     /* as `source`, and they are still where it read them?    */
    int32_t place_doubt, trip_doubt; /* enum gmt_doubt; place_doubt: also of a copy to the host */
    /* Of a copy to a device alone: an earlier one by which other memory held the same bytes; -1: none. */
    int32_t twin;
    /* It brings back what `source` had taken from memory that was freed meanwhile, unchanged until then, to
     * memory that holds nothing else yet. */
    bool parked;
    /* Where `trip` is not known because hashing had no time: the bytes of `source` still lie where it read them,
     * but for trip_doubt, so that equal bytes would be a round trip. */
    bool trip_open;
    /* Of a copy to the host alone: */
    enum gmt_content_known there; /* the same bytes as `before`? */
    enum gmt_host_holds
        host; /* where the host has them already, if `there` is SAME or not known for want
                                   * of time to hash */
};

/* By index of the copy; the caller frees. NULL: no memory, or the trace cannot be read. */
struct gmt_copy_content *gmt_contents_find(const struct gmt_timeline *timeline);

/* Do the bytes of copy `i` come straight from a device? Uploading them once more is no round trip. */
bool gmt_content_is_round_trip(const struct gmt_timeline *timeline,
                               const struct gmt_copy_content *contents, size_t i);

enum gmt_content_known gmt_print_compare(const struct gmt_print *a, const struct gmt_print *b);

/* They cannot be compared, and for no other reason than that hashing had used up its time. */
bool gmt_prints_lack_time(const struct gmt_print *a, const struct gmt_print *b);

/* ---- parts ------------------------------------------------------------------------------------ */

/* Can a launch have written to memory that one of its arguments points into? */
enum gmt_write { GMT_WRITE_NO, GMT_WRITE_MAYBE, GMT_WRITE_YES };

struct gmt_pointer_argument {
    int64_t set, allocation, offset;
    int32_t parameter, word; /* parameter -1: unknown */
};

/* What the name of a kernel says, by class. */
struct gmt_writer_class {
    uint64_t constant; /* bit i: parameter i is a pointer to const */
    bool open_ended;   /* gmt_class_is_open_ended */
};

struct gmt_writers {
    const struct gmt_timeline *timeline;
    struct gmt_writer_class *classes;
    struct gmt_pointer_argument *arguments; /* by set */
    size_t argument_count;
    struct gmt_footprint_row *footprints; /* by class and allocation */
    size_t footprint_count;
};

int gmt_writers_load(struct gmt_writers *writers, const struct gmt_timeline *timeline);
void gmt_writers_free(struct gmt_writers *writers);
/* The arguments of a launch; *count gets their number. */
const struct gmt_pointer_argument *gmt_writers_arguments(const struct gmt_writers *writers,
                                                         int64_t set, size_t *count);
enum gmt_write gmt_writers_ask(const struct gmt_writers *writers, int32_t class_index,
                               const struct gmt_pointer_argument *argument);

#endif
