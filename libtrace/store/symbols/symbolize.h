/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the frames of a trace: functions, files and lines, with libdw, and with the maps that
 * interpreters and just-in-time compilers write.
 *
 * Done where the program ran and when it ended, because only there the program's files are sure to
 * be at hand: the trace can then be analysed on any machine. Modules whose file is gone or has
 * another build id are left without names, which gmt_symbolize_again can add where their files are.
 * Nothing is fetched from the network.
 */
#ifndef GMT_STORE_SYMBOLS_SYMBOLIZE_H
#define GMT_STORE_SYMBOLS_SYMBOLIZE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/symbols/debug_files.h"

#define GMT_SYMBOLIZE_BUDGET_NS UINT64_C(5000000000)

/* Fill in function_id, file_id, line and runtime of all frames that have no name, and store what was
 * inlined there as frames of their own. Folders come from the process's option debug_dir. Frames not
 * reached within `budget_ns` become a loss row. The caller owns the transaction. Returns 0 or the
 * negative errno of the database. */
int gmt_symbolize_run(sqlite3 *db, uint64_t budget_ns);

/* The same for what is missing in a finished trace, with the files in `dirs`, and without a limit of
 * time: frames without a function or a line get them, no other one is touched. The caller owns the
 * transaction. */
int gmt_symbolize_again(sqlite3 *db, const struct gmt_debug_dirs *dirs);

/* True when a frame of `symbol` (mangled) in the file `path` belongs to the CUDA runtime, the driver
 * or gmtrace: not to the user's code. */
bool gmt_symbol_is_runtime(const char *path, const char *symbol);

/* True when the source file `file` is a header of the CUDA toolkit, of Thrust or CUB (wherever they lie), or
 * of the C++ library: its templates call for the user, whose code is further out. */
bool gmt_symbol_is_library_header(const char *file);

/* True when the file `path` is an interpreter's: its functions run the user's code, and are none. */
bool gmt_symbol_is_interpreter(const char *path);

#endif
