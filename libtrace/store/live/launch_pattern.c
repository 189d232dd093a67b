/* SPDX-License-Identifier: Apache-2.0 */
/* Learns which launch begins a step, and measures from one to the next. */
#include "libtrace/store/live/launch_pattern.h"

#include <stdlib.h>

#define LEAST_STEPS 8u
#define LOST_DISTANCES 4u /* after so many times its distance the program does something else */

/* How often a key came, where, and how often at its mean distance. */
struct pattern_key {
    uint64_t key; /* 0: none */
    size_t count, first, last, hits;
};

void gmt_launch_pattern_free(struct gmt_launch_pattern *pattern)
{
    free(pattern->keys);
    *pattern = (struct gmt_launch_pattern){0};
}

static struct pattern_key *find(struct pattern_key *table, size_t capacity, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
    while (table[at].key != 0 && table[at].key != key) {
        at = (at + 1) & (capacity - 1);
    }
    return &table[at];
}

/* In launches, of a key that came twice. */
static size_t distance_of(const struct pattern_key *key)
{
    return (key->last - key->first + (key->count - 1) / 2) / (key->count - 1);
}

/* Nine times of ten at the same distance, within an eighth and a launch: programs do something else at times. */
static bool is_regular(const struct pattern_key *key)
{
    return key->count >= LEAST_STEPS && key->hits * 10 >= (key->count - 1) * 9;
}

static void note(struct pattern_key *entry, uint64_t key, size_t at)
{
    entry->first = entry->count == 0 ? at : entry->first;
    entry->key = key;
    entry->last = at;
    entry->count++;
}

/* Once more from the beginning, when the mean is known; `before` is where the key came last. */
static void note_distance(struct pattern_key *entry, size_t *before, size_t at)
{
    if (entry->count > 1 && at != entry->first) {
        size_t mean = distance_of(entry), distance = at - *before, slack = mean / 8 + 1;
        entry->hits += distance + slack >= mean && distance <= mean + slack;
    }
    *before = at;
}

/* The rarest of those that are regular; of several the first in the program's order. */
static void learn(struct gmt_launch_pattern *pattern)
{
    size_t capacity = (size_t)2 * GMT_PATTERN_MOST;
    struct pattern_key *table = calloc(capacity, sizeof(*table));
    size_t *before = calloc(capacity, sizeof(*before));
    const struct pattern_key *best = NULL;
    for (size_t i = 0; table != NULL && before != NULL && i < pattern->count; i++) {
        note(find(table, capacity, pattern->keys[i]), pattern->keys[i], i);
    }
    for (size_t i = 0; table != NULL && before != NULL && i < pattern->count; i++) {
        struct pattern_key *entry = find(table, capacity, pattern->keys[i]);
        note_distance(entry, &before[entry - table], i);
    }
    for (size_t i = 0; table != NULL && before != NULL && i < pattern->count; i++) {
        const struct pattern_key *entry = find(table, capacity, pattern->keys[i]);
        bool is_better = is_regular(entry) &&
                         (best == NULL || distance_of(entry) > distance_of(best));
        best = is_better ? entry : best;
    }
    if (best != NULL) {
        pattern->anchor = best->key;
        pattern->distance = distance_of(best);
        pattern->since_ns = 0;
        pattern->launches = 0;
    }
    free(before);
    free(table);
}

static bool has_room(struct gmt_launch_pattern *pattern)
{
    if (pattern->count == pattern->capacity) {
        size_t capacity = pattern->capacity != 0 ? 2 * pattern->capacity : GMT_PATTERN_LEAST;
        uint64_t *keys = realloc(pattern->keys, capacity * sizeof(*keys));
        if (keys == NULL) {
            return false;
        }
        pattern->keys = keys;
        pattern->capacity = capacity;
    }
    return true;
}

static void forget(struct gmt_launch_pattern *pattern)
{
    free(pattern->keys);
    pattern->keys = NULL;
    pattern->count = pattern->capacity = 0;
}

/* Looked for at 2048 launches, and at each doubling; from the beginning when 16384 show none. */
static void add_to_learn(struct gmt_launch_pattern *pattern, uint64_t key)
{
    if (!has_room(pattern)) {
        return;
    }
    pattern->keys[pattern->count++] = key;
    if (pattern->count < GMT_PATTERN_LEAST || (pattern->count & (pattern->count - 1)) != 0) {
        return;
    }
    learn(pattern);
    if (pattern->anchor != 0 || pattern->count >= GMT_PATTERN_MOST) {
        forget(pattern);
    }
}

bool gmt_launch_pattern_add(struct gmt_launch_pattern *pattern, uint64_t key, uint64_t ns,
                            uint64_t *step_ns)
{
    if (pattern->anchor == 0) {
        add_to_learn(pattern, key);
        return false;
    }
    pattern->launches++;
    if (key != pattern->anchor) {
        if (pattern->launches > LOST_DISTANCES * (pattern->distance + 1)) {
            pattern->anchor = 0;
        }
        return false;
    }
    bool is_step = pattern->since_ns != 0 && ns > pattern->since_ns;
    *step_ns = is_step ? ns - pattern->since_ns : 0;
    pattern->since_ns = ns;
    pattern->launches = 0;
    return is_step;
}
