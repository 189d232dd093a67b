/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that were counted on the GPU: what they are and where they stand, and a second run. */
#ifndef GMT_STORE_SASS_H
#define GMT_STORE_SASS_H

#include <sqlite3.h>

/* Puts the cubins together, and gives instructions of source 'sass' their opcode, kind and source line.
 * A cubin that is not whole, or tells nothing, is a row of `loss`. Once, inside a transaction. 0 or
 * negative errno. */
int gmt_sass_settle(sqlite3 *db);

#endif
