/* SPDX-License-Identifier: Apache-2.0 */
/* The governor of fingerprints. */
#include "preload/fingerprint/hash_budget.h"

/* A hash costs this much before its first byte: counted as bytes. */
#define FIXED_BYTES 512u

#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

void gmt_hash_budget_begin(struct gmt_hash_budget *budget, double share, uint64_t now)
{
    budget->share = share;
    budget->began = now;
    SET(budget->spent, 0);
    SET(budget->forgone, 0);
    SET(budget->resume_at, 0);
    SET(budget->wake_at, 0);
    SET(budget->largest_bytes, 0);
    SET(budget->ticks_per_kib, GMT_HASH_FIRST_TICKS_PER_KIB);
}

static double cost_of(const struct gmt_hash_budget *budget, uint64_t bytes)
{
    return ((double)bytes + FIXED_BYTES) / 1024 * (double)GET(budget->ticks_per_kib);
}

/* What a rest ends with: half of what was spent, a series at most. */
static double series_of(const struct gmt_hash_budget *budget, uint64_t spent)
{
    double series = cost_of(budget, GMT_HASH_SERIES_KIB * 1024), half = (double)spent / 2;
    return half < series ? half : series;
}

/* The most that may be saved up. */
static double ceiling_of(struct gmt_hash_budget *budget, uint64_t spent, uint64_t bytes)
{
    if (bytes > GET(budget->largest_bytes)) {
        SET(budget->largest_bytes, bytes);
    }
    double most = series_of(budget, spent);
    double first = cost_of(budget, GMT_HASH_SAVED_KIB * 1024);
    double largest = cost_of(budget, GET(budget->largest_bytes));
    most = most > first ? most : first;
    return most > largest ? most : largest;
}

/* What there is to spend. Of threads that give up the same surplus one does; none spends it. */
static double credit_of(struct gmt_hash_budget *budget, double earned, uint64_t spent, double most)
{
    uint64_t forgone = GET(budget->forgone);
    double credit = earned - (double)spent - (double)forgone;
    if (credit > most) {
        (void)atomic_compare_exchange_strong_explicit(&budget->forgone, &forgone,
                                                      forgone + (uint64_t)(credit - most),
                                                      memory_order_relaxed, memory_order_relaxed);
        credit = most;
    }
    return credit;
}

/* The credit does not do: rest until it covers a series. */
static void rest(struct gmt_hash_budget *budget, uint64_t spent)
{
    uint64_t resume_at = GET(budget->resume_at);
    if (resume_at == 0) {
        resume_at = (uint64_t)series_of(budget, spent);
        SET(budget->resume_at, resume_at);
    }
    if (resume_at != 0) {
        double needed = (double)resume_at + (double)spent + (double)GET(budget->forgone);
        SET(budget->wake_at, budget->began + (uint64_t)(needed / budget->share));
    }
}

bool gmt_hash_budget_reserve(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t now,
                             uint64_t *reserved)
{
    *reserved = 0;
    if (budget->share >= 1) {
        return true;
    }
    if (now < GET(budget->wake_at) || now <= budget->began || !(budget->share > 0)) {
        return false;
    }
    double cost = cost_of(budget, bytes), earned = budget->share * (double)(now - budget->began);
    uint64_t spent = GET(budget->spent);
    do {
        double most = ceiling_of(budget, spent, bytes);
        double credit = credit_of(budget, earned, spent, most);
        double resume_at = (double)GET(budget->resume_at); /* when more had been spent, perhaps */
        if (!(credit >= cost && credit >= (resume_at < most ? resume_at : most))) {
            rest(budget, spent);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->spent, &spent, spent + (uint64_t)cost,
                                                    memory_order_relaxed, memory_order_relaxed));
    SET(budget->resume_at, 0);
    SET(budget->wake_at, 0);
    *reserved = (uint64_t)cost;
    return true;
}

void gmt_hash_budget_settle(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t reserved,
                            uint64_t ticks)
{
    uint64_t charged = ticks + ticks / GMT_HASH_UNSEEN_PART + GMT_HASH_UNSEEN_TICKS;
    uint64_t limit = 4 * reserved + GMT_HASH_STOPPED_TICKS;
    charged = charged < limit ? charged : limit;
    atomic_fetch_add_explicit(&budget->spent, charged - reserved, memory_order_relaxed);
    if (bytes == 0) {
        return;
    }
    /* Racing threads may lose one of two measurements: either is as good as the other. A thread that
     * was not running meanwhile must not stop hashing for good, hence the limit. The first guess is far too
     * slow, and soon left behind. */
    uint64_t seen = charged * 1024 / (bytes + FIXED_BYTES), before = GET(budget->ticks_per_kib);
    uint64_t most = 2 * before + 1, weight = before > 2 * seen ? 1 : 7;
    SET(budget->ticks_per_kib, (weight * before + (seen < most ? seen : most)) / (weight + 1));
}
