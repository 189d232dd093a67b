/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the software device share: objects, the address registry, the calling thread.
 *
 * Device memory is host memory. Work on a stream is done before the call returns, or recorded when
 * the stream is being captured. Calls made before cuInit, in a child forked after it, or without a
 * current context fail as the driver's documentation says.
 */
#ifndef SIMGPU_DRIVER_DRIVER_H
#define SIMGPU_DRIVER_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL /* every version of every function under its exported name */
#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_VERSION 13000
#define SIM_MAX_DEVICES 8
#define SIM_MAX_PARAMS 256
#define SIM_CONTEXT_DEPTH 16

enum sim_kind {
    SIM_NOTHING = 0,
    SIM_MEM_DEVICE = 0x1,
    SIM_MEM_MANAGED = 0x2,
    SIM_MEM_PINNED = 0x4,
    SIM_MEM_REGISTERED = 0x8,
    SIM_CONTEXT = 0x10,
    SIM_STREAM = 0x20,
    SIM_EVENT = 0x40,
    SIM_MODULE = 0x80,
    SIM_LIBRARY = 0x100,
    SIM_FUNCTION = 0x200,
    SIM_KERNEL = 0x400, /* an array of them, in struct sim_library */
    SIM_POOL = 0x800,
    SIM_ARRAY = 0x1000,
    SIM_GRAPH = 0x2000,
    SIM_GRAPH_EXEC = 0x4000,
};
#define SIM_ANY_DEVICE_MEMORY (SIM_MEM_DEVICE | SIM_MEM_MANAGED)
#define SIM_ANY_HOST_MEMORY (SIM_MEM_PINNED | SIM_MEM_REGISTERED)

/* An address range the driver has handed out: memory, or the object behind a handle. */
struct sim_range {
    uintptr_t start;
    size_t bytes;
    enum sim_kind kind;
    unsigned flags;
    struct sim_context *context;
    size_t mapped_bytes; /* obtained by mmap rather than malloc */
};

struct sim_context {
    CUdevice device;
    unsigned flags;
    unsigned retained; /* primary contexts: reference count */
    bool primary;
    unsigned long long id;
};

struct sim_stream {
    struct sim_context *context;
    unsigned flags;
    int priority;
    unsigned long long id;
    CUstreamCaptureMode mode;
    struct sim_graph *capture; /* graph being recorded, NULL = not capturing */
};

struct sim_param {
    size_t offset, bytes;
};

struct sim_function {
    char name[256];
    struct sim_module *module;
    struct sim_param params[SIM_MAX_PARAMS];
    unsigned param_count;
    size_t param_bytes;
    int static_shared_bytes, local_bytes, max_threads, max_dynamic_shared_bytes;
};

struct sim_global {
    char name[256];
    char *data;
    size_t bytes;
};

struct sim_module {
    struct sim_function *functions;
    unsigned function_count;
    struct sim_global *globals;
    unsigned global_count;
};

struct sim_library {
    struct sim_module *module;
    struct sim_kernel {
        struct sim_function *function;
        struct sim_library *library;
    } * kernels; /* one per function of the module */
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
};

struct sim_set {
    char *dst;
    size_t pitch, width, height; /* width in elements */
    unsigned element_bytes, value;
};

struct sim_launch {
    struct sim_function *function;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    unsigned char params[4096];
};

struct sim_node {
    enum { SIM_NODE_COPY, SIM_NODE_SET, SIM_NODE_LAUNCH, SIM_NODE_HOST } kind;
    union {
        struct sim_copy copy;
        struct sim_set set;
        struct sim_launch *launch;
        struct {
            CUhostFn call;
            void *data;
        } host;
    };
};

struct sim_graph {
    struct sim_node *nodes;
    size_t count, capacity;
};

/* The calling thread. */
struct sim_thread {
    bool per_thread; /* inside a _ptds or _ptsz entry point: stream 0 is this thread's own */
    int depth;
    struct sim_context *contexts[SIM_CONTEXT_DEPTH];
    struct sim_stream default_stream;
    int unsafe_captures; /* captures begun here in a mode that forbids unsafe calls */
    CUstreamCaptureMode capture_mode;
};
extern _Thread_local struct sim_thread sim_thread;

/* registry.c */
void *sim_object_new(enum sim_kind kind, size_t bytes);
bool sim_object_is(const void *object, unsigned kinds);
bool sim_object_delete(void *object, unsigned kinds);
/* Delete the object with this context at the latest. */
void sim_object_own(const void *object, struct sim_context *context);
/* True if `address` is the start of an element of an object that is an array of such elements. */
bool sim_object_element(const void *address, enum sim_kind kind, size_t element_bytes);
CUresult sim_memory_new(enum sim_kind kind, size_t bytes, unsigned flags, bool low, void **out);
CUresult sim_memory_register(void *start, size_t bytes, unsigned flags);
/* Make a malloc'ed block device memory: globals of modules. */
bool sim_memory_adopt(void *start, size_t bytes);
CUresult sim_memory_delete(uintptr_t start, unsigned kinds);
bool sim_memory_find(uintptr_t address, struct sim_range *range);
/* True if [address, address + bytes) is device memory, or bytes is 0. */
bool sim_memory_covers(uintptr_t address, size_t bytes);
size_t sim_memory_used(void);
size_t sim_memory_limit(void);
/* Free what the destroyed context owned. */
void sim_context_release(struct sim_context *context);

/* context.c */
CUresult sim_call_allowed(void);
bool sim_device_valid(CUdevice device);
struct sim_context *sim_current(void);
CUresult sim_stream_of(CUstream handle, struct sim_stream **stream);
/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED while this thread captures in a mode that forbids the call. */
CUresult sim_capture_safe(void);

/* graph.c: do the work now, or record it when the stream is being captured. */
CUresult sim_submit(CUstream handle, const struct sim_node *node);
void sim_graph_add(struct sim_graph *graph, const struct sim_node *node);

/* launch.c: run the few kernels that are built in; all others do nothing. */
void sim_kernel_run(const struct sim_launch *launch);

/* module.c: the function a CUfunction, or a CUkernel cast to one, names; NULL if neither. */
struct sim_function *sim_function_of(CUfunction handle);

/* ptx.c */
CUresult sim_module_parse(const char *text, struct sim_module **module);
void sim_module_free(struct sim_module *module);

/* exports.c */
CUresult sim_enter(unsigned id, bool per_thread);

/* One implementation per row of functions.def. */
#define SIM(symbol, base, since, params, args) CUresult sim_##symbol params;
#define SIM_PTDS(symbol, base, since, since_pt, params, args) CUresult sim_##symbol params;
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) CUresult sim_##symbol params;
#include "simgpu/driver/functions.def"

#endif
