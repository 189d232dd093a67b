/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of inline chains, and those of the software device's instructions. */
#include "libtrace/store/ingest/inlining.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libtrace/store/db/database.h"

uint64_t gmt_chain_add(uint64_t chain, const struct gmt_inline_level_key *level)
{
    const char *function = level->function != NULL ? level->function : "";
    const char *file = level->file != NULL ? level->file : "";
    const uint64_t numbers[] = {chain, level->line, (uint64_t)(int64_t)level->level};
    chain = XXH3_64bits_withSeed(function, level->function_bytes,
                                 XXH3_64bits(numbers, sizeof(numbers)));
    return XXH3_64bits_withSeed(file, level->file_bytes, chain);
}

int64_t gmt_chain_id(uint64_t chain)
{
    return (int64_t)(chain >> 1);
}

int gmt_inlining_settle(sqlite3 *db)
{
    return gmt_database_exec(
        db, "UPDATE instruction SET chain_id = (SELECT n.chain_id FROM ingest_inlining n WHERE "
            "n.class_id = instruction.class_id AND n.site = instruction.site) "
            "WHERE source = 'simulated' AND EXISTS (SELECT 1 FROM ingest_inlining)");
}
