/* SPDX-License-Identifier: Apache-2.0 */
/* What records of a spool say by number: kinds, states and flags. Part of its layout (layout.h): a number
 * that was given stays. */
#ifndef GMT_RECORD_KINDS_H
#define GMT_RECORD_KINDS_H

/* Families of driver calls; stored with each entry point's name. */
enum gmt_call_family {
    GMT_FAMILY_OTHER = 0,
    GMT_FAMILY_ALLOC,
    GMT_FAMILY_TRANSFER,
    GMT_FAMILY_MEMSET,
    GMT_FAMILY_LAUNCH,
    GMT_FAMILY_SYNC,
    GMT_FAMILY_MODULE,
    GMT_FAMILY_STREAM,
};

enum gmt_sync_kind { GMT_SYNC_STREAM = 1, GMT_SYNC_CONTEXT, GMT_SYNC_EVENT, GMT_SYNC_DEVICE };

/*
 * The next three are lists: X(id, name in traces and reports). libtrace/store/db/names.h gives the names; a test
 * compares them with the words of the schema.
 */

/* What kind of memory an address lies in, as known from the intercepted allocations. */
#define GMT_MEM_CLASSES(X) \
    X(UNKNOWN, "unknown")   /* not an address we can judge (host side of an unknown API) */ \
    X(PAGEABLE, "pageable") /* host memory that no intercepted call has page-locked */ \
    X(PINNED, "pinned")     /* cuMemHostAlloc, cuMemAllocHost, cuMemHostRegister */ \
    X(MANAGED, "managed") \
    X(DEVICE, "device") \
    X(ARRAY, "array") /* CUDA array: opaque, no address */

#define GMT_MEM_ENUMERATOR(id, name) GMT_MEM_##id,
enum gmt_mem_class { GMT_MEM_CLASSES(GMT_MEM_ENUMERATOR) GMT_MEM_CLASS_COUNT };

#define GMT_DIRECTIONS(X) \
    X(UNKNOWN, "unknown") \
    X(H2D, "h2d") \
    X(D2H, "d2h") \
    X(D2D, "d2d") \
    X(H2H, "h2h") \
    X(PEER, "peer")

#define GMT_DIR_ENUMERATOR(id, name) GMT_DIR_##id,
enum gmt_direction { GMT_DIRECTIONS(GMT_DIR_ENUMERATOR) GMT_DIR_COUNT };

/* Whether a transfer has a fingerprint of the host memory it read or wrote, and if not, why. */
enum gmt_fingerprint_state {
    GMT_PRINT_NONE = 0,     /* not asked for, or no host memory took part */
    GMT_PRINT_WHOLE,        /* of every byte */
    GMT_PRINT_SAMPLED,      /* of blocks spread over it */
    GMT_PRINT_OVER_BUDGET,  /* hashing had taken its share of the run time */
    GMT_PRINT_UNREADABLE,   /* memory that the host must not read, or reads very slowly */
    GMT_PRINT_ASYNCHRONOUS, /* the bytes had not arrived when the call returned */
};

/* HOST, REGISTERED: page-locked host memory, table host_allocation. */
#define GMT_ALLOC_KINDS(X) \
    X(UNKNOWN, NULL)            /* NULL in a trace */ \
    X(DEVICE, "device")         /* cuMemAlloc */ \
    X(PITCHED, "pitched")       /* cuMemAllocPitch */ \
    X(MANAGED, "managed")       /* cuMemAllocManaged */ \
    X(ASYNC, "async")           /* cuMemAllocAsync */ \
    X(POOL, "pool")             /* cuMemAllocFromPoolAsync */ \
    X(HOST, "pinned")           /* cuMemHostAlloc, cuMemAllocHost */ \
    X(REGISTERED, "registered") /* cuMemHostRegister: the program's own memory, page-locked */ \
    X(MAPPED, "mapped")         /* cuMemMap: physical memory at addresses; until cuMemUnmap */ \
    X(ARRAY, "array")           /* cuArrayCreate, cuArray3DCreate: the handle is the address */ \
    X(MIPMAP, "mipmap")         /* cuMipmappedArrayCreate: likewise */ \
    X(IPC, "ipc")           /* cuIpcOpenMemHandle, cuMemPoolImportPointer: another process's */ \
    X(EXTERNAL, "external") /* cuExternalMemoryGetMapped...: memory of another API */

#define GMT_ALLOC_ENUMERATOR(id, name) GMT_ALLOC_##id,
enum gmt_alloc_kind { GMT_ALLOC_KINDS(GMT_ALLOC_ENUMERATOR) GMT_ALLOC_KIND_COUNT };

enum gmt_launch_kind { GMT_LAUNCH_KERNEL = 1, GMT_LAUNCH_COOPERATIVE, GMT_LAUNCH_GRAPH };

/* What gmt_launch.arguments says of the pointer arguments. */
enum gmt_args_state {
    GMT_ARGS_UNKNOWN = 0, /* neither parameter layout nor `extra` buffer available */
    GMT_ARGS_COMPLETE,    /* every aligned 8-byte word of every parameter was looked at */
    GMT_ARGS_TRUNCATED,   /* more matching words than GMT_MAX_LAUNCH_ARGS */
};
#define GMT_MAX_LAUNCH_ARGS 32u

/* Counter groups; a launch is measured by at most one. */
enum gmt_counter_group {
    GMT_GROUP_NONE = 0,
    GMT_GROUP_PATCHED,   /* software-patched: bytes asked, sectors, shared wavefronts: exact */
    GMT_GROUP_HARDWARE,  /* occupancy, DRAM and L2 traffic, cycles */
    GMT_GROUP_SPILL,     /* local memory and constant cache */
    GMT_GROUP_SIMULATED, /* counted by the software device: exact for the PTX it executed */
    GMT_GROUP_SASS,      /* each instruction, by patching all of them */
    GMT_GROUPS
};

/* Bits of gmt_call.flags. */
#define GMT_CALL_CAPTURING 0x01u /* the stream was being captured: recorded into a graph, not run */
#define GMT_CALL_PER_THREAD 0x02u /* a _ptds/_ptsz entry point: stream 0 is the per-thread stream */
#define GMT_CALL_BLOCKING 0x04u   /* the API promises to return after the work is done */
#define GMT_CALL_NO_ACTIVITY 0x08u /* CUPTI kernel activity was off: no device row will exist */
#define GMT_CALL_STEP \
    0x20u /* made by gmtrace for an operation of a graph, at a launch of it by steps */
#define GMT_CALL_OUTSIDE 0x10u /* outside of the scope: only there to be joined with device work */

enum gmt_graph_node_kind {
    GMT_NODE_OTHER = 0, /* events, semaphores, conditions */
    GMT_NODE_KERNEL,
    GMT_NODE_COPY,
    GMT_NODE_MEMSET,
    GMT_NODE_HOST,
    GMT_NODE_EMPTY,
    GMT_NODE_ALLOC,
    GMT_NODE_FREE,
};

/* cuGraphNodeSetEnabled. */
enum gmt_graph_node_turned {
    GMT_NODE_NOT_TURNED = 0,
    GMT_NODE_TURNED_OFF,
    GMT_NODE_TURNED_ON,
};

/* By the function that encodes it. */
enum gmt_tensor_map_kind { GMT_MAP_TILED = 1, GMT_MAP_IM2COL, GMT_MAP_IM2COL_WIDE };

enum gmt_capability_state { GMT_CAP_OK = 1, GMT_CAP_MISSING, GMT_CAP_PARTIAL, GMT_CAP_OFF };

enum gmt_user_range_kind { GMT_RANGE_PUSH = 1, GMT_RANGE_START, GMT_RANGE_PROFILER };

/* Heaps and regions: what a record says of one. */
enum gmt_heap_event { GMT_HEAP_BEGUN = 1, GMT_HEAP_NAMED, GMT_HEAP_ENDED };

/* What a heap is for, as NVTX's memory extension numbers it: X(id, name in traces, number). */
#define GMT_HEAP_USAGES(X) \
    X(OTHER, "other", 0) \
    X(SUB_ALLOCATOR, "sub_allocator", 1) /* nothing but its regions is in use */ \
    X(LAYOUT, "layout", 2)               /* parts of one thing: what has no region is in use, too */

#define GMT_HEAP_ENUMERATOR(id, name, number) GMT_HEAP_##id = (number),
enum gmt_heap_usage { GMT_HEAP_USAGES(GMT_HEAP_ENUMERATOR) GMT_HEAP_USAGE_COUNT };

enum gmt_device_op_kind { GMT_OP_KERNEL = 1, GMT_OP_COPY, GMT_OP_MEMSET };

/* What happened to pages of managed memory: X(id, name in traces, CUPTI's counter kind). */
#define GMT_MANAGED_KINDS(X) \
    X(H2D, "h2d", BYTES_TRANSFER_HTOD) \
    X(D2H, "d2h", BYTES_TRANSFER_DTOH) \
    X(HOST_FAULT, "host_fault", CPU_PAGE_FAULT_COUNT) \
    X(GPU_FAULT, "gpu_fault", GPU_PAGE_FAULT) \
    X(THRASHING, "thrashing", THRASHING)    /* pages go to and fro between processors */ \
    X(THROTTLING, "throttling", THROTTLING) /* a processor is held back because of that */ \
    X(REMOTE_MAP, "remote_map", REMOTE_MAP) /* ... or reads the memory where it is */ \
    X(D2D, "d2d", BYTES_TRANSFER_DTOD)

#define GMT_MANAGED_ENUMERATOR(id, name, counter) GMT_MANAGED_##id,
enum gmt_managed_kind { GMT_MANAGED_KINDS(GMT_MANAGED_ENUMERATOR) GMT_MANAGED_KIND_COUNT };

/* What gmtrace did itself, for so long that it counts (gmt_own_time). */
enum gmt_own_work {
    GMT_OWN_SETUP = 1, /* made the spool, loaded CUPTI and switched it on */
    GMT_OWN_SESSION,   /* began or ended a session of counters; ending it decodes them */
    GMT_OWN_LAUNCH, /* counted a launch: from before the driver call until its kernel had ended */
    GMT_OWN_INSTRUCTIONS, /* the same for the instructions of a launch, read and written, too */
    GMT_OWN_CODE,         /* put device code aside while a module was loaded */
    GMT_OWN_HANDOVER,     /* gave CUPTI to the program */
    GMT_OWN_WAIT,         /* held a call back until counting had ended */
    GMT_OWN_EXIT,         /* wrote the last records */
    GMT_OWN_REPEAT, /* made a launch again: copied memory, restored it, executed; not the first execution */
    GMT_OWN_GRAPH, /* made the operations of a graph one by one, so that its kernels are measured */
};

enum gmt_counter_source { GMT_SOURCE_HARDWARE = 1, GMT_SOURCE_PATCHED, GMT_SOURCE_SIMULATED };

#endif
