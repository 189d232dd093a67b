/* SPDX-License-Identifier: Apache-2.0 */
/* Every threshold of the analysis, in one place, each with its reason. */
#ifndef GMT_ANALYZER_BASE_THRESHOLDS_H
#define GMT_ANALYZER_BASE_THRESHOLDS_H

/* ---- what is worth a finding; below it is a note ---- */

/*
 * Anyone changes code for one percent, of the wall time or, in kernels and copies, of the time that the
 * device is busy; nobody for less, unless it is visible in absolute terms.
 */
#define GMT_FLOOR_SHARE 0.01
#define GMT_FLOOR_NS 1e6           /* 1 ms counts even in a longer run ...            */
#define GMT_FLOOR_SHARE_OF_MS 1e-3 /* ... as long as it is a thousandth of it         */
#define GMT_FLOOR_NOISE_NS 20e3    /* below 20 us a run differs from the next by more */

/* Severity by share of the wall time. */
#define GMT_SHARE_HIGH 0.10
#define GMT_SHARE_MEDIUM 0.02

/* Without times: excess work at least doubles the work, and is 5 % of all such work. */
#define GMT_EXCESS_RATIO 2.0
#define GMT_EXCESS_SHARE 0.05

/* ---- copies ---- */

/* Minimum number of copies to report: fixing fewer is not worth a line of code. */
#define GMT_RUN_MIN_COPIES 8
/* A copy is small while that share of its time, by the model, is not spent on its bytes. */
#define GMT_SMALL_LATENCY_SHARE 0.8
/* Where no model has that size: one page, which no bus can fill the time of a call with. */
#define GMT_SMALL_BYTES_UNKNOWN 4096.0
/* Pages are pinned whole: ranges this close share one. */
#define GMT_PAGE_BYTES 4096
/* glibc gives a large block pages of its own, and begins so far into the first of them (malloc/malloc.c: the
 * header of a chunk). */
#define GMT_MALLOC_HEADER_BYTES 16
/* Mapped memory below this is a flag or a result: nobody copies it to the device to save time. */
#define GMT_MAPPED_MIN_BYTES 1048576.0
/* Bytes asked for, or sectors, above the ideal by less than this still count as once and coalesced. */
#define GMT_MAPPED_ONCE 1.25
/* Pageable memory up to this size is staged at once, and an asynchronous upload returns. */
#define GMT_ASYNC_STAGED_BYTES 65537
/* A call that took this share of the copy has waited for it: queueing takes a hundredth. */
#define GMT_BLOCKED_SHARE 0.5
/*
 * What tracing adds to a call at most: a record of CUPTI, in which four programs of copies spent 1.4 to
 * 2.5 us (H200), and the hooks. A buffer that was just hashed is in the caches of the host: copies of
 * page-locked memory from there took 11 % longer, to there 7 %.
 */
#define GMT_TRACED_CALL_NS 2.5e3
#define GMT_TRACED_LIGHT_NS 200.0
#define GMT_TRACED_HASHED_SHARE 0.12
/* A result, a flag, a few counters: nobody reads such a copy for its bytes. */
#define GMT_SCALAR_BYTES 256
/* Pending uploads of one buffer that are compared with a later write: older ones are let go. */
#define GMT_PENDING_UPLOADS 64
/* Tables of pointers, by which kernels reach memory that is not among their arguments, are small. */
#define GMT_POINTER_TABLE_BYTES 65536
/* Checking a flag every so many steps leaves a tenth of the waiting, and wastes few steps. */
#define GMT_READBACK_STEPS 10.0
/*
 * Below this share of the time that a read-back waits for, the device is hardly idle: a loop that
 * checks every 32nd step was at 1.2 % (H200), half of it by the tracer's own cost of a wait.
 */
#define GMT_READBACK_MIN_IDLE 0.02
/* Fewer trips to the host and back than this may be set-up and result; from the fourth on it is a loop. */
#define GMT_TRIP_MIN 4
/* One pass of a core over floats, each changed within 16 ns; and what waking up and calling take. */
#define GMT_HOST_STEP_NS_PER_BYTE 4.0
#define GMT_HOST_STEP_NS 100e3
/* Chunks of a pipeline: with four, three quarters of what can overlap does. */
#define GMT_PIPELINE_CHUNKS 4.0
/* A pipeline that can shorten a loop by less than a tenth is not worth its streams. */
#define GMT_OVERLAP_MIN_SHARE 0.1
/* From here on a program has its pipeline: what is left depends on how the bus is shared. */
#define GMT_OVERLAP_DONE 0.5
/* A chunk spends at most this share of its time before its first byte. */
#define GMT_CHUNK_LATENCY_SHARE 0.2
/* A stream that is idle for longer between a copy and a kernel waits for something else. */
#define GMT_ENGINE_GAP_MOST_NS 2e4

/* Ranges of one allocation whose content is followed at a time: more are the pieces of a pool. */
#define GMT_CONTENT_RANGES 256
/* Streams whose waits are tracked separately; work of others counts as running until all is waited for. */
#define GMT_CONTENT_STREAMS 1024
/* No allocation is larger: 1 PiB. */
#define GMT_CONTENT_MOST_BYTES (INT64_C(1) << 50)

/* ---- allocations ---- */

/* Three of the same may be set-up; from the fourth on it is a loop. */
#define GMT_CHURN_MIN_PAIRS 4
/* The first stream-ordered allocation of a process makes the pool: 7 to 10 ms (H200). */
#define GMT_POOL_MADE_NS 1e7
/* The alignment that cudaMalloc guarantees, and the sector below which accesses split. */
#define GMT_ALLOCATION_ALIGNMENT 256
#define GMT_SECTOR_BYTES 32
/*
 * Segments of a caching allocator: PyTorch's are multiples of 2 MiB, and hold parts from the second
 * pointer on; others count from the fourth. Allocators align what they give out; views of it and
 * stencils shift a few pointers.
 */
#define GMT_SEGMENT_MIN_BYTES 1048576
#define GMT_SEGMENT_BYTES 2097152
#define GMT_SEGMENT_PARTS_WHOLE 2
#define GMT_SEGMENT_PARTS 4
#define GMT_SEGMENT_ALIGNED_SHARE 0.75
/* Lost blocks from one line that make a loop: the fourth, which follows them, is still in use. */
#define GMT_LEAK_MIN_COUNT 3
/*
 * An allocator's segments grow until the end where the last one was made in the last third of the launches: what is
 * summed up at the end follows the loop. In each of the last three quarters until then some are made, and as
 * much as half of what an even growth would bring: a cache that fills brings ever less.
 */
#define GMT_GROWTH_LAST_SHARE 0.66
#define GMT_GROWTH_MIN_COUNT 3
#define GMT_GROWTH_EVEN_SHARE 0.5
/* Memory that nobody lacks is worth no work: of the peak, and in all, at least so much. */
#define GMT_PEAK_MIN_SHARE 0.05
#define GMT_PEAK_MIN_BYTES 1048576.0
/* So much of the device's memory decides what fits beside it. */
#define GMT_PEAK_DEVICE_SHARE 0.1
/* Page-locked memory is taken from everyone on the machine; below this nobody misses it. */
#define GMT_PINNED_MIN_BYTES 16777216.0
/* Buffers that are filled to various degrees are pinned for the fullest: half is still that. */
#define GMT_PINNED_USED_SHARE 0.5
/* One warp access of 4-byte words: what is smaller is a scalar, not an array. */
#define GMT_ARRAY_MIN_BYTES 128
/* Sectors of a line of L1, and of L2. */
#define GMT_LINE_SECTORS 4.0
/* What shared memory serves in one pass: 32 banks of 4 bytes. */
#define GMT_WAVEFRONT_BYTES 128

/* ---- kernels ---- */

/*
 * Device times of kernels that only ran measured (cycle_times.h). A kernel's activity record is that much
 * longer than its multiprocessors have work. Of 195 kernels and shapes of 50 us and more (H200) the time so
 * computed is within 5 % of the recorded one for 176, within 10 % for 194. Shorter ones show the clock badly.
 */
#define GMT_CYCLES_EDGE_NS 600.0
#define GMT_CYCLES_MIN_NS 20e3
#define GMT_CYCLES_MIN_CLASSES 3

/*
 * Page faults of managed memory (managed_ops.h). While they go on a kernel repeats its accesses between two of them.
 */
#define GMT_FAULT_GAP_NS 20000
/* What recording each of them adds to it: 25 ms for 6,000 to 9,000 of them (H200; docs/cupti-notes.md). */
#define GMT_FAULT_RECORD_NS 3500.0
/* Pages that move to the device so many times do not come for their first touch. */
#define GMT_MANAGED_AGAIN 2.0

/* Combining times of resources: t = (sum t_u^p)^(1/p); p = 3 fits the stride series within 5 %. */
#define GMT_OVERLAP_EXPONENT 3.0
/* Sectors per ideal sector from which accesses are strided; below it they are misaligned. */
#define GMT_STRIDED_RATIO 2.0
/* A misaligned warp access takes one sector more than ideal, however wide its words are. */
#define GMT_MISALIGNED_EXTRA_SECTORS 1.1
#define GMT_MISALIGNED_MIN_EXTRA 0.2
/* A misalignment that costs less than this is a note: timing it would not show it. */
#define GMT_MISALIGNED_MIN_COST 0.03
/* Conflict-free kernels show 0.3 % of conflicts (arbitration): stay well clear of it. */
#define GMT_CONFLICT_RATIO 1.25
/* Arbitration and a few other accesses leave a whole number of ways, or a width, this close. */
#define GMT_WHOLE_WAYS 0.03
/* Passes that broadcasts of 16-byte words explain, with the arbitration of a mixed kernel on top. */
#define GMT_SHARED_WIDE_DOUBT 1.05
/* Family variants whose sectors per ideal sector are this close count as the same pattern. */
#define GMT_FAMILY_MATCH 1.15
/* So much slower than the family, relatively, a kernel is still like it, with a good twin as slow. */
#define GMT_FAMILY_LIKE 0.15
/* Share of the traffic beyond L1 that must reach DRAM for a streaming family to be a likeness. */
#define GMT_STREAMING_SHARE 0.7
/*
 * Work is not always done as fast as the best kernel does it: single sectors, partial writes and
 * misses of the TLB take up to about twice as long as the rates and latencies say.
 */
#define GMT_MEMORY_SLACK 2.0
/* Achieved / theoretical occupancy where it was not measured: blocks that come and go leave gaps. */
#define GMT_TYPICAL_ACHIEVED 0.8
/* Loads per thread from which several are likely in flight at once. */
#define GMT_SEVERAL_LOADS 1.5
/* As many as compilers put in front of their first use: they unroll loops by four. */
#define GMT_LOADS_IN_FLIGHT 4.0
/* Error of a predicted kernel time, in points of run time: on top of the measured spread. */
#define GMT_MODEL_UNCERTAINTY 0.05
/* Modelled times of traces without a GPU are within this factor of an H200's for four of five kernels
 * (docs/modelled-prices.md): intervals of their savings reach as far. */
#define GMT_MODELLED_FACTOR 2.0
/* At this share of the roof that the calibration reached, nothing is left to gain. */
#define GMT_AT_ROOF 0.90
/* More occupancy has to promise this factor in bandwidth before it is worth a word. */
#define GMT_OCCUPANCY_MIN_GAIN 1.10
/* Occupancy below which even a kernel that has warps enough is worth a note. */
#define GMT_LOW_OCCUPANCY 0.5
/* A kernel that moves less than this share of what its occupancy allows waits for other things. */
#define GMT_MEMORY_BOUND_SHARE 0.25
/* Sums of counters and sizes of arrays that differ by less are the same: pads, and ends of arrays. */
#define GMT_ARRAY_MATCH 0.1
/* Ratios of whole numbers that differ by less are the same: counters are exact, warps are not full. */
#define GMT_STRUCT_MATCH 0.02
/* Sectors per request that differ by less from what packed rows would take come from them. */
#define GMT_ROWS_MATCH 0.02
/* Larger things than this are rows of a matrix, no structs. */
#define GMT_STRUCT_MOST_BYTES 256.0
/* What passes L1, against what is asked for, where L1 serves all but the first word of a sector. */
#define GMT_ONCE_SLACK 1.3
/* Mean active lanes from which warps count as full: the last warp of a grid may have few. */
#define GMT_FULL_WARP_LANES 31.0
/* DRAM bytes per byte that L2 asked for, from which sectors come in pairs with one of them unused. */
#define GMT_LONE_SECTOR_RATIO 1.6
/* Different words per read of constants from which reads diverge: uniform ones show a few misses. */
#define GMT_CONSTANT_WORDS 1.5
/* Global loads read each byte this often before a tile could pay: fewer, and L1 has the rest. */
#define GMT_REREAD_FACTOR 8.0
/*
 * Where nothing has a price: L1 serves windows of up to 8 x 8 neighbours, and all of what every L1
 * holds.
 */
#define GMT_REREAD_FACTOR_UNPRICED 64.0
#define GMT_REREAD_MIN_BYTES 32768
/* Beyond the slowest stride by more than the spread of kernels with that ratio: no stride. */
#define GMT_SCATTERED_TIME 1.3
/* Words wider than a reference's by more than this are not like it. */
#define GMT_WIDTH_MATCH 1.5
/* To compute a 64-bit address: a product, and a sum of two halves. */
#define GMT_ADDRESS_INSTRUCTIONS 3
/* Words asked for / words there can be, from which words must have been asked for again. */
#define GMT_AGAIN 1.5
/* Share of the load sectors that caches serve in kernels that are called resident in them. */
#define GMT_CACHED_SHARE 0.5
/* Sectors per local request that no access of lanes alike has: 32 lanes x 16 bytes are 16. */
#define GMT_LOCAL_DIVERGENT_SECTORS 16.5
/* Registers per thread are held down in steps of 8, and hardly below this many. */
#define GMT_REGISTER_STEP 8
#define GMT_REGISTERS_HELD 24
#define GMT_REGISTERS_MOST 254 /* of a thread; 255 with the one that is always 0 */
/* What device memory hands out at once. */
#define GMT_DRAM_BYTES 64.0
/* Rate of reading whole sectors from L2 / of writing parts of them, where that was not measured. */
#define GMT_PARTIAL_WRITE_FACTOR 4.0
/* Local accesses below this share of all memory instructions do not decide anything. */
#define GMT_LOCAL_MIN_SHARE 0.05

/* ---- shared memory and barriers ---- */

/* Shared stores of at most so many bytes are made by less than half a warp, whatever their width. */
#define GMT_SERIAL_STORE_BYTES 16.0
/* Of a block: two for each of the 32 warps that it can have. Fewer are results of warps, no tile. */
#define GMT_SERIAL_STORES_PER_BLOCK 64.0
/* They also have to be a good part of the memory instructions, or they decide nothing. */
#define GMT_SERIAL_STORE_SHARE 0.05
/* Warps that wait at barriers more than half of their time: a minority of the block works. */
#define GMT_BARRIER_FILL_SHARE 0.5
/* Bytes stored to shared memory per byte loaded, where a tile is filled: reductions store less, or
 * again and again. */
#define GMT_FILL_LEAST 0.5
#define GMT_FILL_MOST 1.25
/* Below it, smaller blocks would give less than what a run differs from the next. */
#define GMT_BARRIER_MIN_SHARE 0.10
/* Two such blocks fit where one of the largest does; below it a block has little to wait for. */
#define GMT_BARRIER_BLOCK_THREADS 512
/* What GM505 proposes: eight warps, as most kernels have. */
#define GMT_SMALL_BLOCK_THREADS 256
/* A word that is stored to shared memory and on average read less than every second time. */
#define GMT_STAGED_READ_SHARE 0.5
/* Global loads beyond the fill, per byte that was staged, from which on arrays are read again. */
#define GMT_STAGED_REREAD 1.0
/* The tile has to be fed by the loads: reductions load far more than they ever stage. */
#define GMT_STAGED_MIN_SHARE (1.0 / 64)
/* Latency of a shared load against that of a hit in L1: 23 and 33 cycles on GH100. */
#define GMT_SHARED_LATENCY_SHARE 0.7
#define GMT_L1_HIT_CYCLES 33.0
/* A fix that a reader has to believe: how much of the predicted gain is taken for certain. */
#define GMT_SERIAL_CERTAIN 0.5
/* ---- shapes of launches ---- */

/* Registers are given out by 8 per thread; a compiler finds as many again by __launch_bounds__. */
#define GMT_CLIFF_REGISTERS 16.0
/* Idle lanes below this share: one block size is as good as the next. */
#define GMT_IDLE_LANES 0.05
/* A grid, or its last wave, that leaves less of the device idle than this is full. */
#define GMT_TAIL_MIN_LOSS 0.03
/* A thread that handles one element is done by then: longer ones have work that can be spread. */
#define GMT_SHORT_KERNEL_NS 10e3
/*
 * Instructions that a thread executes at least for one item: its place, the test whether it is one, what
 * it loads and stores. The smallest recorded kernels, which fill and update an array, have 15.
 */
#define GMT_ITEM_INSTRUCTIONS 15.0
/* A stored word that takes more, four times as many, may be a step of a longer computation. */
#define GMT_PLAIN_INSTRUCTIONS (4 * GMT_ITEM_INSTRUCTIONS)
/* What any kernel takes, its start and end included. */
#define GMT_KERNEL_LEAST_NS 3e3
/* Loads in flight per thread, by Little's law with the latency of an idle device: one at a time. */
#define GMT_ONE_LOAD_LEAST 0.4
#define GMT_ONE_LOAD_MOST 1.3
/* Wider loads are several already. */
#define GMT_NARROW_LOAD_BYTES 8.0
/* Warps that wait less than this share of their time for loads wait for something else. */
#define GMT_WAITING_SHARE 0.5
/*
 * Four loads issued together are waited for together: on average three of them are in flight. (H200:
 * four at 12.5 % of the warps move what one does at 36 %.) More than four cost registers.
 */
#define GMT_UNROLLED_LOADS 3.0
/* Kernels of which not even two fit side by side gain nothing from streams. */
#define GMT_SMALL_KERNEL_SHARE 0.5
/* The next kernel was waiting when the last one ended: the device takes no longer to start it. */
#define GMT_BACK_TO_BACK_NS 5e3
/* Kernels side by side: what the hardware runs at most. */
#define GMT_CONCURRENT_KERNELS 128.0
/* Fewer kernels in a row are no pattern. */
#define GMT_ROW_MIN_KERNELS 4
#define GMT_LAUNCH_RUN_MIN 32
/* Below this share of a run the device is busy enough while the host launches. */
#define GMT_LAUNCH_GAP_SHARE 0.15
/* Calls further apart than this are not a loop of launches: the host does something else. */
#define GMT_LAUNCH_LOOP_NS 50e3
/* ---- launches that come late ---- */

/* A bare loop of launches, and kernels of a graph one after the other, on an H200: what is taken where the model does not say. */
#define GMT_LAUNCH_STEP_NS 3.6e3
#define GMT_GRAPH_STEP_NS 1.2e3
/* Between launches that are further apart the program does something else than to launch them. */
#define GMT_HOST_STRETCH_NS 1e6
/*
 * What the host does between two launches to launch alone: an operation of eager PyTorch or a call of a compiled function of
 * JAX takes 5 to 50 us, twice of that while it is recorded. Longer code may be work that a graph would not do.
 */
#define GMT_HOST_DISPATCH_NS 100e3
/* Fewer launches are the steps of a program, not a loop. */
#define GMT_HOST_LINKS_MIN 32
/* Of the launches: where most find the device busy, it has work enough. */
#define GMT_HOST_LATE_SHARE 0.5
/* Below this share of kernels and waits together the device is busy enough, as in GM507. */
#define GMT_HOST_IDLE_SHARE 0.15
/* Waits for the host's own work at one place: fewer are set-up and results, not the steps of a loop. */
#define GMT_HOST_WAITS_MIN 16
/* One counts at most so many times the median of its place: what is beyond happened once. */
#define GMT_HOST_WAIT_MOST 2.0
/* A launch that takes very long (a wait for the host, another process on the device) is worth at most what makes the mean twice the median. */
#define GMT_TYPICAL_MOST 2.0
/* Between two loads of code of a loop: launches at least, and how many of them are of kernels and shapes that were there before. In
 * set-up each operation is compiled, launched once, and the next one is compiled. */
#define GMT_HOST_LOADS_BETWEEN 4
#define GMT_HOST_LOADS_KNOWN 0.9

/* ---- idle time ---- */

/*
 * From the end of a call, or of the work before it, to the start of what was called: recordings of an H200 show 9.2 us at
 * most where nothing else was in the way. What takes longer waits for something in its stream.
 */
#define GMT_LAUNCH_LATENCY_NS 20e3
/*
 * The first launch of a kernel that takes this long loads its code. Launches that load nothing take 2 to 10 us, and 20 us with the
 * first sight of a stack.
 */
#define GMT_LOADING_LAUNCH_NS 50e3

/* ---- small kernels ---- */

/* Loads and stores per thread of an element-wise kernel, at most. */
#define GMT_ELEMENTWISE_REQUESTS 6.0
/* A kernel that reads this near to what the one before wrote reads just that. */
#define GMT_HANDOVER_MATCH 0.1
/* More names than this that differ in numbers only are instances of one range, as iterations are. */
#define GMT_RANGE_NAMES_APART 16
/* Of ranges inside of ranges, paths that are distinguished while they are summed up, and how many names long ... */
#define GMT_RANGE_PATHS_MOST 65536
#define GMT_RANGE_DEPTH_MOST 32
/* ... and the largest ones, which a report names: a reader looks at some dozens. */
#define GMT_RANGE_NODES_MOST 1000

/* ---- settings of PyTorch's allocator ---- */

/*
 * Of what is reserved: a setting that gains less is not advised. A replay is not the program, and the next run asks for
 * other sizes than this one.
 */
#define GMT_SETTING_MIN_SHARE 0.1
/* Expandable segments are advised where they reserve at most so much more than the best setting. */
#define GMT_SETTING_CLOSE_SHARE 0.1

#endif
