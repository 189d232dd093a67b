/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the frames of a trace: function, file and line, with libdw.
 *
 * Done where the program ran and when it ended, because only there the program's files are sure to
 * be at hand: the trace can then be analysed on any machine. Modules whose file is gone or has
 * another build id are left without names. Nothing is fetched from the network.
 */
#ifndef GMT_STORE_SYMBOLIZE_H
#define GMT_STORE_SYMBOLIZE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define GMT_SYMBOLIZE_BUDGET_NS UINT64_C(5000000000)

/* Fill in function_id, file_id, line and runtime of all frames whose module is known. Frames not
 * reached within `budget_ns` become a loss row. The caller owns the transaction. Returns 0 or the
 * negative errno of the database. */
int gmt_symbolize_run(sqlite3 *db, uint64_t budget_ns);

/* True when a frame of `symbol` (mangled) in the file `path` belongs to the CUDA runtime, the driver
 * or gmtrace: not to the user's code. */
bool gmt_symbol_is_runtime(const char *path, const char *symbol);

#endif
