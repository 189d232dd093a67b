/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much time the process may spend on fingerprints: a share of the time that has passed.
 *
 * All threads draw on one budget, so that the share holds for the wall time however many of them copy.
 * Each hash is measured where it is made, and charged with what the measurement does not see. One is made
 * only if, by the speed of those before it, the budget covers it; when it does not, the budget rests until
 * it covers a series of them: the rules compare copies that follow one another, and one hash in ten would
 * be of no use to them.
 *
 * Time without copies does not pile up: what is saved beyond a series is given up. A program that computes
 * for a minute and then copies for a second keeps the share in that second, too, but for the series.
 *
 * Times are clock ticks of at most 1 ns. Any thread may call anything.
 */
#ifndef GMT_PRELOAD_FINGERPRINT_HASH_BUDGET_H
#define GMT_PRELOAD_FINGERPRINT_HASH_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gmt_hash_budget {
    double share; /* of the time since `began`; 1 or more: no limit */
    uint64_t began;
    _Atomic uint64_t spent;     /* and reserved */
    _Atomic uint64_t forgone;   /* saved up beyond a series, and given up */
    _Atomic uint64_t resume_at; /* credit from which hashing goes on; 0: it is going on */
    _Atomic uint64_t
        wake_at; /* the time when there will be that credit: until then all is refused */
    _Atomic uint64_t largest_bytes; /* that were ever asked for: credit for them may be saved up */
    _Atomic uint64_t ticks_per_kib; /* of the hashes so far, with their fixed cost spread in */
};

/* Ticks per KiB before anything was measured: 1 GiB/s at 4 ticks per ns. */
#define GMT_HASH_FIRST_TICKS_PER_KIB UINT64_C(4096)
/* A rest ends at half of what was spent before it, so that short runs come to a second series too, but
 * at this many KiB of hashing at the latest. */
#define GMT_HASH_SERIES_KIB UINT64_C(65536)
/* Before anything was spent, this many KiB may be saved up: what a program does before its first copy takes
 * longer than many programs copy. */
#define GMT_HASH_SAVED_KIB UINT64_C(2048)
/*
 * What a hash costs beside the time that it takes. Its memory comes into the cache, and the program's own
 * leaves it: in loops of copies with a working set of 4 KiB to 1 MiB, with and without hashing, the run
 * grew by 0.98 to 1.15 times the measured time of the hashes (quarters of 41 rounds, copies of 4 KiB to 1
 * MiB); on an H200, uploads of 16 MiB charged with an eighth made a budget of 3 % into 3.2 %, which is 1.2
 * times. A third is that with room for what differs from one machine to the next. Asking, settling and one
 * more slot in the record took 23 ns of those of 64 bytes.
 */
#define GMT_HASH_UNSEEN_PART 3u /* of the measured ticks: one of so many */
#define GMT_HASH_UNSEEN_TICKS UINT64_C(100)
/* What takes so much longer than four times of what was expected was a stop of the process, not work. */
#define GMT_HASH_STOPPED_TICKS UINT64_C(20000000)

void gmt_hash_budget_begin(struct gmt_hash_budget *budget, double share, uint64_t now);
/* May `bytes` be hashed now? True: their expected cost is taken from the budget, in *reserved, so that
 * threads which ask at the same time do not spend the same credit; gmt_hash_budget_settle must follow. */
bool gmt_hash_budget_reserve(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t now,
                             uint64_t *reserved);
/* It took `ticks` to hash `bytes`; 0: they were not hashed after all. */
void gmt_hash_budget_settle(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t reserved,
                            uint64_t ticks);

#endif
