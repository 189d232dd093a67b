-- SPDX-License-Identifier: Apache-2.0
-- trace.db: the only meeting point of recording and analysis. Documented in gmtrace.db(5).
--
-- Times are CLOCK_MONOTONIC nanoseconds, host and device alike. NULL means "not measured", never 0.
-- `id` of transfer, memset, launch, sync and api_call is drawn from one sequence, so that
-- device_op.call_id can name any of them. Readable with SQLite 3.8.8+. Indexes (indexes.sql) are
-- created when the recording is finished.

CREATE TABLE meta (                      -- format, tool_version, created, clock, complete ('0'/'1')
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE process (
    id           INTEGER PRIMARY KEY,    -- always 1 in a trace of one process
    pid          INTEGER NOT NULL,
    parent_pid   INTEGER,
    exe          TEXT,
    command      TEXT,                   -- shell-quoted command line
    cwd          TEXT,
    hostname     TEXT,
    rank         TEXT,                   -- MPI / torchrun rank, NULL if none
    options      TEXT,
    tool_version TEXT,
    realtime_ns  INTEGER,                -- wall-clock time at start_ns
    start_ns     INTEGER NOT NULL,       -- first CUDA call
    end_ns       INTEGER,                -- last thing seen
    end_reason   TEXT CHECK (end_reason IN ('exit', 'killed', 'exec', 'unknown')),
    exit_status  INTEGER                 -- as wait(2) gives it; NULL: could not be learnt
);

CREATE TABLE thread (id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT);

CREATE TABLE device (
    id                    INTEGER PRIMARY KEY,   -- CUDA ordinal in the process
    name                  TEXT NOT NULL,
    uuid                  TEXT,
    compute_major         INTEGER, compute_minor INTEGER,
    sm_count              INTEGER,
    memory_bytes          INTEGER,
    l2_bytes              INTEGER,
    driver_version        TEXT,                  -- '580.159.04'
    cuda_driver_version   INTEGER,               -- 13000
    max_threads_per_sm    INTEGER,
    registers_per_sm      INTEGER,
    shared_bytes_per_sm   INTEGER,
    max_blocks_per_sm     INTEGER,
    warp_size             INTEGER,
    shared_bytes_per_block_optin INTEGER,
    reserved_shared_bytes_per_block INTEGER,
    pci_bus               INTEGER,
    integrated            INTEGER,
    attributes            TEXT                   -- 'key=value;...'
);

CREATE TABLE context (
    id        INTEGER PRIMARY KEY,
    device_id INTEGER REFERENCES device(id),
    handle    INTEGER NOT NULL
);

CREATE TABLE stream (
    id         INTEGER PRIMARY KEY,
    context_id INTEGER REFERENCES context(id),
    handle     INTEGER NOT NULL,         -- 0 legacy default, 2 per-thread default
    thread_id  INTEGER REFERENCES thread(id),   -- per-thread default streams only
    cupti_id   INTEGER,
    flags      INTEGER,
    priority   INTEGER,
    begin_ns   INTEGER,                  -- the driver reuses handles: this row holds from here ...
    end_ns     INTEGER                   -- ... to its cuStreamDestroy; NULL: first, never destroyed
);

CREATE TABLE api (                       -- driver entry points that were intercepted
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,          -- cuMemcpyHtoD_v2
    runtime_name TEXT,                   -- cudaMemcpy: the runtime API that makes this call
    family       TEXT NOT NULL CHECK (family IN
                 ('other','alloc','transfer','memset','launch','sync','module','stream')),
    traits       INTEGER                 -- what a call means, bits: gmtrace.db(5); NULL: not known
);

-- Common columns of every call: api_id, thread_id, context_id, stream_id, begin_ns, end_ns (host),
-- result (CUresult, 0 = success), caller (return address), stack_id, stack_one_in: NULL the stack is the call's own; n that of an earlier
-- call of the same place and kind, of which about one in n was read (table overhead), capturing: 1 the call was recorded into a graph; 3 gmtrace made it for an
-- operation of a graph, at a launch of the graph by steps (option graph-steps); else 0.

CREATE TABLE transfer (
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES api(id), thread_id INTEGER, context_id INTEGER,
    stream_id INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
    caller INTEGER, stack_id INTEGER, stack_one_in INTEGER, capturing INTEGER NOT NULL,
    direction  TEXT NOT NULL CHECK (direction IN ('h2d','d2h','d2d','h2h','peer','unknown')),
    blocking   INTEGER NOT NULL,         -- 1: the API returns after the copy is done
    bytes      INTEGER NOT NULL,
    dst        INTEGER, src INTEGER,     -- addresses; NULL for arrays
    dst_class  TEXT NOT NULL CHECK (dst_class IN
               ('unknown','pageable','pinned','managed','device','array')),
    src_class  TEXT NOT NULL CHECK (src_class IN
               ('unknown','pageable','pinned','managed','device','array')),
    dst_allocation_id INTEGER, src_allocation_id INTEGER,  -- allocation.id or host_allocation.id
    dst_pitch  INTEGER, src_pitch INTEGER, width INTEGER, height INTEGER, depth INTEGER, -- 2-D, 3-D
    batch      INTEGER,                  -- index inside a batch copy, NULL otherwise
    device_start_ns INTEGER, device_end_ns INTEGER         -- NULL: no device timestamps; copies of
                                         -- a batch that the device merged share its time by bytes
);

-- Of transfers between host and device, option --fingerprints: the host memory as it was when the call
-- returned, XXH3 with 128 bits. Equal bytes give equal hashes where `whole` and `bytes_hashed` are equal.
CREATE TABLE fingerprint (
    transfer_id  INTEGER PRIMARY KEY,    -- transfer.id
    hash         TEXT,                   -- 32 hex digits; NULL: not taken
    bytes_hashed INTEGER,
    whole        INTEGER,                -- 1: of every byte; 0: of blocks spread over the buffer
    skipped      TEXT CHECK (skipped IN ('over_budget','unreadable','asynchronous')),  -- why, if NULL
    hash_ns      INTEGER                 -- gmtrace's own time for it, after the call; NULL: not taken
);

CREATE TABLE memset (
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES api(id), thread_id INTEGER, context_id INTEGER,
    stream_id INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
    caller INTEGER, stack_id INTEGER, stack_one_in INTEGER, capturing INTEGER NOT NULL,
    bytes INTEGER NOT NULL, dst INTEGER, dst_allocation_id INTEGER, dst_class TEXT NOT NULL,
    value INTEGER, element_bytes INTEGER, pitch INTEGER, width INTEGER, height INTEGER,
    device_start_ns INTEGER, device_end_ns INTEGER
);

CREATE TABLE launch (
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES api(id), thread_id INTEGER, context_id INTEGER,
    stream_id INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
    caller INTEGER, stack_id INTEGER, stack_one_in INTEGER, capturing INTEGER NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('kernel','cooperative','graph')),
    seq        INTEGER NOT NULL,         -- process-wide launch number, from 1
    kernel_id  INTEGER REFERENCES kernel(id),              -- NULL for graphs
    class_id   INTEGER REFERENCES kernel_class(id),
    grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,
    cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,   -- NULL: no cluster
    dynamic_shared_bytes INTEGER,
    graph      INTEGER,                  -- CUgraphExec handle for kind 'graph'
    measured   TEXT CHECK (measured IN ('patched','hardware','spill','simulated','sass')),  -- NULL: not measured. With
                                         -- no_activity 0 it was repeated (own_time): timed first, then measured
    no_activity INTEGER NOT NULL,        -- 1: device timestamps were off, no device_op will exist
    arguments  TEXT NOT NULL CHECK (arguments IN ('unknown','complete','truncated')),
    argument_set_id INTEGER,             -- launch_argument.set_id, launch_tensor_map.set_id; NULL: none or
                                         -- unknown
    device_start_ns INTEGER, device_end_ns INTEGER   -- of a graph: first start, last end
);

CREATE TABLE launch_argument (           -- pointer arguments; equal sets are stored once
    set_id        INTEGER NOT NULL,
    parameter     INTEGER,               -- index, NULL: inside an `extra` buffer
    word_offset   INTEGER NOT NULL,      -- bytes from the start of the parameter
    allocation_id INTEGER NOT NULL,      -- allocation.id or host_allocation.id
    allocation_offset INTEGER NOT NULL   -- bytes from the start of the allocation
);
CREATE TABLE launch_tensor_map (         -- tensor maps among the parameters of these launches, by their bytes
    set_id        INTEGER NOT NULL,      -- launch.argument_set_id
    parameter     INTEGER NOT NULL,      -- index
    parameter_offset INTEGER NOT NULL,   -- bytes from its start: it may be a structure with a map in it
    tensor_map_id INTEGER NOT NULL       -- tensor_map.id
);

CREATE TABLE sync (
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES api(id), thread_id INTEGER, context_id INTEGER,
    stream_id INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
    caller INTEGER, stack_id INTEGER, stack_one_in INTEGER, capturing INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('stream','context','event','device'))
);

CREATE TABLE api_call (                  -- every other intercepted call, and failed allocations
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES api(id), thread_id INTEGER, context_id INTEGER,
    stream_id INTEGER, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
    caller INTEGER, stack_id INTEGER, stack_one_in INTEGER, capturing INTEGER NOT NULL,
    bytes INTEGER
);

-- Tensor maps: what bulk tensor copies (TMA) of kernels read and write, as it was encoded on the host.
-- Numbers are those that the program gave; columns of dimensions that a map does not have are NULL.
CREATE TABLE tensor_map (                -- equal descriptors are one row: that of the first call
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('tiled','im2col','im2col_wide')),   -- of the function
    data_type TEXT CHECK (data_type IN ('uint8','uint16','uint32','int32','uint64','int64','float16','float32',
              'float64','bfloat16','float32_ftz','tfloat32','tfloat32_ftz','16u4_align8','16u4_align16',
              '16u6_align16')),          -- NULL: not known to this version; likewise below
    element_bits INTEGER,
    rank      INTEGER NOT NULL,          -- number of dimensions; 0 is the innermost
    address   INTEGER NOT NULL,          -- where the tensor begins
    allocation_id INTEGER,               -- allocation.id or host_allocation.id it lies in; NULL: none known
    dim_0 INTEGER, dim_1 INTEGER, dim_2 INTEGER, dim_3 INTEGER, dim_4 INTEGER,   -- elements
    stride_1 INTEGER, stride_2 INTEGER, stride_3 INTEGER, stride_4 INTEGER,      -- bytes
    box_0 INTEGER, box_1 INTEGER, box_2 INTEGER, box_3 INTEGER, box_4 INTEGER,   -- elements that one copy
                                         -- goes through; im2col: channels per pixel, pixels per column
    element_stride_0 INTEGER, element_stride_1 INTEGER, element_stride_2 INTEGER,
    element_stride_3 INTEGER, element_stride_4 INTEGER,   -- each so many of these are copied
    lower_0 INTEGER, lower_1 INTEGER, lower_2 INTEGER,    -- im2col: corners of the pixel box; wide: one
    upper_0 INTEGER, upper_1 INTEGER, upper_2 INTEGER,
    interleave TEXT CHECK (interleave IN ('none','16b','32b')),
    swizzle   TEXT CHECK (swizzle IN ('none','32b','64b','128b','128b_atom_32b','128b_atom_32b_flip_8b',
              '128b_atom_64b')),
    l2_promotion TEXT CHECK (l2_promotion IN ('none','64b','128b','256b')),
    oob_fill  TEXT CHECK (oob_fill IN ('zero','nan')),    -- what is read outside of the tensor
    wide_mode INTEGER                    -- im2col_wide: CUtensorMapIm2ColWideMode
);
CREATE TABLE tensor_map_encoding (       -- cuTensorMapEncode..., cuTensorMapReplaceAddress that succeeded
    call_id       INTEGER PRIMARY KEY,   -- api_call.id
    tensor_map_id INTEGER NOT NULL       -- tensor_map.id of the descriptor that it made
);

CREATE TABLE allocation (                -- device-side memory
    id        INTEGER PRIMARY KEY,       -- shared number space with host_allocation
    kind      TEXT CHECK (kind IN ('device','pitched','managed','async','pool','mapped','array',
              'mipmap','ipc','external')),         -- mapped: cuMemMap; ipc: another process's memory;
                                         -- external: another API's
    address   INTEGER NOT NULL, bytes INTEGER,   -- of arrays and mipmaps the handle
    pitch INTEGER, width INTEGER, height INTEGER,
    pool INTEGER, flags INTEGER,         -- pool: of mapped memory the handle of its physical memory
    context_id INTEGER, stream_id INTEGER, thread_id INTEGER, api_id INTEGER, stack_id INTEGER,
    caller INTEGER, begin_ns INTEGER, end_ns INTEGER,      -- the allocating call
    free_api_id INTEGER, free_thread_id INTEGER, free_stack_id INTEGER,
    free_begin_ns INTEGER, free_end_ns INTEGER             -- NULL: never freed
);

CREATE TABLE host_allocation (           -- page-locked host memory
    id        INTEGER PRIMARY KEY,
    kind      TEXT CHECK (kind IN ('pinned','registered')),
    address   INTEGER NOT NULL, bytes INTEGER, flags INTEGER,
    context_id INTEGER, thread_id INTEGER, api_id INTEGER, stack_id INTEGER,
    caller INTEGER, begin_ns INTEGER, end_ns INTEGER,
    free_api_id INTEGER, free_thread_id INTEGER, free_stack_id INTEGER,
    free_begin_ns INTEGER, free_end_ns INTEGER
);

-- Handles of memory that processes share: cuIpcGetMemHandle and cuIpcOpenMemHandle, cuMemPoolExportPointer and cuMemPoolImportPointer. What is
-- imported here is the memory that another trace has exported with an equal hash.
CREATE TABLE memory_handle (
    id            INTEGER PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('exported','imported')),
    hash          INTEGER NOT NULL,      -- of the handle's bytes; two handles of one allocation may have two
    allocation_id INTEGER,               -- allocation.id; NULL: exported, and not known where it was allocated
    address       INTEGER NOT NULL,      -- in this process, as it was given
    bytes         INTEGER,               -- of the allocation
    since_ns      INTEGER NOT NULL       -- when the call returned
);

-- What the program's allocators say of their memory (NVTX's memory extension): heaps, and the regions of these that are in use.
CREATE TABLE heap (
    id        INTEGER PRIMARY KEY,       -- shared number space with region; later ones have larger numbers
    usage     TEXT NOT NULL CHECK (usage IN ('other','sub_allocator','layout')),   -- sub_allocator: nothing but its regions
                                         -- is in use; layout: parts of one thing
    address   INTEGER NOT NULL, bytes INTEGER NOT NULL,
    domain_id INTEGER REFERENCES string(id), name_id INTEGER REFERENCES string(id),   -- NULL: none
    stack_id  INTEGER,                   -- of who registered it; NULL: none, or before the recording
    begin_ns  INTEGER,                   -- may lie before process.start_ns; NULL: not known
    end_ns    INTEGER                    -- NULL: never ended
);
CREATE TABLE region (
    id        INTEGER PRIMARY KEY,
    heap_id   INTEGER,                   -- heap.id; NULL: of none that was registered
    made_id   INTEGER NOT NULL,          -- region.id as it was registered: id but for what was resized, which ends and begins anew
    address   INTEGER NOT NULL, bytes INTEGER NOT NULL,
    name_id   INTEGER REFERENCES string(id),   -- of made_id: the last one; NULL: none
    stack_id  INTEGER, begin_ns INTEGER,
    end_ns    INTEGER                    -- NULL: with its heap, or never
);

-- What launches of kind 'graph' do: read when a graph is made executable, and again when it is changed.
CREATE TABLE graph (
    id        INTEGER PRIMARY KEY,
    handle    INTEGER NOT NULL,          -- CUgraphExec: launch.graph
    context_id INTEGER, nodes INTEGER NOT NULL,
    begin_ns  INTEGER NOT NULL,          -- launches from here on ...
    end_ns    INTEGER,                   -- ... to here are meant; NULL: to the end
    made_id   INTEGER REFERENCES graph(id)   -- what the handle was made executable with: id but for updates
);
CREATE TABLE graph_end (handle INTEGER NOT NULL, end_ns INTEGER NOT NULL);   -- cuGraphExecDestroy
CREATE TABLE graph_node (                -- those of child graphs are their parent's
    graph_id  INTEGER NOT NULL REFERENCES graph(id),
    position  INTEGER,                   -- NULL: the node was set anew since since_ns
    since_ns  INTEGER NOT NULL,
    node      INTEGER NOT NULL,          -- CUgraphNode of the graph made_id
    kind      TEXT NOT NULL CHECK (kind IN
              ('kernel','copy','memset','host','empty','alloc','free','other')),
    bytes     INTEGER,                   -- NULL: none, or not known
    direction TEXT, dst INTEGER, src INTEGER, dst_class TEXT, src_class TEXT,
    dst_allocation_id INTEGER, src_allocation_id INTEGER,
    kernel_id INTEGER REFERENCES kernel(id),
    grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER
);
CREATE TABLE graph_switch (              -- nodes switched off and on: of made_id, through all updates of it
    graph_id  INTEGER NOT NULL REFERENCES graph(id),
    since_ns  INTEGER NOT NULL, node INTEGER NOT NULL, enabled INTEGER NOT NULL
);

CREATE TABLE kernel (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,             -- demangled
    mangled   TEXT NOT NULL,
    registers INTEGER,                   -- per thread; NULL on the software device: see ptxas -v
    static_shared_bytes INTEGER, local_bytes INTEGER, constant_bytes INTEGER,
    max_threads_per_block INTEGER, max_dynamic_shared_bytes INTEGER,
    binary_version INTEGER, ptx_version INTEGER, parameter_count INTEGER
);

CREATE TABLE kernel_class (              -- launches, or nodes of graphs, with the same kernel, grid, block, dynamic shared
    id        INTEGER PRIMARY KEY,
    kernel_id INTEGER NOT NULL REFERENCES kernel(id),
    grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,
    cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,
    dynamic_shared_bytes INTEGER,
    max_blocks_per_sm     INTEGER,       -- resident blocks, by the driver's occupancy function; NULL on
                                         -- the software device, which does not know the registers
    theoretical_occupancy REAL           -- resident warps / maximum warps, 0..1; NULL likewise
);

CREATE TABLE metric (                    -- rows of libtrace/metrics.def that occur in this trace
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,               -- short name used by rules: 'global_load_sectors'
    source_name TEXT NOT NULL,           -- name in CUPTI; '' = only the software device counts it
    grp     TEXT NOT NULL CHECK (grp IN ('patched','hardware','spill','simulated')),
    unit    TEXT NOT NULL,
    meaning TEXT NOT NULL
);

CREATE TABLE kernel_counters (
    id        INTEGER PRIMARY KEY,
    launch_seq INTEGER NOT NULL,         -- launch.seq
    class_id  INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric(id),
    value     REAL,                      -- of that one launch
    source    TEXT NOT NULL CHECK (source IN ('hardware','patched','simulated')), -- patched: the program
                                         -- that was patched; of a class that only --collect deep counted,
                                         -- sums over its instructions
    grp       TEXT NOT NULL CHECK (grp IN ('patched','hardware','spill','simulated')),
    samples   INTEGER NOT NULL           -- launches the value was taken over
);

-- Counts of each instruction that a launch executed, over all its warps: of the first launches of each
-- class (option counter_samples). On a GPU those that access memory, all with --collect deep. NULL: means
-- nothing for this kind, or was not counted.
CREATE TABLE instruction (
    id        INTEGER PRIMARY KEY,
    launch_seq INTEGER NOT NULL,         -- launch.seq
    class_id  INTEGER NOT NULL,
    site      INTEGER NOT NULL,          -- its number among the instructions of the kernel
    function_id INTEGER REFERENCES string(id),   -- the device function it stands in, mangled
    opcode_id INTEGER REFERENCES string(id),     -- PTX with modifiers: 'ld.global.v4.f32'; SASS: 'LDG.128'
    file_id   INTEGER REFERENCES string(id), line INTEGER, column INTEGER,  -- source: the
                                         -- innermost line outside CUDA's and C++'s own headers
    caller_file_id INTEGER REFERENCES string(id), caller_line INTEGER,  -- where that line was inlined:
                                         -- the outermost call; NULL: it was not
    ptx_line  INTEGER,
    width     INTEGER,                   -- bytes per lane
    kind      TEXT NOT NULL CHECK (kind IN ('other','global_load','global_store','global_atomic',
              'local_load','local_store','shared_load','shared_store','shared_atomic','constant_load',
              'async_copy','barrier','branch','generic')),   -- after the memory that was touched;
                                         -- generic: several spaces by one instruction
    executed  INTEGER NOT NULL,          -- times a warp issued it
    lanes     INTEGER NOT NULL,          -- active lanes, summed; 0: not counted (local memory of a GPU)
    requests  INTEGER,                   -- executed with at least one active lane
    bytes     INTEGER,                   -- asked for: lanes x width
    sectors   INTEGER, ideal_sectors INTEGER,    -- of 32 bytes
    lines     INTEGER,                   -- of 128 bytes
    wavefronts INTEGER, ideal_wavefronts INTEGER,   -- passes through shared memory
    max_degree INTEGER,                  -- most distinct words in one bank in one pass
    addresses INTEGER,                   -- constant_load: distinct addresses, summed over requests;
                                         -- barrier: lanes idle at it; branch: times it diverged
    source    TEXT NOT NULL CHECK (source IN ('simulated','sass')),  -- software device; counted on the GPU
    cubin_crc INTEGER,                   -- cubin.crc; NULL, as pc_offset, on the software device
    pc_offset INTEGER,                   -- bytes from the start of the function
    chain_id  INTEGER                    -- inline_level.chain_id; NULL: nothing was inlined there
);

CREATE TABLE inline_level (              -- the lines that an instruction stands for, inlined into each other
    chain_id  INTEGER NOT NULL,          -- made of the levels: the same in every trace
    level     INTEGER NOT NULL,          -- 0: instruction.line; where that was inlined: 1, 2, ... up to the
                                         -- kernel's own line; inlined into it, from headers of CUDA
                                         -- and C++: -1, -2, ... Of more than 16 some are left out
    function_id INTEGER REFERENCES string(id),   -- the inlined function that the line stands in; NULL: the
                                         -- kernel or device function itself, or not known
    file_id   INTEGER REFERENCES string(id), line INTEGER,
    PRIMARY KEY (chain_id, level)
) WITHOUT ROWID;

CREATE TABLE cubin (                     -- device code of the kernels of which --collect deep counted all
    crc       INTEGER PRIMARY KEY,       -- as CUPTI computes it
    bytes     INTEGER NOT NULL,
    image     BLOB NOT NULL
);

-- Software device only, of the same launches: what each of them touched of an allocation.
CREATE TABLE kernel_footprint (
    id        INTEGER PRIMARY KEY,
    launch_seq INTEGER NOT NULL, class_id INTEGER NOT NULL,
    allocation_id INTEGER,               -- allocation.id or host_allocation.id; NULL: a variable
    name      TEXT,                      -- of a variable of the module
    address   INTEGER NOT NULL, bytes INTEGER NOT NULL,       -- of the allocation
    read_bytes INTEGER NOT NULL, write_bytes INTEGER NOT NULL,   -- distinct, in whole sectors
    read_traffic_bytes INTEGER NOT NULL, write_traffic_bytes INTEGER NOT NULL -- sectors of all requests
);

-- Software device only, of the same launches: lanes of different warps on one word of shared memory, at
-- least one of them storing, and no barrier between.
CREATE TABLE race (
    id        INTEGER PRIMARY KEY,
    launch_seq INTEGER NOT NULL, class_id INTEGER NOT NULL,
    first_opcode_id INTEGER REFERENCES string(id), first_file_id INTEGER REFERENCES string(id),
    first_line INTEGER, first_caller_file_id INTEGER REFERENCES string(id), first_caller_line INTEGER,
    first_ptx_line INTEGER,
    second_opcode_id INTEGER REFERENCES string(id), second_file_id INTEGER REFERENCES string(id),
    second_line INTEGER, second_caller_file_id INTEGER REFERENCES string(id), second_caller_line INTEGER,
    second_ptx_line INTEGER,
    count     INTEGER NOT NULL
);

CREATE TABLE device_op (                 -- CUPTI activity records, joined to host calls by call_id
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('kernel','copy','memset')),
    context_id INTEGER, device_id INTEGER, cupti_context INTEGER, cupti_stream INTEGER,
    correlation INTEGER NOT NULL, graph INTEGER,           -- NULL: not part of a graph
    start_ns  INTEGER, end_ns INTEGER, bytes INTEGER,
    copy_kind INTEGER, src_kind INTEGER, dst_kind INTEGER, copy_count INTEGER,
    kernel_name_id INTEGER REFERENCES string(id),          -- mangled
    grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,
    call_id   INTEGER                    -- transfer.id, memset.id or launch.id; NULL: not joined
);

CREATE TABLE managed_op (                -- CUPTI's unified-memory records: faults and migrations of managed memory
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('h2d','d2h','host_fault','gpu_fault','thrashing','throttling','remote_map',
              'd2d')),
    start_ns  INTEGER NOT NULL,
    end_ns    INTEGER,                   -- NULL: a moment (host_fault, thrashing, remote_map)
    address   INTEGER NOT NULL,          -- of the page, or of the first one
    bytes     INTEGER,                   -- NULL: faults and throttling
    faults    INTEGER,                   -- gpu_fault: groups of faults of the page
    src_device_id INTEGER, dst_device_id INTEGER,          -- from where, to where, who faulted; NULL: the host, or none
    cause     TEXT CHECK (cause IN ('user','coherence','prefetch','eviction','access_counters','read','write','atomic',
              'thrashing','policy','out_of_memory')),      -- of migrations, faults, remote maps; NULL: not known
    pc        INTEGER                    -- host_fault: address of the instruction
);

CREATE TABLE device_gap (                -- times without records of what devices did: of calls made then there are none
    id        INTEGER PRIMARY KEY,
    begin_ns  INTEGER NOT NULL,
    end_ns    INTEGER,                   -- NULL: it lasted to the end
    client    TEXT NOT NULL,             -- file of the module that asked, '' if unknown
    request   TEXT NOT NULL,             -- the function of CUPTI that it called, '' if none
    reason    TEXT CHECK (reason IN ('client','budget')),  -- another user of CUPTI was at work, as always if NULL; gmtrace
                                         -- left them out to keep within --overhead, or to learn what they cost
    switch_ns INTEGER                    -- of calls that overlap so long before or after it is not known whether they have any
);

CREATE TABLE own_time (                  -- gmtrace was at work; hashing: fingerprint.hash_ns
    id        INTEGER PRIMARY KEY,
    work      TEXT NOT NULL CHECK (work IN ('setup','session','launch','instructions','code','handover',
              'wait','exit','repeat','graph')),
    thread_id INTEGER,                   -- that did it; NULL: not known
    begin_ns  INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    beside    INTEGER NOT NULL,          -- 1: by a thread of gmtrace's, none of the program's waited
    launch_seq INTEGER                   -- launch.seq of the launch that was counted; NULL: of none
);

CREATE TABLE overhead (                  -- what gmtrace cost the program's threads, all together, by seconds; option --overhead
    id        INTEGER PRIMARY KEY,
    begin_ns  INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    calls     INTEGER NOT NULL,          -- that were intercepted, about
    timed_calls INTEGER NOT NULL,        -- of these: hooks_ns and stacks_ns are estimates by them
    hooks_ns  INTEGER NOT NULL,          -- of the calls, without the driver's part and what follows
    error_ns  INTEGER,                   -- half of its 95 % interval; NULL: not known
    stacks_ns INTEGER NOT NULL,
    hashing_ns INTEGER NOT NULL,
    counters_ns INTEGER NOT NULL,        -- of measuring and of loaded code, beyond 1 s of the process
    device_ns INTEGER,                   -- what calls took longer for CUPTI's records of devices; NULL: not known
    device_error_ns INTEGER,             -- half of its 95 % interval
    budget    REAL,                      -- share of the time; NULL: no limit
    stacks_read INTEGER NOT NULL,        -- about, where stack_one_in is 1
    stacks_walked INTEGER NOT NULL,      -- of these: not found as they were before, which takes longer
    stacks_taken INTEGER NOT NULL,       -- of calls that have stack_one_in
    stack_one_in INTEGER NOT NULL,       -- 1: each stack is read; else the coarsest of the time
    hashing   REAL NOT NULL,             -- what was done of the fingerprints, 1: all ...
    counters  REAL NOT NULL,             -- ... and of measuring, the least of the time
    device    REAL,                      -- for how much of the time CUPTI's records were on; NULL: there are none
    device_cycles INTEGER,               -- pairs of times with and without them that device_ns was learnt from, so far
    is_beyond INTEGER NOT NULL           -- 1: what is never left out cost more than the budget
);

CREATE TABLE range (                     -- what the program names: NVTX ranges, cudaProfilerStart/Stop
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('push','start','profiler')),
    thread_id INTEGER,                   -- that began it; NULL: not known. Only 'push' belongs to it
    domain_id INTEGER REFERENCES string(id),   -- NULL: NVTX's default domain
    name_id   INTEGER REFERENCES string(id),   -- NULL: it has none
    begin_ns  INTEGER NOT NULL,          -- may lie before process.start_ns
    end_ns    INTEGER,                   -- NULL: never ended
    depth     INTEGER NOT NULL,          -- 'push': how many of its domain were open in its thread
    communicator INTEGER,                -- what NCCL says in the payloads of its ranges; NULL: it does not. Its hash of the
                                         -- communicator, the same in all of its ranks (NCCL 2.26 and later)
    bytes     INTEGER,                   -- of the message: count x size of what the call was given
    ranks     INTEGER, rank INTEGER      -- of a communicator that is made: how many it has, and which one made the call
);

-- Sums over steps of the program, which divide its time: with --aggregate these tables are all that a trace has of
-- its calls, gmanalyze steps makes them of other traces. A call, a range or an operation of a device belongs to the step
-- in which it ended. Counted are calls that succeeded and were executed, as in v_... with result = 0 and capturing = 0.
-- Times of `host_ns` are of threads in calls: they can be more than the step took. Rows with zeros are left out.
CREATE TABLE step (
    id        INTEGER PRIMARY KEY,       -- in order of time
    number    INTEGER NOT NULL,          -- of its first step, from 1
    steps     INTEGER NOT NULL,          -- that are in this row: more than 1 where they are shorter than 10 ms, or
                                         -- old rows were merged to keep the file small; of such a row all that follows is of all of them
    source    TEXT NOT NULL CHECK (source IN ('range','pattern','slice')),   -- it ends where a range ends; where the
                                         -- launch begins that comes once per step; after a length of time
    name_id   INTEGER REFERENCES string(id),   -- of the range that ends it; NULL: none, or of several names
    begin_ns  INTEGER NOT NULL,          -- where the step before it ends
    end_ns    INTEGER NOT NULL,
    range_ns  INTEGER,                   -- how long these ranges took: the rest lies before them. NULL: none
    longest_ns INTEGER NOT NULL          -- of its steps, begin to end
);
CREATE TABLE step_call (                 -- host calls by kind and place: the places with most time, and the rest
    step_id   INTEGER NOT NULL REFERENCES step(id),
    kind      TEXT NOT NULL CHECK (kind IN ('kernel','graph','collective','copy_unknown','copy_h2d','copy_d2h','copy_d2d',
              'copy_h2h','copy_peer','memset','allocation','free','page_locking','page_unlocking','wait_stream',
              'wait_context','wait_event','wait_device','module_loading','other')),   -- of launches: kernel, graph, and
                                         -- collective (kernels of NCCL)
    stack_id  INTEGER,                   -- stack.id; NULL: calls from all other places, and those without a stack
    calls     INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,          -- copied, set or allocated; 0: means nothing for this kind
    host_ns   INTEGER NOT NULL,
    blocking_ns INTEGER NOT NULL,        -- of these: in copies and memsets that return when they are done
    longest_ns INTEGER NOT NULL
);
CREATE TABLE step_work (                 -- what devices executed; no rows without device times
    step_id   INTEGER NOT NULL REFERENCES step(id),
    device_id INTEGER NOT NULL REFERENCES device(id),
    kind      TEXT NOT NULL CHECK (kind IN ('kernel','collective','copy_unknown','copy_h2d','copy_d2h','copy_d2d',
              'copy_h2h','copy_peer','memset')),
    operations INTEGER NOT NULL, bytes INTEGER NOT NULL,
    device_ns INTEGER NOT NULL,          -- one after the other: more than the step took where they overlap
    longest_ns INTEGER NOT NULL
);
CREATE TABLE step_kernel (               -- kernels: those with most time of devices (then: launches), and the rest
    step_id   INTEGER NOT NULL REFERENCES step(id),
    name_id   INTEGER REFERENCES string(id),   -- mangled; NULL: all others
    launches  INTEGER NOT NULL,          -- by the host; those of graphs are not among them
    operations INTEGER NOT NULL,         -- executed, those of graphs among them; 0: no device times
    device_ns INTEGER, longest_ns INTEGER      -- NULL: no device times
);
CREATE TABLE step_slowest (              -- kernels that took longest, one execution each
    step_id   INTEGER NOT NULL REFERENCES step(id),
    position  INTEGER NOT NULL,          -- 1: the longest
    device_id INTEGER NOT NULL REFERENCES device(id),
    name_id   INTEGER REFERENCES string(id),   -- mangled; NULL: one of too many names
    start_ns  INTEGER NOT NULL, device_ns INTEGER NOT NULL
);
CREATE TABLE step_time (                 -- what each device's time went into; no rows without device times
    step_id   INTEGER NOT NULL REFERENCES step(id),
    device_id INTEGER NOT NULL REFERENCES device(id),
    cause     TEXT NOT NULL CHECK (cause IN ('busy','page_locking','allocation','module_loading','copy_calls','launch_calls',
              'synchronization','other_calls','host_code')),   -- busy; else what the host did while it was idle. Of an
                                         -- operation, or idle time, over the end of a step all counts
                                         -- where it began, or where it ended
    ns        INTEGER NOT NULL
);
CREATE TABLE step_memory (               -- that the program holds
    step_id   INTEGER NOT NULL REFERENCES step(id),
    device_id INTEGER REFERENCES device(id),   -- NULL: page-locked memory of the host
    live_bytes INTEGER NOT NULL,         -- when the step ended
    peak_bytes INTEGER NOT NULL,         -- the most in the step
    live_count INTEGER NOT NULL          -- allocations, when the step ended
);
CREATE TABLE step_collective (           -- some of each step and source, the same ones in all ranks; step_call and step_work count all
    step_id   INTEGER NOT NULL REFERENCES step(id),
    position  INTEGER NOT NULL,          -- in the process, from 1, by source: equal in all ranks that make the same ones
    source    TEXT NOT NULL CHECK (source IN ('range','launch','device')),   -- NCCL's own NVTX range; the call that
                                         -- launched a kernel of NCCL; this kernel on the device
    name_id   INTEGER REFERENCES string(id),   -- 'ncclAllReduce'; of a kernel: mangled
    device_id INTEGER, stream INTEGER,   -- launch: the CUstream; device: CUPTI's number of the stream; NULL: range
    begin_ns  INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    communicator INTEGER,                -- as in range; NULL: not known
    number    INTEGER,                   -- among those of the communicator, from 1: the same one in all of its ranks;
                                         -- NULL: not known, or not of all ranks (ncclSend, ncclRecv)
    ranks     INTEGER,                   -- of the communicator; NULL: it was made before the recording
    bytes     INTEGER,                   -- of the message, as in range
    grouped   INTEGER                    -- range: 1: between ncclGroupStart and ncclGroupEnd, which begins it; NULL: not
);

CREATE TABLE stack (id INTEGER PRIMARY KEY, depth INTEGER NOT NULL); -- rows of stack_frame
CREATE TABLE stack_frame (
    stack_id INTEGER NOT NULL, position INTEGER NOT NULL,  -- 0 = innermost
    frame_id INTEGER NOT NULL REFERENCES frame(id),
    PRIMARY KEY (stack_id, position)
);
CREATE TABLE frame (                     -- of an address: its function, and one row more per inlined one
    id        INTEGER PRIMARY KEY,
    address   INTEGER NOT NULL,          -- below 0: none, a line of a Python function
    module_id INTEGER REFERENCES module(id), offset INTEGER,
    function_id INTEGER REFERENCES string(id), file_id INTEGER REFERENCES string(id),
    line      INTEGER,
    runtime   INTEGER NOT NULL DEFAULT 0, -- not the user's code: 1 the CUDA runtime's or of a
                                         -- library's headers, 2 an interpreter's
    inlined_into INTEGER REFERENCES frame(id) -- the frame whose code this one became a part of; NULL: none
);
CREATE TABLE module (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT,
    load_bias INTEGER NOT NULL, start_address INTEGER NOT NULL, end_address INTEGER NOT NULL,
    symbols TEXT                         -- what its files have: 'lines', 'functions' (and no lines), 'stripped'
                                         -- (neither), 'changed', 'missing', 'late' (no time); NULL: not asked
);
CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

-- The text of files that instructions and the user's own frames name, unless the option `source` is off.
CREATE TABLE source_file (
    file_id   INTEGER PRIMARY KEY REFERENCES string(id),
    state     TEXT NOT NULL CHECK (state IN ('embedded','not found','unreadable','not text','too large','no room')),
    bytes     INTEGER,                   -- NULL, as the rest, unless embedded
    hash      TEXT,                      -- XXH3, 128 bits, of the file as it was
    text      TEXT                       -- what is no UTF-8 replaced by '?'
);

CREATE TABLE capability (
    name   TEXT PRIMARY KEY,
    state  TEXT NOT NULL CHECK (state IN ('ok','missing','partial','off')),
    code   INTEGER, detail TEXT, remedy TEXT
);
CREATE TABLE loss (kind TEXT NOT NULL, detail TEXT NOT NULL, count INTEGER NOT NULL,
                   PRIMARY KEY (kind, detail));

CREATE TABLE coverage (                  -- what the recording found when it checked itself
    kind     TEXT NOT NULL CHECK (kind IN ('lookup_path','entry point','runtime','records',
             'door')),                   -- 'door': lookup_path in formats before 9
    what     TEXT NOT NULL,              -- lookup path; function of the driver; module; kind of device work
    class    TEXT,                       -- entry point: what it does; runtime: where the module has it from
    requests INTEGER,                    -- lookup_path, entry point: how often it was asked for
    expected INTEGER,                    -- entry point: calls made; records: device work that the recorded
                                         -- calls made. NULL: not counted
    seen     INTEGER,                    -- of these: in the trace; with a device record
    extra    INTEGER,                    -- records: device work without a recorded call
    detail   TEXT,
    PRIMARY KEY (kind, what)
);
CREATE TABLE coverage_example (          -- of records that do not agree, a few each
    what   TEXT NOT NULL,                -- coverage.what
    side   TEXT NOT NULL CHECK (side IN ('call','record')),
    id     INTEGER NOT NULL,             -- transfer.id, memset.id or launch.id; device_op.id
    detail TEXT
);
-- Where the recorder stands; all four are dropped when the recording is finished.
CREATE TABLE ingest_chunk (chunk INTEGER PRIMARY KEY, offset INTEGER NOT NULL, finished INTEGER NOT NULL);
CREATE TABLE ingest_cubin (crc INTEGER NOT NULL, position INTEGER NOT NULL, total INTEGER NOT NULL, piece BLOB NOT NULL);
CREATE TABLE ingest_inlining (class_id INTEGER NOT NULL, site INTEGER NOT NULL, chain_id INTEGER NOT NULL,
                              PRIMARY KEY (class_id, site)) WITHOUT ROWID;
CREATE TABLE ingest_state (key TEXT PRIMARY KEY, value INTEGER NOT NULL);

CREATE TABLE device_model (uuid TEXT PRIMARY KEY, match TEXT NOT NULL CHECK (match IN ('this board','same name')),
                           json TEXT NOT NULL);

-- ---- views: the public interface -------------------------------------------------------------

CREATE VIEW v_frame AS
SELECT f.id, f.address, m.path AS module, f.offset, fn.text AS function, fi.text AS file, f.line, f.runtime,
       f.inlined_into IS NOT NULL AS inlined
FROM frame f LEFT JOIN module m ON m.id = f.module_id
LEFT JOIN string fn ON fn.id = f.function_id LEFT JOIN string fi ON fi.id = f.file_id;

CREATE VIEW v_stack AS
SELECT s.stack_id, s.position, v.function, v.file, v.line, v.module, v.offset, v.runtime,
       v.inlined
FROM stack_frame s JOIN v_frame v ON v.id = s.frame_id;

CREATE VIEW v_transfer AS
SELECT t.id, a.name AS driver_api, coalesce(a.runtime_name, a.name) AS api, t.thread_id, c.device_id,
       t.stream_id, t.begin_ns, t.end_ns, t.end_ns - t.begin_ns AS host_ns, t.result, t.direction,
       t.blocking, t.bytes, t.dst, t.src, t.dst_class, t.src_class,
       CASE t.direction WHEN 'h2d' THEN t.src_class WHEN 'd2h' THEN t.dst_class END AS host_class,
       t.width, t.height, t.depth, t.dst_pitch, t.src_pitch, t.device_start_ns, t.device_end_ns,
       t.device_end_ns - t.device_start_ns AS device_ns, t.stack_id, t.capturing
FROM transfer t JOIN api a ON a.id = t.api_id LEFT JOIN context c ON c.id = t.context_id;

-- Copies between host and device with what is known of their content.
CREATE VIEW v_fingerprint AS
SELECT f.transfer_id, t.begin_ns, t.direction, t.bytes, f.hash, f.whole, f.bytes_hashed, f.skipped,
       t.dst, t.src, t.dst_allocation_id, t.src_allocation_id,
       t.dst - d.address AS dst_offset, t.src - s.address AS src_offset, t.stack_id
FROM fingerprint f JOIN transfer t ON t.id = f.transfer_id
LEFT JOIN allocation d ON d.id = t.dst_allocation_id LEFT JOIN allocation s ON s.id = t.src_allocation_id;

CREATE VIEW v_launch AS
SELECT l.id, a.name AS driver_api, coalesce(a.runtime_name, a.name) AS api, l.thread_id, c.device_id,
       l.stream_id, l.begin_ns, l.end_ns, l.end_ns - l.begin_ns AS host_ns, l.result, l.kind, l.seq,
       k.name AS kernel, l.class_id, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z,
       l.dynamic_shared_bytes, l.measured, l.no_activity, l.device_start_ns, l.device_end_ns,
       l.device_end_ns - l.device_start_ns AS device_ns, l.stack_id, l.capturing
FROM launch l JOIN api a ON a.id = l.api_id LEFT JOIN kernel k ON k.id = l.kernel_id
LEFT JOIN context c ON c.id = l.context_id;

-- Tensor maps with how often the same descriptor was encoded, the host time of these calls, and how many
-- launches were given it.
CREATE VIEW v_tensor_map AS
SELECT m.id, m.kind, m.data_type, m.rank, m.address, m.allocation_id, m.dim_0, m.dim_1, m.dim_2, m.dim_3, m.dim_4,
       m.stride_1, m.stride_2, m.stride_3, m.stride_4, m.box_0, m.box_1, m.box_2, m.box_3, m.box_4,
       m.box_0 * m.element_bits / 8 AS inner_bytes, m.interleave, m.swizzle, m.l2_promotion, m.oob_fill,
       count(c.id) AS encodings, sum(c.end_ns - c.begin_ns) AS host_ns, min(c.stack_id) AS stack_id,
       (SELECT count(*) FROM launch l WHERE l.argument_set_id IN
        (SELECT set_id FROM launch_tensor_map t WHERE t.tensor_map_id = m.id)) AS launches
FROM tensor_map m LEFT JOIN tensor_map_encoding e ON e.tensor_map_id = m.id
LEFT JOIN api_call c ON c.id = e.call_id GROUP BY m.id;

-- Each launch of a graph, expanded: one row per node that is not switched off, as it was when it was launched.
CREATE VIEW v_graph_launch AS
SELECT l.id AS launch_id, l.begin_ns, l.stream_id, l.stack_id, g.id AS graph_id, n.position, u.kind, u.bytes,
       u.direction, u.dst, u.src, u.dst_class, u.src_class, u.dst_allocation_id, u.src_allocation_id,
       k.name AS kernel, u.grid_x, u.grid_y, u.grid_z, u.block_x, u.block_y, u.block_z
FROM launch l
JOIN graph g ON g.id = (SELECT v.id FROM graph v WHERE v.handle = l.graph AND v.begin_ns <= l.begin_ns
                        ORDER BY v.begin_ns DESC LIMIT 1) AND (g.end_ns IS NULL OR l.begin_ns < g.end_ns)
JOIN graph_node n ON n.graph_id = g.id AND n.position IS NOT NULL
JOIN graph_node u ON u.rowid = (SELECT m.rowid FROM graph_node m WHERE m.graph_id = g.id AND m.node = n.node
                                AND m.since_ns <= l.begin_ns ORDER BY m.since_ns DESC LIMIT 1)
LEFT JOIN kernel k ON k.id = u.kernel_id
WHERE l.kind = 'graph' AND l.result = 0 AND l.capturing = 0 AND coalesce(
    (SELECT s.enabled FROM graph_switch s WHERE s.graph_id = g.made_id AND s.node = n.node
     AND s.since_ns <= l.begin_ns ORDER BY s.since_ns DESC LIMIT 1), 1) = 1;

-- Device memory, and page-locked memory of the host (place = 'host').
CREATE VIEW v_allocation AS
SELECT m.id, m.place, m.kind, a.name AS driver_api, coalesce(a.runtime_name, a.name) AS api, m.thread_id,
       c.device_id, m.stream_id, m.address, m.bytes, m.begin_ns, m.end_ns, m.end_ns - m.begin_ns AS host_ns,
       m.stack_id, coalesce(f.runtime_name, f.name) AS free_api, m.free_begin_ns, m.free_end_ns,
       m.free_begin_ns - m.end_ns AS lifetime_ns, m.free_stack_id
FROM (SELECT id, 'device' AS place, kind, api_id, thread_id, context_id, stream_id, address, bytes, begin_ns,
             end_ns, stack_id, free_api_id, free_begin_ns, free_end_ns, free_stack_id FROM allocation
      UNION ALL
      SELECT id, 'host', kind, api_id, thread_id, context_id, NULL, address, bytes, begin_ns,
             end_ns, stack_id, free_api_id, free_begin_ns, free_end_ns, free_stack_id FROM host_allocation) m
LEFT JOIN api a ON a.id = m.api_id LEFT JOIN api f ON f.id = m.free_api_id
LEFT JOIN context c ON c.id = m.context_id;

-- Regions with their heaps: who uses which part of an allocator's memory. end_ns is that of the heap where it ends first.
CREATE VIEW v_region AS
SELECT r.id, r.heap_id, h.usage, d.text AS domain, hn.text AS heap, n.text AS name, r.address, r.bytes, r.begin_ns,
       coalesce(r.end_ns, h.end_ns) AS end_ns, coalesce(r.end_ns, h.end_ns) - r.begin_ns AS lifetime_ns, r.stack_id, r.made_id
FROM region r LEFT JOIN heap h ON h.id = r.heap_id LEFT JOIN region m ON m.id = r.made_id
LEFT JOIN string d ON d.id = h.domain_id LEFT JOIN string hn ON hn.id = h.name_id LEFT JOIN string n ON n.id = m.name_id;

-- Faults and migrations with the allocation that the page is of and the launch that ran meanwhile.
CREATE VIEW v_managed_op AS
SELECT m.id, m.kind, m.start_ns, m.end_ns, m.end_ns - m.start_ns AS duration_ns, m.address, m.bytes, m.faults,
       m.src_device_id, m.dst_device_id, m.cause,
       (SELECT a.id FROM allocation a WHERE a.address < m.address + coalesce(m.bytes, 4096)
        AND m.address < a.address + a.bytes AND a.end_ns <= m.start_ns AND (a.free_end_ns IS NULL OR m.start_ns < a.free_end_ns)
        ORDER BY a.address LIMIT 1) AS allocation_id,
       (SELECT l.id FROM launch l WHERE l.device_start_ns <= m.start_ns AND m.start_ns < l.device_end_ns
        ORDER BY l.begin_ns DESC LIMIT 1) AS launch_id
FROM managed_op m;

CREATE VIEW v_range AS
SELECT r.id, r.kind, r.thread_id, t.name AS thread, d.text AS domain, n.text AS name, r.begin_ns,
       r.end_ns, r.end_ns - r.begin_ns AS host_ns, r.depth, r.communicator, r.bytes, r.ranks, r.rank
FROM range r LEFT JOIN thread t ON t.id = r.thread_id LEFT JOIN string d ON d.id = r.domain_id
LEFT JOIN string n ON n.id = r.name_id;

CREATE VIEW v_counter AS
SELECT kc.class_id, k.name AS kernel, m.name AS metric, m.unit, kc.source, kc.grp AS "group",
       avg(kc.value) AS mean, min(kc.value) AS min, max(kc.value) AS max,
       sum(kc.samples) AS samples
FROM kernel_counters kc JOIN metric m ON m.id = kc.metric_id
JOIN kernel_class c ON c.id = kc.class_id JOIN kernel k ON k.id = c.kernel_id
GROUP BY kc.class_id, kc.metric_id, kc.source;

-- One row per class with the three headline figures. Efficiency = bytes asked / (32 x sectors),
-- from the software-patched group; n-way = shared wavefronts / max(requests, bytes / 128).
CREATE VIEW v_kernel AS
SELECT c.id AS class_id, k.id AS kernel_id, k.name AS kernel, k.registers, k.static_shared_bytes,
       k.local_bytes, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z,
       c.dynamic_shared_bytes, c.max_blocks_per_sm, c.theoretical_occupancy,
       (SELECT count(*) FROM launch l WHERE l.class_id = c.id) AS launches,
       (SELECT sum(device_end_ns - device_start_ns) FROM launch l WHERE l.class_id = c.id) AS device_ns,
       (SELECT count(*) FROM launch l WHERE l.class_id = c.id AND l.measured IS NOT NULL) AS measured_launches,
       (SELECT 100.0 * b.mean / nullif(32.0 * s.mean, 0) FROM v_counter b, v_counter s
         WHERE b.class_id = c.id AND s.class_id = c.id
           AND b.metric = 'global_load_bytes' AND s.metric = 'global_load_sectors') AS load_efficiency_percent,
       (SELECT 100.0 * b.mean / nullif(32.0 * s.mean, 0) FROM v_counter b, v_counter s
         WHERE b.class_id = c.id AND s.class_id = c.id
           AND b.metric = 'global_store_bytes' AND s.metric = 'global_store_sectors') AS store_efficiency_percent,
       (SELECT w.mean / nullif(max(r.mean, b.mean / 128.0), 0) FROM v_counter w, v_counter r, v_counter b
         WHERE w.class_id = c.id AND r.class_id = c.id AND b.class_id = c.id
           AND w.metric = 'shared_load_wavefronts' AND r.metric = 'shared_load_requests'
           AND b.metric = 'shared_load_bytes') AS shared_load_ways,
       (SELECT w.mean / nullif(max(r.mean, b.mean / 128.0), 0) FROM v_counter w, v_counter r, v_counter b
         WHERE w.class_id = c.id AND r.class_id = c.id AND b.class_id = c.id
           AND w.metric = 'shared_store_wavefronts' AND r.metric = 'shared_store_requests'
           AND b.metric = 'shared_store_bytes') AS shared_store_ways,
       (SELECT o.mean / 100.0 FROM v_counter o WHERE o.class_id = c.id
           AND o.metric = 'achieved_occupancy_percent') AS achieved_occupancy
FROM kernel_class c JOIN kernel k ON k.id = c.kernel_id;

-- Where a class was counted on the GPU and by the software device, what the GPU did.
CREATE VIEW v_counted_instruction AS
SELECT i.* FROM instruction i
WHERE i.source = 'sass' OR NOT EXISTS (SELECT 1 FROM instruction m WHERE m.class_id = i.class_id AND m.source = 'sass');

-- One row per instruction of a class, means over the launches it was counted in; its excess work
-- and what part of the kernel's excess that is.
CREATE VIEW v_instruction AS
SELECT i.class_id, k.name AS kernel, i.site, fn.text AS function, op.text AS opcode, fi.text AS file,
       i.line, i.column, cf.text AS caller_file, i.caller_line, i.ptx_line, i.width, i.kind, count(*) AS launches,
       avg(i.executed) AS executed, avg(i.lanes) AS lanes, avg(i.requests) AS requests,
       avg(i.bytes) AS bytes, avg(i.sectors) AS sectors, avg(i.ideal_sectors) AS ideal_sectors,
       avg(i.lines) AS lines, avg(i.wavefronts) AS wavefronts,
       avg(i.ideal_wavefronts) AS ideal_wavefronts, max(i.max_degree) AS max_degree,
       avg(i.addresses) AS addresses,
       avg(i.sectors - i.ideal_sectors) AS excess_sectors,
       avg(i.wavefronts - i.ideal_wavefronts) AS excess_wavefronts,
       sum(i.sectors - i.ideal_sectors) * 1.0 /
           nullif(sum(sum(i.sectors - i.ideal_sectors)) OVER class, 0) AS sector_share,
       sum(i.wavefronts - i.ideal_wavefronts) * 1.0 /
           nullif(sum(sum(i.wavefronts - i.ideal_wavefronts)) OVER class, 0) AS wavefront_share,
       min(i.source) AS source, min(i.pc_offset) AS pc_offset, min(i.chain_id) AS chain_id
FROM v_counted_instruction i JOIN kernel_class c ON c.id = i.class_id JOIN kernel k ON k.id = c.kernel_id
LEFT JOIN string fn ON fn.id = i.function_id LEFT JOIN string op ON op.id = i.opcode_id
LEFT JOIN string fi ON fi.id = i.file_id LEFT JOIN string cf ON cf.id = i.caller_file_id
GROUP BY i.class_id, i.site, i.kind
WINDOW class AS (PARTITION BY i.class_id);

-- The lines that an instruction stands for, as v_instruction.chain_id names them: innermost first by level.
CREATE VIEW v_inline_level AS
SELECT l.chain_id, l.level, fn.text AS function, fi.text AS file, l.line
FROM inline_level l LEFT JOIN string fn ON fn.id = l.function_id LEFT JOIN string fi ON fi.id = l.file_id
ORDER BY l.chain_id, l.level;

-- One row per kernel, source line (without one: instruction) and kind, summed over all launches that
-- were counted; excess_bytes is what those moved beyond the ideal.
CREATE VIEW v_line AS
SELECT k.id AS kernel_id, k.name AS kernel, i.file_id, fi.text AS file, i.line,
       CASE WHEN i.line IS NULL THEN i.ptx_line END AS ptx_line, i.kind,
       group_concat(DISTINCT op.text) AS opcodes, count(DISTINCT i.site) AS instructions,
       sum(i.executed) AS executed, sum(i.lanes) AS lanes, sum(i.requests) AS requests, sum(i.bytes) AS bytes,
       sum(i.sectors) AS sectors, sum(i.ideal_sectors) AS ideal_sectors, sum(i.wavefronts) AS wavefronts,
       sum(i.ideal_wavefronts) AS ideal_wavefronts,
       CASE WHEN i.kind LIKE 'local%' THEN 32 * sum(i.sectors)
            WHEN i.kind LIKE 'shared%' THEN 128 * sum(i.wavefronts - i.ideal_wavefronts)
            ELSE 32 * sum(i.sectors - i.ideal_sectors) END AS excess_bytes, min(i.source) AS source,
       CASE WHEN i.line IS NULL THEN i.pc_offset END AS pc_offset
FROM v_counted_instruction i JOIN kernel_class c ON c.id = i.class_id JOIN kernel k ON k.id = c.kernel_id
LEFT JOIN string op ON op.id = i.opcode_id LEFT JOIN string fi ON fi.id = i.file_id
GROUP BY k.id, i.file_id, i.line, CASE WHEN i.line IS NULL THEN i.ptx_line END,
         CASE WHEN i.line IS NULL AND i.pc_offset IS NOT NULL THEN i.site END, i.kind;

-- What launches of a class touched of an allocation. reread: how often each sector read was read.
CREATE VIEW v_footprint AS
SELECT f.launch_seq, f.class_id, k.name AS kernel, f.allocation_id,
       CASE WHEN f.name IS NOT NULL THEN 'variable' ELSE coalesce(a.kind, h.kind) END AS kind, f.name,
       f.address, f.bytes, f.read_bytes, f.write_bytes, f.read_traffic_bytes, f.write_traffic_bytes,
       f.read_traffic_bytes * 1.0 / nullif(f.read_bytes, 0) AS reread,
       f.write_traffic_bytes * 1.0 / nullif(f.write_bytes, 0) AS rewritten
FROM kernel_footprint f JOIN kernel_class c ON c.id = f.class_id JOIN kernel k ON k.id = c.kernel_id
LEFT JOIN allocation a ON a.id = f.allocation_id LEFT JOIN host_allocation h ON h.id = f.allocation_id;

CREATE VIEW v_race AS
SELECT r.launch_seq, r.class_id, k.name AS kernel, r.count,
       o1.text AS first_opcode, f1.text AS first_file, r.first_line, c1.text AS first_caller_file,
       r.first_caller_line, r.first_ptx_line,
       o2.text AS second_opcode, f2.text AS second_file, r.second_line, c2.text AS second_caller_file,
       r.second_caller_line, r.second_ptx_line
FROM race r JOIN kernel_class c ON c.id = r.class_id JOIN kernel k ON k.id = c.kernel_id
LEFT JOIN string o1 ON o1.id = r.first_opcode_id LEFT JOIN string f1 ON f1.id = r.first_file_id
LEFT JOIN string o2 ON o2.id = r.second_opcode_id LEFT JOIN string f2 ON f2.id = r.second_file_id
LEFT JOIN string c1 ON c1.id = r.first_caller_file_id
LEFT JOIN string c2 ON c2.id = r.second_caller_file_id;

CREATE VIEW v_step AS
SELECT s.id, s.number, s.steps, s.source, n.text AS name, s.begin_ns, s.end_ns, s.end_ns - s.begin_ns AS duration_ns,
       s.range_ns, s.longest_ns
FROM step s LEFT JOIN string n ON n.id = s.name_id;

-- With the user's own frame that made the calls.
CREATE VIEW v_step_call AS
SELECT c.step_id, s.number, c.kind, c.calls, c.bytes, c.host_ns, c.blocking_ns, c.longest_ns, c.stack_id,
       v.function, v.file, v.line
FROM step_call c JOIN step s ON s.id = c.step_id
LEFT JOIN v_stack v ON v.stack_id = c.stack_id AND v.position = (SELECT min(f.position) FROM stack_frame f
          JOIN frame r ON r.id = f.frame_id WHERE f.stack_id = c.stack_id AND r.runtime = 0);

CREATE VIEW v_step_kernel AS
SELECT k.step_id, s.number, n.text AS kernel, k.launches, k.operations, k.device_ns, k.longest_ns
FROM step_kernel k JOIN step s ON s.id = k.step_id LEFT JOIN string n ON n.id = k.name_id;
