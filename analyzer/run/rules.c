/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of rules. A new rule is a file in rules/, a row here, a test and two fixtures. */
#include "analyzer/run/rules.h"

#include <string.h>
#include <strings.h>

#include "libtrace/base/nearest.h"

/* X(symbol): declared, then listed. */
#define GMT_RULES(X) \
    X(gmt_rule_small_transfers) \
    X(gmt_rule_pageable_transfer) \
    X(gmt_rule_pageable_async) \
    X(gmt_rule_row_by_row_copy) \
    X(gmt_rule_redundant_transfer) \
    X(gmt_rule_round_trip) \
    X(gmt_rule_unused_transfer) \
    X(gmt_rule_unoverlapped_transfer) \
    X(gmt_rule_scalar_readback) \
    X(gmt_rule_host_staged_peer_copy) \
    X(gmt_rule_mapped_candidate) \
    X(gmt_rule_mapped_misuse) \
    X(gmt_rule_managed_thrash) \
    X(gmt_rule_host_step) \
    X(gmt_rule_pitch_ignored) \
    X(gmt_rule_redundant_download) \
    X(gmt_rule_needless_wait) \
    X(gmt_rule_allocation_churn) \
    X(gmt_rule_misaligned_suballocation) \
    X(gmt_rule_unpitched_2d) \
    X(gmt_rule_leak) \
    X(gmt_rule_unused_allocation) \
    X(gmt_rule_early_alloc_late_free) \
    X(gmt_rule_pin_churn) \
    X(gmt_rule_over_pinned) \
    X(gmt_rule_strided_access) \
    X(gmt_rule_transposed_mapping) \
    X(gmt_rule_misaligned_access) \
    X(gmt_rule_aos_access) \
    X(gmt_rule_unsuitable_type) \
    X(gmt_rule_local_memory) \
    X(gmt_rule_divergent_constant) \
    X(gmt_rule_re_read) \
    X(gmt_rule_cache_resident_irregular) \
    X(gmt_rule_uncoalesced_store) \
    X(gmt_rule_bank_conflict) \
    X(gmt_rule_serialized_fill) \
    X(gmt_rule_staged_but_unread) \
    X(gmt_rule_shared_limits_occupancy) \
    X(gmt_rule_bulk_copy_misuse) \
    X(gmt_rule_low_occupancy) \
    X(gmt_rule_block_barrier_idle) \
    X(gmt_rule_partial_warp_block) \
    X(gmt_rule_register_cliff) \
    X(gmt_rule_small_grid_tail) \
    X(gmt_rule_serial_small_kernels) \
    X(gmt_rule_launch_bound) \
    X(gmt_rule_split_kernels) \
    X(gmt_rule_serial_kernel) \
    X(gmt_rule_low_ilp) \
    X(gmt_rule_host_bound)

/* Of a slug: "pin" is in several that have nothing in common. */
enum { SHORTEST_PART = 4 };

#define GMT_ROW(symbol) extern const struct gmt_rule symbol;
GMT_RULES(GMT_ROW)
#undef GMT_ROW

const struct gmt_rule *const gmt_rules[] = {
#define GMT_ROW(symbol) &symbol,
    GMT_RULES(GMT_ROW)
#undef GMT_ROW
};

const size_t gmt_rule_count = sizeof(gmt_rules) / sizeof(gmt_rules[0]);

const struct gmt_rule *gmt_rule_find(const char *id_or_slug)
{
    for (size_t i = 0; i < gmt_rule_count; i++) {
        if (strcasecmp(gmt_rules[i]->id, id_or_slug) == 0 ||
            strcasecmp(gmt_rules[i]->slug, id_or_slug) == 0) {
            return gmt_rules[i];
        }
    }
    return NULL;
}

size_t gmt_rules_near(const char *word, const char **near, size_t most)
{
    const char *slugs[sizeof(gmt_rules) / sizeof(gmt_rules[0])];
    size_t n = 0;

    for (size_t i = 0; i < gmt_rule_count; i++) {
        slugs[i] = gmt_rules[i]->slug;
    }
    near[0] = gmt_nearest(word, slugs, gmt_rule_count);
    if (near[0] != NULL) {
        return 1;
    }
    for (size_t i = 0; i < gmt_rule_count && strlen(word) >= SHORTEST_PART; i++) {
        if (strcasestr(slugs[i], word) == NULL) {
            continue;
        }
        if (n == most) {
            return 0; /* too many to be a hint */
        }
        near[n++] = slugs[i];
    }
    return n;
}
