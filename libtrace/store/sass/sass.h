/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that were counted on the GPU: what they are and where they stand. */
#ifndef GMT_STORE_SASS_SASS_H
#define GMT_STORE_SASS_SASS_H

#include <sqlite3.h>

/* Gets the cubins (cubin_images.h; `folder` is the spool's, open, -1: there is none), and gives instructions
 * of source 'sass' their opcode, kind and source line. A cubin that is not whole, or says nothing, is a row of
 * `loss`. Once, inside a transaction. 0 or negative errno. */
int gmt_sass_settle(sqlite3 *db, int folder);

/* Of classes that have counts of instructions but none of the software-patched group: that group's counters,
 * as sums over the instructions of each launch. Once, inside a transaction, after gmt_sass_settle. 0 or
 * negative errno. */
int gmt_sass_counters(sqlite3 *db);

#endif
