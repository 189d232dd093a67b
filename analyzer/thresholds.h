/* SPDX-License-Identifier: Apache-2.0 */
/* Every threshold of the analysis, in one place, each with its reason. */
#ifndef GMT_ANALYZER_THRESHOLDS_H
#define GMT_ANALYZER_THRESHOLDS_H

/* ---- what is worth a finding; below it is a note ---- */

/* Anyone changes code for one percent; nobody for less, unless it is visible in absolute terms. */
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

/* Fewer copies than this are no habit; one more line of code would not pay. */
#define GMT_RUN_MIN_COPIES 8
/* "Far below" the size of half bandwidth: there latency is at least 80 % of a copy's time. */
#define GMT_SMALL_OF_HALF_BANDWIDTH 0.25
/* Where no model tells that size: one page, which no bus can fill the time of a call with. */
#define GMT_SMALL_BYTES_UNKNOWN 4096.0
/* Pages are pinned whole: ranges this close share one. */
#define GMT_PAGE_BYTES 4096

/* ---- allocations ---- */

/* Three of the same may be set-up; from the fourth on it is a loop. */
#define GMT_CHURN_MIN_PAIRS 4
/* The alignment that cudaMalloc guarantees, and the sector below which accesses split. */
#define GMT_ALLOCATION_ALIGNMENT 256
#define GMT_SECTOR_BYTES 32
/* One warp access of 4-byte words: what is smaller is a scalar, not an array. */
#define GMT_ARRAY_MIN_BYTES 128
/* What shared memory serves in one pass: 32 banks of 4 bytes. */
#define GMT_WAVEFRONT_BYTES 128

/* ---- kernels ---- */

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
/* Family variants whose sectors per ideal sector are this close count as the same pattern. */
#define GMT_FAMILY_MATCH 1.15
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
/* Error of a predicted kernel time, in points of run time: on top of the measured spread. */
#define GMT_MODEL_UNCERTAINTY 0.05
/* At this share of the roof that the calibration reached, nothing is left to gain. */
#define GMT_AT_ROOF 0.90
/* More occupancy has to promise this factor in bandwidth before it is worth a word. */
#define GMT_OCCUPANCY_MIN_GAIN 1.10
/* A kernel that moves less than this share of what its occupancy allows waits for other things. */
#define GMT_MEMORY_BOUND_SHARE 0.25
/* Local accesses below this share of all memory instructions do not decide anything. */
#define GMT_LOCAL_MIN_SHARE 0.05

#endif
