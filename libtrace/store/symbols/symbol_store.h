/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what is known of frames into the trace: names, lines, and the functions inlined there. */
#ifndef GMT_STORE_SYMBOLS_SYMBOL_STORE_H
#define GMT_STORE_SYMBOLS_SYMBOL_STORE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/db/intern.h"
#include "libtrace/store/symbols/debug_files.h"
#include "libtrace/store/symbols/source_lines.h"

/* frame.runtime */
enum gmt_frame_owner { GMT_FRAME_USER, GMT_FRAME_CUDA, GMT_FRAME_INTERPRETER };

/* A frame, and the `inlined` rows of what was inlined into it: ids last, last - 1, ... from the
 * innermost out. */
struct gmt_expansion {
    int64_t frame, last;
    size_t inlined;
};

struct gmt_symbol_store {
    sqlite3 *db;
    sqlite3_stmt *add_string, *find_string, *is_kernel, *update, *add, *loss, *module;
    struct gmt_intern texts;   /* -> string.id                              */
    struct gmt_intern symbols; /* -> string.id << 1 | is the name of a kernel */
    struct gmt_expansion *expansions;
    size_t expansion_count, expansion_room;
};

/* A frame that is to get its names. */
struct gmt_unnamed_frame {
    int64_t id, address;
    bool has_function, has_line;
};

/* All return 0 or negative errno. After a failed open, close is still to be called. */
int gmt_symbol_store_open(struct gmt_symbol_store *store, sqlite3 *db);
void gmt_symbol_store_close(struct gmt_symbol_store *store);

/* What `frames` says of `frame`, whose code lies in the file `path`. */
int gmt_symbol_store_put(struct gmt_symbol_store *store, const struct gmt_unnamed_frame *frame,
                         const char *path, const struct gmt_source_frame *frames, size_t count);

/* module.symbols */
int gmt_symbol_store_module(struct gmt_symbol_store *store, int64_t module, const char *state);
int gmt_symbol_store_loss(struct gmt_symbol_store *store, const char *kind, const char *detail,
                          uint64_t count);

/* Name what lies in no module by the maps of those that made it. */
int gmt_symbol_store_made(struct gmt_symbol_store *store);

/* The folders that the recording's option debug_dir names; the caller frees them. */
int gmt_symbol_dirs_read(sqlite3 *db, struct gmt_debug_dirs *dirs);
void gmt_symbol_dirs_free(struct gmt_debug_dirs *dirs);

/* Put what was inlined into the stacks: once, when all frames are stored. */
int gmt_symbol_store_expand(struct gmt_symbol_store *store);

#endif
