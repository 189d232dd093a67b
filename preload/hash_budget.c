/* SPDX-License-Identifier: Apache-2.0 */
/* The governor of fingerprints. */
#include "preload/hash_budget.h"

/* A hash costs this much before its first byte: counted as bytes. */
#define FIXED_BYTES 512u

void gmt_hash_budget_begin(struct gmt_hash_budget *budget, double share, uint64_t now)
{
    budget->share = share;
    budget->began = now;
    atomic_store(&budget->spent, 0);
    atomic_store(&budget->resume_at, 0);
    atomic_store(&budget->ticks_per_kib, GMT_HASH_FIRST_TICKS_PER_KIB);
}

static double cost_of(const struct gmt_hash_budget *budget, uint64_t bytes)
{
    uint64_t speed = atomic_load_explicit(&budget->ticks_per_kib, memory_order_relaxed);
    return (double)(bytes + FIXED_BYTES) / 1024 * (double)speed;
}

/* The credit does not do: rest until it covers a series. */
static void rest(struct gmt_hash_budget *budget, uint64_t spent)
{
    uint64_t series = (uint64_t)cost_of(budget, GMT_HASH_SERIES_KIB * 1024);
    if (spent != 0 && atomic_load_explicit(&budget->resume_at, memory_order_relaxed) == 0) {
        atomic_store_explicit(&budget->resume_at, spent / 2 < series ? spent / 2 : series,
                              memory_order_relaxed);
    }
}

bool gmt_hash_budget_reserve(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t now,
                             uint64_t *reserved)
{
    double cost = cost_of(budget, bytes);
    double allowed = now > budget->began ? budget->share * (double)(now - budget->began) : 0;
    uint64_t spent = atomic_load_explicit(&budget->spent, memory_order_relaxed);
    *reserved = 0;
    if (budget->share >= 1) {
        return true;
    }
    do {
        uint64_t resume_at = atomic_load_explicit(&budget->resume_at, memory_order_relaxed);
        double credit = allowed - (double)spent;
        if (!(credit >= cost && credit >= (double)resume_at)) {
            rest(budget, spent);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->spent, &spent, spent + (uint64_t)cost,
                                                    memory_order_relaxed, memory_order_relaxed));
    atomic_store_explicit(&budget->resume_at, 0, memory_order_relaxed);
    *reserved = (uint64_t)cost;
    return true;
}

void gmt_hash_budget_settle(struct gmt_hash_budget *budget, uint64_t bytes, uint64_t reserved,
                            uint64_t ticks)
{
    atomic_fetch_add_explicit(&budget->spent, ticks - reserved, memory_order_relaxed);
    if (bytes == 0) {
        return;
    }
    /* Racing threads may lose one of two measurements: either is as good as the other. A thread that
     * was not running meanwhile must not stop hashing for good, hence the limit. */
    uint64_t seen = ticks * 1024 / (bytes + FIXED_BYTES);
    uint64_t before = atomic_load_explicit(&budget->ticks_per_kib, memory_order_relaxed);
    uint64_t most = 2 * before + 1;
    atomic_store_explicit(&budget->ticks_per_kib, (7 * before + (seen < most ? seen : most)) / 8,
                          memory_order_relaxed);
}
