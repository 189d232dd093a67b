/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inline chains: the lines that an instruction stands for (table inline_level).
 *
 * A chain's number is made of its levels, so that nobody has to look for one that is there already, and
 * that of one chain is the same in two traces.
 */
#ifndef GMT_STORE_INGEST_INLINING_H
#define GMT_STORE_INGEST_INLINING_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_inline_level_key {
    const char *function, *file; /* not NUL-terminated */
    size_t function_bytes, file_bytes;
    uint32_t line;
    int32_t level;
};

/* The number of a chain whose levels are added one by one: begin with 0, and end with gmt_chain_id. */
uint64_t gmt_chain_add(uint64_t chain, const struct gmt_inline_level_key *level);
int64_t gmt_chain_id(uint64_t chain);

/* Give the instructions that the software device counted their chain (ingest_inlining). Once,
 * inside a transaction. 0 or negative errno. */
int gmt_inlining_settle(sqlite3 *db);

#endif
