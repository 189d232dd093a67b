/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the driver part share: objects, memory, contexts, streams, the calling thread.
 *
 * Device memory is host memory and its addresses are host addresses. Work on a stream is done before
 * the call returns, or recorded when the stream is being captured. Calls made before cuInit, in a
 * child forked after it, or without a current context fail as the driver's documentation says.
 *
 * Under SIMGPU_ORDER work is done late: late.h.
 *
 * Locks, in the order in which they are taken: the queues (late.c), work (work_lock.c: readers do work, writers free what work
 * may use), launch (call.c), library (library_shared.c), primary (primary.c), registry (registry.h). No user
 * code is called with one held. The lock of simgpu/order comes last.
 */
#ifndef SIMGPU_DRIVER_DRIVER_H
#define SIMGPU_DRIVER_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL /* every version of every function under its exported name */
#include <cuda.h>
#include <cudaProfiler.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simgpu/exec/exec.h"

#define SIM_VERSION 13000 /* CUDA 13.0 */
#define SIM_COMPUTE_MAJOR 9
#define SIM_COMPUTE_MINOR 0
#define SIM_MULTIPROCESSORS 132
#define SIM_MAX_SHARED_BYTES 232448 /* per block, after opting in */
#define SIM_DEFAULT_SHARED_BYTES 49152
#define SIM_ASSUMED_REGISTERS 32 /* per thread: ptxas knows; with 32 they never limit occupancy */
#define SIM_MAX_DEVICES 8
#define SIM_CONTEXT_DEPTH 16
#define SIM_PER_THREAD_STREAM_ID 2 /* the legacy stream has 1 */
#define SIM_PRIORITY_LEAST 0
#define SIM_PRIORITY_GREATEST (-5)

enum sim_kind {
    SIM_NOTHING = 0,
    SIM_MEM_DEVICE = 0x1,
    SIM_MEM_MANAGED = 0x2,
    SIM_MEM_PINNED = 0x4,
    SIM_MEM_REGISTERED = 0x8,
    SIM_MEM_GLOBAL = 0x10, /* a module's variable */
    SIM_CONTEXT = 0x20,
    SIM_STREAM = 0x40,
    SIM_EVENT = 0x80,
    SIM_IMAGE = 0x100,
    SIM_LIBRARY = 0x200,
    SIM_FUNCTION = 0x400, /* an array of them, in struct sim_image */
    SIM_KERNEL = 0x800,   /* an array of struct sim_library_kernel, in struct sim_library */
    SIM_POOL = 0x1000,
    SIM_ARRAY = 0x2000,
    SIM_GRAPH = 0x4000,
    SIM_GRAPH_EXEC = 0x8000,
    SIM_LINK = 0x10000,
    SIM_MEM_MAPPED = 0x20000, /* by cuMemMap, and accessible */
};
#define SIM_ANY_DEVICE_MEMORY (SIM_MEM_DEVICE | SIM_MEM_MANAGED | SIM_MEM_GLOBAL | SIM_MEM_MAPPED)
#define SIM_ANY_HOST_MEMORY (SIM_MEM_PINNED | SIM_MEM_REGISTERED)

/* An address range the driver has handed out: memory, or the object behind a handle. */
struct sim_range {
    uintptr_t start;
    size_t bytes;
    enum sim_kind kind;
    unsigned flags;
    uint32_t id; /* counts up, never used twice by memory */
    CUdevice device;
    struct sim_context *context; /* owner, NULL = the process */
    struct sim_mempool *pool;    /* of stream-ordered allocations */
    const char *name;            /* of module variables */
    bool is_const;
    size_t mapped_bytes; /* obtained by mmap rather than malloc */
    int file;            /* that its pages are of, for other processes; closed with it. 0: none */
    size_t pool_offset;  /* in the file of a pool of this process that may be shared */
    struct {             /* cuMemAdvise, cuMemPrefetchAsync: kept per allocation */
        bool read_mostly;
        CUmemLocation preferred, prefetched;
        unsigned accessed_by; /* bit set of devices */
    } advice;
};

struct sim_graph;
struct sim_event;
struct sim_lane;
struct sim_operation;
struct sim_image;

/* Nodes of a graph that is captured, by number; under SIMGPU_ORDER only. */
struct sim_frontier {
    uint32_t *nodes;
    size_t count, capacity;
};

struct sim_stream {
    struct sim_context *context;
    unsigned flags;
    int priority;
    unsigned long long id;
    CUstreamCaptureMode mode;
    struct sim_graph *capture; /* graph being recorded, NULL = not capturing */
    bool is_origin;            /* began the capture; the others joined it by waiting for an event */
    struct sim_stream *next_captured;
    struct sim_lane *lane;        /* late.c: what is queued, NULL = nothing so far */
    struct sim_frontier frontier; /* late_graph.c: what the next captured node comes after */
};

struct sim_context {
    CUdevice device;
    unsigned flags;
    bool primary;
    unsigned long long id;
    CUfunc_cache cache_config;
    size_t limits[CU_LIMIT_MAX];
    _Atomic unsigned peers; /* bit set of devices whose memory kernels of this context may touch */
    atomic_int fault;       /* CUresult of the kernel that failed, 0 = none */
    atomic_bool fault_seen; /* a synchronizing call has reported it: now every call does */
    struct sim_stream legacy;
    struct sim_map map; /* what kernels may touch; map.c */
    size_t map_capacity;
    uint64_t map_generation;
};

/* CUfunction: a kernel of a module as loaded in one context. */
struct sim_function {
    struct sim_image *image;
    const struct sim_kernel *kernel;
    const struct sim_kernel_info *info;
    const struct ptx_function *ptx;
    unsigned index; /* in its image */
    int max_dynamic_bytes, carveout;
    unsigned registers;
    bool syncs_grid; /* reads the registers by which cooperative groups find the grid's barrier */
};

/* CUmodule: PTX loaded in one context; a library has one for each context that uses it. */
struct sim_image {
    struct sim_module *module;
    struct sim_context *context; /* NULL: of a library, and no context has used it yet */
    struct sim_library *library;
    struct sim_image *next; /* of the library */
    struct sim_function *functions;
    unsigned function_count, target; /* 90: the PTX is for sm_90 */
    struct sim_global *globals;
    size_t global_count;
};

struct sim_managed; /* library_shared.c */

/* CUlibrary and CUkernel. */
struct sim_library_kernel {
    struct sim_library *library;
    unsigned index;
    int max_dynamic_bytes[SIM_MAX_DEVICES]; /* as set for each device, 0 = not set */
};

struct sim_library {
    char *ptx;
    size_t ptx_bytes;
    struct sim_image *images;
    struct sim_library_kernel *kernels;
    unsigned kernel_count;
    struct sim_managed *managed; /* one per global of the images, empty where it is not managed */
    size_t managed_count;
};

struct sim_array {
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t element_bytes, row_bytes;
    char *data;
};

/* A copy of width x height x depth bytes between two pitched boxes; every copy is one of these. */
struct sim_copy {
    char *dst;
    const char *src;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    size_t width, height, depth;
    bool dst_known, src_known; /* must lie in memory the driver knows */
    bool dst_is_array, src_is_array;
};

struct sim_memset {
    char *dst;
    size_t pitch, width, height; /* width in elements */
    unsigned element_bytes, value;
};

/* A launch that has been checked, with its parameters behind it. */
struct sim_call {
    struct sim_function *function;
    unsigned grid[3], block[3], dynamic_bytes;
    struct sim_event *completion; /* recorded when it has run, or NULL */
    size_t param_bytes;
    unsigned char params[];
};

struct sim_node {
    enum { SIM_NODE_COPY, SIM_NODE_SET, SIM_NODE_CALL, SIM_NODE_HOST, SIM_NODE_VALUE } kind;
    bool is_off;        /* of an executable graph: it is not run */
    size_t param_bytes; /* of a kernel, as graphs report them */
    void *extra[5];
    union {
        struct sim_copy copy;
        struct sim_memset set;
        struct sim_call *call;
        struct {
            CUhostFn call;
            void *data;
        } host;
        struct {
            CUdeviceptr address;
            uint64_t value;
            unsigned bytes;
        } value;
    };
};

struct sim_graph {
    struct sim_node *nodes;
    size_t count, capacity;
    struct sim_stream *captured;    /* streams that record into it */
    const struct sim_graph *source; /* of an executable graph: what it was made from */
    struct sim_edge {
        uint32_t from, to;
    } * edges; /* under SIMGPU_ORDER only: in the order of `to` */
    size_t edge_count, edge_capacity;
    struct sim_operation *last; /* of an executable graph: the end of its last launch */
};

/* The calling thread. */
struct sim_thread {
    bool per_thread; /* inside a _ptds or _ptsz entry point: stream 0 is this thread's own */
    int depth;
    struct sim_context *contexts[SIM_CONTEXT_DEPTH];
    struct sim_stream default_stream;
    int unsafe_captures; /* captures begun here in a mode that forbids unsafe calls */
    CUstreamCaptureMode capture_mode;
    bool in_graph; /* launching a graph: its kernels are not counted one by one */
};
extern _Thread_local struct sim_thread sim_thread;

/* objects.c: the live objects behind handles. `context`: deleted with it, NULL = never. */
void *sim_object_new(enum sim_kind kind, size_t bytes, struct sim_context *context);
bool sim_object_is(const void *object, unsigned kinds);
/* True if `address` is the start of an element of an object that is an array of such elements. */
bool sim_object_element(const void *address, enum sim_kind kind, size_t element_bytes);
bool sim_object_delete(void *object, unsigned kinds);
void sim_object_own(const void *object, struct sim_context *context);

/* heap.c: memory. `low`: below 4 GiB. `pool` may be NULL. Frees wait for work that runs. */
CUresult sim_heap_allocate(enum sim_kind kind, size_t bytes, unsigned flags, bool low,
                           struct sim_mempool *pool, void **out);
CUresult sim_heap_register(void *start, size_t bytes, unsigned flags);
CUresult sim_heap_free(uintptr_t start, unsigned kinds);
/* Make storage that somebody else frees known as memory, and unknown again. */
bool sim_heap_adopt(const struct sim_range *range);
void sim_heap_disown(uintptr_t start);
bool sim_heap_find(uintptr_t address, struct sim_range *range);
/* Its pages are those of the file from now on. False: it is another range by now. */
bool sim_heap_set_file(uintptr_t start, uint32_t id, int file);
/* True if [address, address + bytes) is memory the driver knows, or bytes is 0. */
bool sim_heap_covers(uintptr_t address, size_t bytes);
/* Change the advice of managed memory that holds [address, address + bytes); false if none does. */
bool sim_heap_advise(uintptr_t address, size_t bytes, void (*change)(struct sim_range *, void *),
                     void *data);
size_t sim_heap_used(CUdevice device);
/* Physical memory comes and goes apart from its addresses; false: there is not so much. */
bool sim_heap_charge(CUdevice device, size_t bytes);
void sim_heap_refund(CUdevice device, size_t bytes);
size_t sim_heap_limit(void);
void sim_heap_release(struct sim_context *context);

/* map.c: what kernels of a context may touch. Launch lock held. NULL: no memory. */
const struct sim_map *sim_map_of(struct sim_context *context);
bool sim_range_accessible(const struct sim_range *range, CUdevice device, unsigned peers);
void sim_map_changed(void); /* peer access or a pool's access is another now */

/* context.c, settings.c, primary.c; sim_current in current.c, sim_fault* in fault.c */
struct sim_context *sim_context_new(CUdevice device, unsigned flags, bool primary);
void sim_context_delete(struct sim_context *context);
struct sim_context *sim_current(void);
/* The error of the context's kernel: from the first synchronizing call on, before that 0. */
CUresult sim_fault(struct sim_context *context, bool synchronizing);
void sim_fault_set(struct sim_context *context, CUresult error);
/* True if some context's error has been reported: look before calling. */
bool sim_faults_seen(void);
bool sim_faulted(struct sim_context *context);
void sim_fault_forget(struct sim_context *context);
void sim_limits_default(struct sim_context *context);
size_t sim_stack_bytes(const struct sim_context *context);

/* device.c; device_count.c */
CUresult sim_call_allowed(void);
bool sim_device_valid(CUdevice device);
int sim_device_count(void);

/* current.c, event.c, capture_streams.c */
CUresult sim_stream_of(CUstream handle, struct sim_stream **stream);
/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED while this thread captures in a mode that forbids the call. */
CUresult sim_capture_safe(void);
CUresult sim_capture_begin(struct sim_stream *stream, struct sim_graph *graph);
CUresult sim_capture_join(struct sim_stream *stream, struct sim_graph *graph);
void sim_capture_drop(struct sim_stream *stream);
void sim_capture_end(struct sim_graph *graph);
void sim_event_record(struct sim_event *event, struct sim_graph *capture);
/* Under SIMGPU_ORDER: as the next operation of a stream that is not captured. */
CUresult sim_event_record_late(struct sim_event *event, struct sim_stream *stream);

/* work.c: do the work now, or record it when the stream is being captured. A blocking call reports
 * what went wrong before it and prints what kernels have printed. */
CUresult sim_submit(CUstream handle, const struct sim_node *node, bool blocking);
CUresult sim_node_run(const struct sim_node *node, struct sim_context *context);
CUresult sim_synchronize(struct sim_context *context); /* fault.c */
/* work_lock.c */
void sim_work_begin(void);
void sim_work_end(void);
void sim_work_stop(void); /* wait for all work, and keep new work waiting */
void sim_work_resume(void);

/* graph_node.c */
CUresult sim_graph_add(struct sim_graph *graph, const struct sim_node *node);

/* call.c: run a checked call in `context`. Work lock held for reading. */
CUresult sim_call_run(const struct sim_call *call, struct sim_context *context);

/* skip.c: calls and edges that SIMGPU_SKIP leaves out. */
extern bool sim_skipping;
void sim_skip_begin(void);
bool sim_skips(unsigned id);
bool sim_skips_edge(void);
bool sim_skips_listed_edge(size_t index);

/* watch.c: the tool that CUDA_INJECTION64_PATH names, once. */
void sim_load_tool(void);

/* counting.c: simgpu/simgpu.h; NULL where the device is not to be known as what it is. */
struct simgpu_interface;
const struct simgpu_interface *simgpu_interface(void);

/* counting.c: the calling thread's record of its last launch. Launch lock held, but for forget. */
bool sim_looking_for_races(void);
struct sim_counts *sim_counting_begin(void); /* emptied, to be filled; NULL: do not count */
void sim_counting_end(const struct sim_kernel *kernel); /* it has been filled */
void sim_counting_forget(void);
/* Counts are handed from one thread to another: taken from the calling thread, NULL: it has none; and made its own. */
bool sim_counting_on(void);
void *sim_counting_take(void);
void sim_counting_give(void *counts);
void sim_counting_free(void *counts);

/* reach.c: struct simgpu_interface's. */
int sim_code_reach(void *function, void (*variable)(void *data, const char *name), void *data);
bool sim_code_allocates(void); /* of image.c */

/* image.c: work lock held for writing, or nobody knows the image yet. */
void sim_image_free(struct sim_image *image);

/* module.c: the function a CUfunction names, or a CUkernel cast to one in `context`; NULL if neither. */
struct sim_function *sim_function_of(CUfunction handle, struct sim_context *context);

/* pool_memory.c: Registry locked. */
bool sim_mempool_take(struct sim_mempool *pool, size_t bytes);
void sim_mempool_give(struct sim_mempool *pool, size_t bytes);
bool sim_mempool_reaches(const struct sim_mempool *pool, CUdevice device);
CUdevice sim_mempool_device(const struct sim_mempool *pool);
/* May the pool be shared? Then its memory comes from there. NULL: there is none. */
bool sim_mempool_is_shareable(const struct sim_mempool *pool);
void *sim_mempool_obtain(struct sim_mempool *pool, size_t bytes, size_t *mapped_bytes,
                         size_t *offset);

/* watchdog.c: one line on standard error when a kernel has run for a minute, or will run for ten
 * (SIMGPU_NOTICE_S), and when to end it (SIMGPU_TIMEOUT). Times are CLOCK_MONOTONIC_COARSE's. */
struct sim_watchdog {
    const char *kernel;
    uint64_t begin_ms;
    uint64_t notice_ms, limit_ms; /* after the beginning; 0: never */
    atomic_bool said;
};
void sim_watchdog_begin(struct sim_watchdog *watchdog, const char *kernel);
/* Any thread. False: the kernel has run longer than it may. */
bool sim_watchdog_look(void *watchdog, const struct sim_progress *progress);

/* errors.c: one line on standard error, "gmtrace software device: ...". */
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* exports.c */
CUresult sim_enter(unsigned id, bool per_thread);

/* One implementation per row of functions.def. */
#define SIM(symbol, base, since, params, args) CUresult sim_##symbol params;
#define SIM_PTDS(symbol, base, since, since_pt, params, args) CUresult sim_##symbol params;
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) CUresult sim_##symbol params;
#include "simgpu/driver/functions.def"

#endif
