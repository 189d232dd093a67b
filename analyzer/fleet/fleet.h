/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a job, step by step, and which of them is odd. */
#ifndef GMT_ANALYZER_FLEET_FLEET_H
#define GMT_ANALYZER_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/arena.h"

enum gmt_fleet_cause {
#define GMT_FLEET_CAUSE(NAME, word, what) GMT_FLEET_CAUSE_##NAME,
#include "analyzer/fleet/causes.def"
#undef GMT_FLEET_CAUSE
    GMT_FLEET_CAUSES
};

enum gmt_fleet_measure {
#define GMT_FLEET_MEASURE(NAME, name, unit, CAUSE, side, middle, floor_of, floor, what) \
    GMT_FLEET_##NAME,
#include "analyzer/fleet/measures.def"
#undef GMT_FLEET_MEASURE
    GMT_FLEET_MEASURES
};

enum gmt_fleet_operation {
#define GMT_FLEET_OPERATION(NAME, name, size, bus, senders) GMT_FLEET_OPERATION_##NAME,
#include "analyzer/fleet/collectives.def"
#undef GMT_FLEET_OPERATION
    GMT_FLEET_OPERATIONS
};

enum gmt_fleet_unit {
    GMT_FLEET_UNIT_NS,
    GMT_FLEET_UNIT_BYTES,
    GMT_FLEET_UNIT_COUNT,
    GMT_FLEET_UNIT_RATE, /* ns per 10^6 bytes */
};
enum gmt_fleet_side { GMT_FLEET_HIGHER, GMT_FLEET_LOWER, GMT_FLEET_EITHER };
enum gmt_fleet_middle { GMT_FLEET_MEDIAN, GMT_FLEET_TRIMMED, GMT_FLEET_MEAN };
enum gmt_fleet_floor { GMT_FLEET_OF_STEP, GMT_FLEET_OF_SELF };

struct gmt_fleet_measure_row {
    const char *name, *what;
    enum gmt_fleet_unit unit;
    enum gmt_fleet_cause cause;
    enum gmt_fleet_side side;
    enum gmt_fleet_middle middle;
    enum gmt_fleet_floor floor_of;
    double floor;
};
extern const struct gmt_fleet_measure_row gmt_fleet_measure_rows[GMT_FLEET_MEASURES];
extern const struct gmt_fleet_cause_row {
    const char *word, *what;
} gmt_fleet_cause_rows[GMT_FLEET_CAUSES];

/* A collective, as this rank saw it. */
struct gmt_fleet_collective {
    uint64_t key;     /* hash of what those have in common that are counted together */
    int64_t position; /* among those of the key: the same one has the same position in all ranks */
    int64_t begin_ns, end_ns; /* wall clock of this rank's host */
    uint64_t communicator;    /* NCCL's hash of it; 0: not known, and so is the rest */
    uint64_t bytes;           /* of the message */
    uint32_t ranks;           /* of the communicator; 0: it was made before the recording */
    uint32_t operation;       /* enum gmt_fleet_operation */
};

/* What is the same for all steps of a rank, and an odd one differs by. */
enum gmt_fleet_trait {
    GMT_FLEET_DEVICE,
    GMT_FLEET_DRIVER,
    GMT_FLEET_TOOL, /* gmtrace's version */
    GMT_FLEET_TRAITS
};

/* What a rule found in a whole trace. */
struct gmt_fleet_finding {
    const char *fingerprint, *rule, *title, *place;
    double saves_ns;      /* most likely, in this rank's run; NAN: it has no price */
    uint64_t is_modelled; /* the price: the trace is of the software device */
};

/* A copy between host and device: when its call began and ended, by the wall clock of this rank's host. */
struct gmt_fleet_copy {
    int64_t begin_ns, end_ns; /* end 0: there is no such copy */
    double cost_ns;   /* without waiting for kernels, and without what these hid; NAN: not known */
    double direct_ns; /* of an upload: what it takes from another device of the same host; NAN */
    uint64_t place;   /* index into the rank's */
};

/* Bytes that this rank copied between its host and its devices, known by their fingerprint. */
struct gmt_fleet_content {
    uint64_t print[2];
    uint64_t hashed; /* bytes that the fingerprint is of, twice; 1 more: they are all */
    uint64_t bytes;
    struct gmt_fleet_copy down, up; /* the first read-back, and the first upload */
};

/* What there is to know of a rank's contents. */
struct gmt_fleet_copied {
    uint64_t copies, unknown; /* between host and device; of these, without a fingerprint */
    uint64_t left_out;        /* contents that there was no room for */
    uint64_t is_modelled;     /* what they cost: by the software device */
};

/* Contents of a rank. Of more, those with the smallest fingerprints are kept, which are the same ones in all ranks. */
#define GMT_FLEET_CONTENTS_MOST 4096

/* Of a rank: handles that it has exported, and flows. Of more, those with the smallest hashes are kept. */
#define GMT_FLEET_HANDLES_MOST 65536

/* Copies that touch memory of another process, with the same memory on both sides; or none: it was opened. */
struct gmt_fleet_flow {
    uint64_t from,
        to; /* gmt_export.hash of the handle that it was opened by; 0: memory of this process */
    uint64_t over_host;            /* the other side is memory of the host */
    uint64_t opened, opened_bytes; /* allocations that were opened by the handle `from` */
    uint64_t copies, bytes;
    uint64_t timed_bytes; /* of those copies of which is known how long the device took */
    double device_ns;     /* ... and how long, in sum */
};

/* What there is to know of memory that a rank shares with other processes. */
struct gmt_fleet_sharing {
    uint64_t opened;   /* allocations that are memory of another process, whose handle is known */
    uint64_t left_out; /* handles and flows that there was no room for */
    uint64_t is_modelled; /* device_ns: by the software device */
};

/* How its program ended, and from when to when it ran. */
struct gmt_fleet_life {
    uint64_t has_exit_status; /* else it is not known */
    int64_t exit_status;      /* as wait(2) gives it */
    int64_t begin_ns, end_ns; /* wall clock of its host; both 0: not known */
};

/* One trace. Strings and arrays belong to whoever filled it in. */
struct gmt_fleet_rank {
    const char *trace, *rank, *host; /* file; "3"; NULL: unknown */
    const char *traits[GMT_FLEET_TRAITS];
    const char *trouble;    /* why it is not compared; NULL: it is */
    const char *remark;     /* what it lacks; NULL: nothing */
    const char *end_reason; /* as the trace has it; NULL: not known */
    struct gmt_fleet_life life;
    size_t first_step,
        step_count; /* number of the first one: steps of one number are one step of the job */
    double *values; /* [step - first_step][measure]; NAN: not measured */
    struct gmt_fleet_collective *collectives; /* by key and position */
    size_t collective_count;
    struct gmt_fleet_finding *findings; /* not those that are notes */
    size_t finding_count;
    struct gmt_fleet_content *contents; /* by fingerprint */
    const char **places;                /* of copies */
    size_t content_count, place_count;
    struct gmt_fleet_copied copied;
    uint64_t *exported; /* hashes of handles by which others open its memory, ascending */
    struct gmt_fleet_flow *flows;
    size_t exported_count, flow_count;
    struct gmt_fleet_sharing sharing;
    bool has_findings;   /* the rules have run: the trace is whole */
    bool has_wall_clock; /* else no collective of it has a time that others' have, too */
    bool
        has_device_times; /* else host and collective_ns are of the host: comparable among such ranks only */
};

struct gmt_fleet {
    struct gmt_fleet_rank *ranks;
    size_t count;
    bool is_parquet; /* of exported files, in which nobody looks for findings and contents */
};

/* Says one thing more about a rank, behind what is said already. text: of the arena, or constant; NULL: the arena is full. */
void gmt_fleet_remark(struct gmt_fleet_rank *rank, struct gmt_arena *arena, const char *text);
/* Its number, or the file of its trace. */
const char *gmt_fleet_rank_name(const struct gmt_fleet_rank *rank);
/* Different hosts that the ranks name. */
size_t gmt_fleet_hosts(const struct gmt_fleet *fleet);
/* Name of a trait, as JSON has it; NULL: none. */
const char *gmt_fleet_trait_word(int trait);

#endif
