/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the stand-in driver share: objects, the address registry, the calling thread.
 *
 * Device memory is host memory. Work on a stream is done before the call returns, or recorded when
 * the stream is being captured. Calls made before cuInit, in a child forked after it, or without a
 * current context fail as the driver's documentation says.
 */
#ifndef FAKECUDA_FAKE_H
#define FAKECUDA_FAKE_H

#define __CUDA_API_VERSION_INTERNAL /* every version of every function under its exported name */
#include <cuda.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_VERSION 13000
#define FAKE_MAX_DEVICES 8
#define FAKE_MAX_PARAMS 256
#define FAKE_CONTEXT_DEPTH 16

enum fake_kind {
    FAKE_NOTHING = 0,
    FAKE_MEM_DEVICE = 0x1,
    FAKE_MEM_MANAGED = 0x2,
    FAKE_MEM_PINNED = 0x4,
    FAKE_MEM_REGISTERED = 0x8,
    FAKE_CONTEXT = 0x10,
    FAKE_STREAM = 0x20,
    FAKE_EVENT = 0x40,
    FAKE_MODULE = 0x80,
    FAKE_LIBRARY = 0x100,
    FAKE_FUNCTION = 0x200,
    FAKE_KERNEL = 0x400, /* an array of them, in struct fake_library */
    FAKE_POOL = 0x800,
    FAKE_ARRAY = 0x1000,
    FAKE_GRAPH = 0x2000,
    FAKE_GRAPH_EXEC = 0x4000,
};
#define FAKE_ANY_DEVICE_MEMORY (FAKE_MEM_DEVICE | FAKE_MEM_MANAGED)
#define FAKE_ANY_HOST_MEMORY (FAKE_MEM_PINNED | FAKE_MEM_REGISTERED)

/* An address range the driver has handed out: memory, or the object behind a handle. */
struct fake_range {
    uintptr_t start;
    size_t bytes;
    enum fake_kind kind;
    unsigned flags;
    struct fake_context *context;
    size_t mapped_bytes; /* obtained by mmap rather than malloc */
};

struct fake_context {
    CUdevice device;
    unsigned flags;
    unsigned retained; /* primary contexts: reference count */
    bool primary;
    unsigned long long id;
};

struct fake_stream {
    struct fake_context *context;
    unsigned flags;
    int priority;
    unsigned long long id;
    CUstreamCaptureMode mode;
    struct fake_graph *capture; /* graph being recorded, NULL = not capturing */
};

struct fake_param {
    size_t offset, bytes;
};

struct fake_function {
    char name[256];
    struct fake_module *module;
    struct fake_param params[FAKE_MAX_PARAMS];
    unsigned param_count;
    size_t param_bytes;
    int static_shared_bytes, local_bytes, max_threads, max_dynamic_shared_bytes;
};

struct fake_global {
    char name[256];
    char *data;
    size_t bytes;
};

struct fake_module {
    struct fake_function *functions;
    unsigned function_count;
    struct fake_global *globals;
    unsigned global_count;
};

struct fake_library {
    struct fake_module *module;
    struct fake_kernel {
        struct fake_function *function;
        struct fake_library *library;
    } * kernels; /* one per function of the module */
};

struct fake_array {
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t element_bytes, row_bytes;
    char *data;
};

/* A copy of width x height x depth bytes between two pitched boxes; every copy is one of these. */
struct fake_copy {
    char *dst;
    const char *src;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    size_t width, height, depth;
};

struct fake_set {
    char *dst;
    size_t pitch, width, height; /* width in elements */
    unsigned element_bytes, value;
};

struct fake_launch {
    struct fake_function *function;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    unsigned char params[4096];
};

struct fake_node {
    enum { FAKE_NODE_COPY, FAKE_NODE_SET, FAKE_NODE_LAUNCH, FAKE_NODE_HOST } kind;
    union {
        struct fake_copy copy;
        struct fake_set set;
        struct fake_launch *launch;
        struct {
            CUhostFn call;
            void *data;
        } host;
    };
};

struct fake_graph {
    struct fake_node *nodes;
    size_t count, capacity;
};

/* The calling thread. */
struct fake_thread {
    bool per_thread; /* inside a _ptds or _ptsz entry point: stream 0 is this thread's own */
    int depth;
    struct fake_context *contexts[FAKE_CONTEXT_DEPTH];
    struct fake_stream default_stream;
    int unsafe_captures; /* captures begun here in a mode that forbids unsafe calls */
    CUstreamCaptureMode capture_mode;
};
extern _Thread_local struct fake_thread fake_thread;

/* registry.c */
void *fake_object_new(enum fake_kind kind, size_t bytes);
bool fake_object_is(const void *object, unsigned kinds);
bool fake_object_delete(void *object, unsigned kinds);
/* Delete the object with this context at the latest. */
void fake_object_own(const void *object, struct fake_context *context);
/* True if `address` is the start of an element of an object that is an array of such elements. */
bool fake_object_element(const void *address, enum fake_kind kind, size_t element_bytes);
CUresult fake_memory_new(enum fake_kind kind, size_t bytes, unsigned flags, bool low, void **out);
CUresult fake_memory_register(void *start, size_t bytes, unsigned flags);
/* Make a malloc'ed block device memory: globals of modules. */
bool fake_memory_adopt(void *start, size_t bytes);
CUresult fake_memory_delete(uintptr_t start, unsigned kinds);
bool fake_memory_find(uintptr_t address, struct fake_range *range);
/* True if [address, address + bytes) is device memory, or bytes is 0. */
bool fake_memory_covers(uintptr_t address, size_t bytes);
size_t fake_memory_used(void);
size_t fake_memory_limit(void);
/* Free what the destroyed context owned. */
void fake_context_release(struct fake_context *context);

/* context.c */
CUresult fake_call_allowed(void);
bool fake_device_valid(CUdevice device);
struct fake_context *fake_current(void);
CUresult fake_stream_of(CUstream handle, struct fake_stream **stream);
/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED while this thread captures in a mode that forbids the call. */
CUresult fake_capture_safe(void);

/* graph.c: do the work now, or record it when the stream is being captured. */
CUresult fake_submit(CUstream handle, const struct fake_node *node);
void fake_graph_add(struct fake_graph *graph, const struct fake_node *node);

/* launch.c: run the few kernels that are built in; all others do nothing. */
void fake_kernel_run(const struct fake_launch *launch);

/* module.c: the function a CUfunction, or a CUkernel cast to one, names; NULL if neither. */
struct fake_function *fake_function_of(CUfunction handle);

/* ptx.c */
CUresult fake_module_parse(const char *text, struct fake_module **module);
void fake_module_free(struct fake_module *module);

/* exports.c */
CUresult fake_enter(unsigned id, bool per_thread);

/* One implementation per row of functions.def. */
#define FAKE(symbol, base, since, params, args) CUresult fake_##symbol params;
#define FAKE_PTDS(symbol, base, since, since_pt, params, args) CUresult fake_##symbol params;
#define FAKE_PTSZ(symbol, base, since, since_pt, params, args) CUresult fake_##symbol params;
#include "functions.def"

#endif
