/* SPDX-License-Identifier: Apache-2.0 */
/* What a call and its device operation must have in common, as hashes. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libtrace/store/ingest/join_internal.h"

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    return XXH3_64bits(words, count * sizeof(*words));
}

struct gmt_join_signature gmt_join_copy_signature(uint64_t bytes, enum gmt_join_way way)
{
    return (struct gmt_join_signature){
        .exact = hash_words((const uint64_t[]){GMT_JOIN_COPY, bytes, way, 1}, 4),
        .loose = hash_words((const uint64_t[]){GMT_JOIN_COPY, bytes}, 2),
    };
}

struct gmt_join_signature gmt_join_within_devices(uint64_t bytes)
{
    return gmt_join_copy_signature(bytes, GMT_JOIN_WAY_OTHER);
}

struct gmt_join_signature gmt_join_simple_signature(enum gmt_join_kind kind, uint64_t bytes)
{
    uint64_t hash = hash_words((const uint64_t[]){kind, bytes, 0}, 3);
    return (struct gmt_join_signature){hash, hash};
}

struct gmt_join_signature gmt_join_kernel_signature(sqlite3_stmt *row, int first)
{
    uint64_t words[8] = {GMT_JOIN_KERNEL};
    const void *name = sqlite3_column_text(row, first + 6);
    for (int i = 0; i < 6; i++) {
        words[i + 1] = (uint64_t)sqlite3_column_int64(row, first + i);
    }
    struct gmt_join_signature signature = {.loose = hash_words(words, 7)};
    words[7] = name != NULL ? XXH3_64bits(name, (size_t)sqlite3_column_bytes(row, first + 6)) : 0;
    signature.exact = hash_words(words, 8);
    return signature;
}
