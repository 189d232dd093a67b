/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a spool: what the traced process writes and the recorder reads.
 *
 * A spool is a directory `<output>.spool/` that holds one control file (`control`, struct
 * gmt_control) and any number of chunk files (`chunk-<n>`, struct gmt_chunk_header followed by
 * 64-byte slots). A record is 1..255 consecutive slots of one chunk. Its first 32-bit word is the
 * commit word, written last with a release store: a reader that sees 0 there stops, so a process
 * that dies in the middle of a record leaves nothing that could be misread.
 *
 * The directory gets its name when the control file is complete and locked (spool_claim.h).
 *
 * Everything is native-endian; the control file says which. Sizes and offsets are pinned by the
 * static assertions at the end of the headers. Any change of layout increments GMT_SPOOL_VERSION.
 */
#ifndef GMT_RECORD_LAYOUT_H
#define GMT_RECORD_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/kinds.h"

#define GMT_SPOOL_MAGIC UINT64_C(0x6c6f6f7073746d67) /* "gmtspool" */
#define GMT_CHUNK_MAGIC UINT64_C(0x6b6e756863746d67) /* "gmtchunk" */
#define GMT_SPOOL_VERSION 18u
#define GMT_SPOOL_OLDEST_VERSION \
    1u /* still read: 2 added record types 31 to 33 and a counter group; 3 added 34, 35 and 40; 4 added
          48, 52, 53, a counter group, gmt_fingerprint and the file `coverage`; 5 added 54; 6 added
          GMT_CHUNK_KEPT and the files `free-<n>`; 7 added gmt_graph.made and gmt_graph_node.turned;
          8 added gmt_control.boot_id, host, run, chunks_read and chunks_made; 9 added 49 and
          gmt_fingerprint.end_ticks; 10 added 8 and 36, and GMT_ARG_TENSOR_MAP; 11 added 37 and
          GMT_STACK_PYTHON; 12 added gmt_control.ring_... and switched_off, and the files `base` and
           `clock`; 13 added 38, and the files `live` and `settings`; 14 added 39, gmt_call.stack_one_in and
           gmt_control.overhead_...; 15 added gmt_device_gap.reason, gmt_overhead.device_... and
           gmt_control.overhead_device_...; 16 added 55 in place of 53, and gmt_control.overhead_apart; 17 added
          41 and 42; 18 added 43 and gmt_alloc.handle_hash */
#define GMT_SPOOL_BYTE_ORDER 0x01020304u

#define GMT_SLOT_BYTES 64u
#define GMT_MAX_SLOTS 255u
#define GMT_COMMIT_MAGIC 0xc0deu

/* The commit word of a record: magic | slots | type. */
#define GMT_COMMIT(type, slots) \
    ((uint32_t)(GMT_COMMIT_MAGIC << 16) | ((uint32_t)(slots) << 8) | (uint32_t)(type))
#define GMT_COMMIT_TYPE(word) ((word)&0xffu)
#define GMT_COMMIT_SLOTS(word) (((word) >> 8) & 0xffu)
#define GMT_COMMIT_VALID(word) (((word) >> 16) == GMT_COMMIT_MAGIC && GMT_COMMIT_SLOTS(word) != 0)

/* Record types. "call" records start with struct gmt_call (one slot) and may be followed by the
 * payload slots of their family; "side" records start with struct gmt_side_head. */
enum gmt_rec_type {
    GMT_REC_NONE = 0,          /* nothing: its writer did not live to fill it in */
    GMT_REC_CALL = 1,          /* call: any other driver call (module load, stream create, ...) */
    GMT_REC_ALLOC = 2,         /* call + gmt_alloc: device or host memory came to life */
    GMT_REC_FREE = 3,          /* call + gmt_alloc: it went (only alloc_id and address are set) */
    GMT_REC_TRANSFER = 4,      /* call + gmt_transfer, + gmt_fingerprint where it says so */
    GMT_REC_MEMSET = 5,        /* call + gmt_memset */
    GMT_REC_LAUNCH = 6,        /* call + gmt_launch + argument slots (gmt_launch_arg) */
    GMT_REC_SYNC = 7,          /* call; gmt_call.detail = enum gmt_sync_kind */
    GMT_REC_ENCODE = 8,        /* call + gmt_encoding: a tensor map was encoded */
    GMT_REC_PROCESS = 16,      /* side + gmt_process */
    GMT_REC_THREAD = 17,       /* side + gmt_thread */
    GMT_REC_DEVICE = 18,       /* side + gmt_device */
    GMT_REC_CONTEXT = 19,      /* side + gmt_context */
    GMT_REC_STREAM = 20,       /* side + gmt_stream */
    GMT_REC_API = 21,          /* side + gmt_api: name of an entry point */
    GMT_REC_KERNEL = 22,       /* side + gmt_kernel */
    GMT_REC_KERNEL_CLASS = 23, /* side + gmt_kernel_class */
    GMT_REC_STACK = 24,        /* side + gmt_stack */
    GMT_REC_OBJECT = 25,       /* side + gmt_object: an ELF file mapped into the process */
    GMT_REC_CAPABILITY = 26,   /* side + gmt_capability */
    GMT_REC_LOSS = 27,         /* side + gmt_loss */
    GMT_REC_DEVICE_OP = 28,    /* side + gmt_device_op: one CUPTI activity record */
    GMT_REC_COUNTERS = 29,     /* side + gmt_counters: values measured for one launch */
    GMT_REC_EXIT = 30,         /* side: the process ended through exit(); nothing else to say */
    GMT_REC_INSTRUCTION = 31,  /* side + gmt_instruction: counts of one instruction of a launch */
    GMT_REC_FOOTPRINT = 32,    /* side + gmt_footprint: what a launch touched of an allocation */
    GMT_REC_RACE = 33,         /* side + gmt_race: two accesses of a launch that race */
    GMT_REC_GRAPH = 34,      /* side + gmt_graph: a graph can be launched from now on, or no more */
    GMT_REC_GRAPH_NODE = 35, /* side + gmt_graph_node: one operation of it */
    GMT_REC_TENSOR_MAP = 36, /* side + gmt_tensor_map: what a descriptor was made of */
    GMT_REC_PYTHON_LINE = 37, /* side + gmt_python_line: a line of a Python function in a stack */
    GMT_REC_MANAGED_OP = 38,  /* side + gmt_managed_op: a fault or migration of managed memory */
    GMT_REC_OVERHEAD = 39,    /* side + gmt_overhead: what gmtrace costs, and what it left out */
    GMT_REC_SASS_INSTRUCTION = 52, /* side + gmt_sass_instruction: counted on the GPU */
    GMT_REC_CUBIN = 53,            /* side + gmt_cubin_piece: device code of a counted kernel, as
                                      spools before version 16 have it */
    GMT_REC_INLINING = 54,    /* side + gmt_inlining: how an instruction's line came to be there */
    GMT_REC_CUBIN_PLACE = 55, /* side + gmt_cubin_place: where the code of a counted kernel lies */
    GMT_REC_RANGE = 40, /* side + gmt_user_range: a range that the program names, begun or ended */
    GMT_REC_HEAP =
        41, /* side + gmt_heap: memory of an allocator of the program's, begun or ended */
    GMT_REC_REGION = 42, /* side + gmt_region: what it handed out of that, begun, named or ended */
    GMT_REC_EXPORT = 43, /* side + gmt_export: other processes can open memory of this one */
    GMT_REC_DEVICE_GAP = 48, /* side + gmt_device_gap: no device records for a time */
    GMT_REC_OWN_TIME = 49,   /* side + gmt_own_time: gmtrace was at work */
};

/* First slot of every call record. Times are ticks (see gmt_clock_pair). */
struct gmt_call {
    uint32_t commit;
    uint32_t thread; /* gmt_thread.id */
    uint64_t begin_ticks;
    uint64_t end_ticks;
    uint64_t caller;       /* return address of the driver call */
    uint64_t stream;       /* CUstream as given, 0 where the call has none */
    uint64_t bytes;        /* bytes moved, set or allocated; 0 where it has no meaning */
    uint32_t stack;        /* gmt_stack.id, 0 = none */
    uint16_t api;          /* gmt_api.id */
    uint16_t context;      /* gmt_context.id, 0 = none */
    int16_t result;        /* CUresult */
    uint8_t flags;         /* GMT_CALL_* */
    uint8_t detail;        /* family specific (enum gmt_sync_kind) */
    uint32_t stack_one_in; /* 0: `stack` is the call's own; n: that of an earlier call of its place
                              and kind, of which about one in n is read */
};

struct gmt_transfer {
    uint64_t dst; /* address, or array handle when dst_class = GMT_MEM_ARRAY */
    uint64_t src;
    uint32_t dst_alloc; /* gmt_alloc.id the address falls into, 0 = none known */
    uint32_t src_alloc;
    uint64_t dst_pitch; /* bytes, 0 for 1-D copies */
    uint64_t src_pitch;
    uint64_t width;    /* bytes per row, 0 for 1-D copies */
    uint32_t height;   /* rows */
    uint32_t depth;    /* slices */
    uint8_t direction; /* enum gmt_direction */
    uint8_t dst_class; /* enum gmt_mem_class */
    uint8_t src_class;
    uint8_t fingerprint; /* enum gmt_fingerprint_state; WHOLE, SAMPLED: one more slot follows */
    uint32_t batch;      /* index within a cuMemcpyBatchAsync, which gives one record per copy */
};

/* XXH3, 128 bits, of the host memory of a transfer: as it was when the call returned. */
struct gmt_fingerprint {
    uint64_t low, high;
    uint64_t bytes_hashed;
    uint64_t
        end_ticks; /* it was taken between the return of the driver call and this; 0: unknown */
    uint8_t reserved[32];
};

struct gmt_memset {
    uint64_t dst;
    uint32_t dst_alloc;
    uint32_t value;
    uint64_t pitch; /* bytes, 0 for 1-D */
    uint64_t width; /* elements per row for 2-D, else 0 */
    uint64_t height;
    uint8_t element_bytes; /* 1, 2 or 4 */
    uint8_t dst_class;
    uint8_t reserved[22];
};

struct gmt_alloc {
    uint64_t address;
    uint32_t id;  /* unique in the process, from 1; shared by device and host memory */
    uint8_t kind; /* enum gmt_alloc_kind */
    uint8_t reserved8;
    uint16_t reserved16;
    uint64_t pitch;  /* bytes; 0 unless pitched */
    uint64_t width;  /* bytes; 0 unless pitched */
    uint64_t height; /* rows; 0 unless pitched */
    uint64_t pool;   /* CUmemoryPool, 0 = default or none; of mapped memory its physical handle */
    uint32_t flags;  /* cuMemHostAlloc / cuMemHostRegister / managed attach flags */
    uint8_t reserved[4];
    uint64_t handle_hash; /* of memory of another process: gmt_export.hash of the handle that it was
                             opened by; 0 = not known */
};

struct gmt_launch {
    uint32_t kernel;       /* gmt_kernel.id; 0 for a graph */
    uint32_t kernel_class; /* gmt_kernel_class.id; 0 when not classified */
    uint32_t grid[3];      /* blocks */
    uint32_t block[3];     /* threads */
    uint32_t dynamic_shared_bytes;
    uint16_t cluster[3];    /* blocks, 0 = no cluster */
    uint8_t kind;           /* enum gmt_launch_kind */
    uint8_t arguments;      /* enum gmt_args_state */
    uint8_t argument_count; /* gmt_launch_arg entries that follow, four per slot */
    uint8_t group;          /* enum gmt_counter_group measured around this launch */
    uint16_t reserved;
    uint32_t launch_seq; /* process-wide, from 1; gmt_counters.launch_seq refers to it */
    uint64_t graph;      /* CUgraphExec for GMT_LAUNCH_GRAPH */
};

/* A pointer argument: an aligned 8-byte word of a parameter that falls into a known allocation. */
struct gmt_launch_arg {
    uint16_t parameter;   /* index; 0xffff = somewhere in an `extra` buffer */
    uint16_t word_offset; /* bytes from the start of the parameter */
    uint32_t alloc;       /* gmt_alloc.id */
    uint64_t offset;      /* bytes from the start of the allocation, or GMT_ARG_TENSOR_MAP */
};
/* In place of `offset`: 128 bytes from word_offset on are the descriptor of a tensor map, and `alloc` is its
 * gmt_tensor_map.id. These follow behind all pointers. */
#define GMT_ARG_TENSOR_MAP UINT64_MAX

/* cuTensorMapEncode..., cuTensorMapReplaceAddress: the descriptor that a successful call left. */
struct gmt_encoding {
    uint32_t tensor_map; /* gmt_tensor_map.id, 0 = not known */
    uint8_t reserved[60];
};

/* ---- side records ---------------------------------------------------------------------------
 * head, fixed part, then text: NUL-terminated strings one after another, in the order given by the
 * comment of the struct, truncated to fit GMT_MAX_SLOTS slots. */
struct gmt_side_head {
    uint32_t commit;
    uint32_t thread; /* writer's gmt_thread.id, 0 = none (CUPTI's own threads) */
    uint64_t ticks;  /* when it was written */
};

struct gmt_process { /* text: exe, cwd, hostname, command line (arguments joined by \x1f),
                        options ("stacks=caller;collect=standard;..."), tool version, rank */
    struct gmt_side_head head;
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t realtime_ns; /* CLOCK_REALTIME when the trace began: at head.ticks */
};

struct gmt_thread { /* text: name */
    struct gmt_side_head head;
    uint32_t id; /* from 1 */
    uint32_t tid;
};

struct gmt_device { /* text: name, uuid ("GPU-..."), driver version ("580.159.04" or ""),
                       "key=value;..." of further device attributes */
    struct gmt_side_head head;
    uint32_t ordinal;
    uint32_t compute_major;
    uint32_t compute_minor;
    uint32_t sm_count;
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint32_t cuda_driver_version; /* cuDriverGetVersion, e.g. 13000 */
    uint32_t max_threads_per_sm;
    uint32_t registers_per_sm;
    uint32_t shared_bytes_per_sm;
    uint32_t max_blocks_per_sm;
    uint32_t warp_size;
    uint32_t shared_bytes_per_block_optin;
    uint32_t reserved_shared_bytes_per_block;
    uint32_t pci_bus;
    uint32_t integrated;
};

struct gmt_context {
    struct gmt_side_head head;
    uint64_t handle;
    uint32_t id;     /* from 1 */
    uint32_t device; /* ordinal */
};

struct gmt_stream { /* (context, handle, thread) -> the id CUPTI uses for the same stream */
    struct gmt_side_head head;
    uint64_t handle; /* 0 and 1 = legacy default stream; 2 = per-thread default stream */
    uint32_t context;
    uint32_t thread;   /* set for per-thread default streams, else 0 */
    uint32_t cupti_id; /* valid if has_cupti_id */
    uint8_t has_cupti_id;
    uint8_t has_priority;
    uint16_t flags; /* cuStreamGetFlags */
    int32_t priority;
};

struct gmt_api { /* text: driver entry point, runtime API name or "" */
    struct gmt_side_head head;
    uint16_t id;
    uint16_t family; /* enum gmt_call_family */
    uint32_t reserved;
};

struct gmt_kernel { /* text: name as the driver gives it (mangled) */
    struct gmt_side_head head;
    uint64_t handle;
    uint32_t id;
    int32_t registers;           /* per thread; -1 = unknown (software device), likewise below */
    int32_t static_shared_bytes; /* per block */
    int32_t local_bytes;         /* per thread */
    int32_t constant_bytes;
    int32_t max_threads_per_block;
    int32_t binary_version; /* e.g. 90 */
    int32_t ptx_version;
    int32_t max_dynamic_shared_bytes;
    int32_t parameter_count;
};

/* A class of launches: same kernel, grid, block and dynamic shared memory. */
struct gmt_kernel_class {
    struct gmt_side_head head;
    uint32_t id;
    uint32_t kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    int32_t max_blocks_per_sm; /* cuOccupancyMaxActiveBlocksPerMultiprocessor; -1 = unknown */
    uint16_t cluster[3];
    uint16_t reserved;
};

/* An executable graph. Its handle may come back as another one; after an update of the whole graph it is
 * described anew, under a new id. */
struct gmt_graph {
    struct gmt_side_head head;
    uint64_t since_ticks; /* launches that begin later (or, of an end, not before) are meant */
    uint64_t handle;      /* CUgraphExec */
    uint32_t id;          /* from 1; 0: the handle's graph has ended */
    uint32_t node_count;
    uint32_t context; /* gmt_context.id */
    uint32_t made; /* `id` of what the handle was made executable with: its own but for updates */
};

/* A node when the graph was made executable (those of child graphs as its own), or what it became. */
struct gmt_graph_node {
    struct gmt_side_head head;
    uint64_t since_ticks;
    uint64_t node; /* CUgraphNode: names it among the nodes of the graph */
    uint64_t dst, src, bytes;
    uint32_t graph; /* gmt_graph.id */
    uint32_t position;
    uint32_t dst_alloc, src_alloc;
    uint32_t kernel;  /* gmt_kernel.id */
    uint32_t grid[3]; /* blocks */
    uint32_t block[3];
    uint8_t kind;      /* enum gmt_graph_node_kind */
    uint8_t direction; /* enum gmt_direction */
    uint8_t dst_class, src_class;
    uint8_t is_update; /* the node was set anew: `position` says nothing */
    uint8_t turned;    /* enum gmt_graph_node_turned: if not 0, nothing else is said of the node */
    uint8_t reserved[2];
};

/* Arguments of the first call that gave a descriptor of these 128 bytes; numbers are those of cuda.h. Of
 * arrays the first `rank` members count, of strides one fewer. */
struct gmt_tensor_map {
    struct gmt_side_head head;
    uint64_t address;
    uint64_t dims[5];    /* elements */
    uint64_t strides[4]; /* bytes, of dimensions 1 to 4 */
    uint32_t box[5];     /* elements; im2col: channels per pixel, pixels per column */
    uint32_t element_strides[5];
    int32_t lower[3], upper[3]; /* im2col: corners of the pixel box as given; wide: one of each */
    uint32_t id;                /* unique in the process, from 1 */
    uint32_t alloc;             /* gmt_alloc.id of `address`, 0 = none known */
    uint8_t kind;               /* enum gmt_tensor_map_kind */
    uint8_t rank;
    uint8_t data_type, interleave, swizzle, l2_promotion, oob_fill;
    uint8_t wide_mode; /* im2col_wide */
};

struct
    gmt_stack { /* followed by `depth` 64-bit return addresses or lines of Python, innermost first */
    struct gmt_side_head head;
    uint32_t id;
    uint32_t depth;
    uint64_t reserved;
};

/* In place of a return address: the Python function whose gmt_python_line.id the other bits are. */
#define GMT_STACK_PYTHON (UINT64_C(1) << 63)

struct gmt_python_line { /* text: function, file as its code object names it */
    struct gmt_side_head head;
    uint32_t id;   /* from 1 */
    uint32_t line; /* 0: none */
};

struct gmt_object { /* text: path, build id in hex */
    struct gmt_side_head head;
    uint64_t load_bias; /* dlpi_addr */
    uint64_t start;     /* first mapped address */
    uint64_t end;       /* one past the last */
};

struct gmt_capability { /* text: name, detail, remedy */
    struct gmt_side_head head;
    uint32_t state; /* enum gmt_capability_state */
    int32_t code;   /* CUresult / CUptiResult / errno, 0 if none */
};

struct gmt_loss { /* text: kind, detail; rows of the same kind and detail are added up */
    struct gmt_side_head head;
    uint64_t count;
};

/* Text: name, domain ("" for the default one), payload (range_payload.h). A range has one record when it has ended, and may
 * have one before, written while it is open; the second then has no texts but a payload that came later. They can come in
 * any order. */
struct gmt_user_range {
    struct gmt_side_head head;
    uint64_t begin_ticks;
    uint64_t end_ticks; /* 0: open */
    uint32_t id;        /* unique in the process, from 1 */
    uint32_t thread;    /* gmt_thread.id of the thread that began it, 0 = not known */
    uint16_t depth;     /* of pushed ones: how many of its domain were open in the thread */
    uint8_t kind;       /* enum gmt_user_range_kind */
    uint8_t reserved[5];
};

#include "libtrace/record/layout/files.h"
#include "libtrace/record/layout/heaps.h"
#include "libtrace/record/layout/measured.h"
#include "libtrace/record/layout/sass.h"
#include "libtrace/record/layout/shared.h"
#include "libtrace/record/layout/simulated.h"

static_assert(sizeof(struct gmt_call) == 64, "call head is one slot");
static_assert(sizeof(struct gmt_transfer) == 64, "transfer payload is one slot");
static_assert(sizeof(struct gmt_fingerprint) == 64, "fingerprint is one slot");
static_assert(sizeof(struct gmt_memset) == 64, "memset payload is one slot");
static_assert(sizeof(struct gmt_alloc) == 64, "allocation payload is one slot");
static_assert(sizeof(struct gmt_launch) == 64, "launch payload is one slot");
static_assert(sizeof(struct gmt_launch_arg) == 16, "four arguments per slot");
static_assert(sizeof(struct gmt_encoding) == 64, "encoding payload is one slot");
static_assert(sizeof(struct gmt_tensor_map) == 176, "tensor map");
static_assert(sizeof(struct gmt_side_head) == 16, "side head");
static_assert(sizeof(struct gmt_user_range) == 48, "range");
static_assert(offsetof(struct gmt_call, commit) == 0, "commit word first");
static_assert(offsetof(struct gmt_side_head, commit) == 0, "commit word first");

#endif
