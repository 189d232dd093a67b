/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves frames with libdwfl, one module at a time. */
#include "libtrace/store/symbols/symbolize.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libtrace/record/clock.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/symbols/source_lines.h"
#include "libtrace/store/symbols/symbol_store.h"

struct symbolizer {
    sqlite3 *db;
    struct gmt_symbol_store store;
    const struct gmt_debug_dirs *dirs;
    sqlite3_stmt *frames; /* of a module that lack something                                    */
    uint64_t until_ns;
    uint64_t skipped; /* frames not reached in time                                             */
};

struct symbol_module {
    int64_t id;
    const char *path, *build_id;
    uint64_t load_bias;
};

/* ---- the file of a module --------------------------------------------------------------------- */

/* The symbols that any executable or library keeps, for the loader. */
static size_t count_dynamic(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (elf != NULL && (section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_DYNSYM &&
            header.sh_entsize != 0) {
            return (size_t)(header.sh_size / header.sh_entsize);
        }
    }
    return 0;
}

/* module.symbols */
static const char *state_of(Dwfl_Module *module)
{
    GElf_Addr bias;
    if (dwfl_module_getdwarf(module, &bias) != NULL) {
        return "lines";
    }
    int symbols = dwfl_module_getsymtab(module);
    size_t dynamic = count_dynamic(dwfl_module_getelf(module, &bias));
    return symbols > 0 && (size_t)symbols > dynamic ? "functions" : "stripped";
}

/* Paths come from the trace: opening a pipe would wait for its writer, and a device do whatever it does. */
static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static Dwfl_Module *report(Dwfl *dwfl, const struct symbol_module *module, const char *file,
                           const struct gmt_debug_dirs *dirs)
{
    void **userdata;
    dwfl_report_begin(dwfl);
    Dwfl_Module *found = is_regular(file) ? dwfl_report_elf(dwfl, module->path, file, -1,
                                                            module->load_bias, true)
                                          : NULL;
    (void)dwfl_report_end(dwfl, NULL, NULL);
    if (found != NULL &&
        dwfl_module_info(found, &userdata, NULL, NULL, NULL, NULL, NULL, NULL) != NULL) {
        *userdata = (void *)(uintptr_t)dirs;
    }
    return found;
}

/* The file that was mapped, else one of the same build elsewhere; NULL and *state says why not. */
static Dwfl_Module *open_module(struct symbolizer *symbolizer, Dwfl *dwfl,
                                const struct symbol_module *module, const char **state)
{
    Dwfl_Module *found = report(dwfl, module, module->path, symbolizer->dirs);
    *state = found != NULL ? "changed" : "missing";
    if (found != NULL && gmt_debug_files_match(found, module->build_id)) {
        return found;
    }
    char *other = gmt_debug_files_main(symbolizer->dirs, module->path, module->build_id);
    found = other != NULL ? report(dwfl, module, other, symbolizer->dirs) : NULL;
    free(other);
    return found;
}

/* ---- its frames ------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct gmt_unnamed_frame *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

/* Frames in the order of addresses, in which units of the source lie together. */
static int read_frames(struct symbolizer *symbolizer, int64_t module,
                       struct gmt_unnamed_frame **frames, size_t *count)
{
    int code;
    size_t room = 0;
    *frames = NULL;
    *count = 0;
    sqlite3_reset(symbolizer->frames);
    sqlite3_bind_int64(symbolizer->frames, 1, module);
    while ((code = sqlite3_step(symbolizer->frames)) == SQLITE_ROW) {
        if (*count == room) {
            room = room != 0 ? 2 * room : 256;
            struct gmt_unnamed_frame *grown = realloc(*frames, room * sizeof(*grown));
            if (grown == NULL) {
                return -ENOMEM;
            }
            *frames = grown;
        }
        struct gmt_unnamed_frame *frame = &(*frames)[(*count)++];
        *frame = (struct gmt_unnamed_frame){
            .has_function = sqlite3_column_int(symbolizer->frames, 2) != 0,
            .has_line = sqlite3_column_int(symbolizer->frames, 3) != 0};
        if (!gmt_value_integer(symbolizer->frames, 0, &frame->id) ||
            !gmt_value_integer(symbolizer->frames, 1, &frame->address)) {
            return -EBADMSG;
        }
    }
    sqlite3_reset(symbolizer->frames);
    if (*count > 1) {
        qsort(*frames, *count, sizeof(**frames), by_address);
    }
    return code == SQLITE_DONE ? 0 : gmt_database_error(symbolizer->db);
}

/* `source` may be NULL: then frames get what follows from their module's name. */
static int resolve_frames(struct symbolizer *symbolizer, const struct symbol_module *module,
                          struct gmt_source *source, const char **state)
{
    struct gmt_unnamed_frame *frames;
    size_t count;
    int error = read_frames(symbolizer, module->id, &frames, &count);
    for (size_t i = 0; error == 0 && i < count; i++) {
        struct gmt_source_frame found[GMT_SOURCE_DEPTH] = {{0}};
        size_t levels = 1;
        if (gmt_clock_monotonic_ns() >= symbolizer->until_ns) {
            symbolizer->skipped++;
            *state = "late";
        } else if (source != NULL) {
            /* The return address can be the first byte of the next line, or function. */
            levels = gmt_source_frames(source, (GElf_Addr)frames[i].address - 1, found);
        }
        error = gmt_symbol_store_put(&symbolizer->store, &frames[i], module->path, found, levels);
    }
    free(frames);
    return error;
}

static int note_module(struct symbolizer *symbolizer, const struct symbol_module *module,
                       const struct gmt_source *source, const char *state)
{
    struct gmt_symbol_store *store = &symbolizer->store;
    int error = gmt_symbol_store_module(store, module->id, state);
    if (error == 0 && strcmp(state, "changed") == 0) {
        error = gmt_symbol_store_loss(store, "module changed since", module->path, 1);
    }
    size_t units = source != NULL ? gmt_source_units_without_split(source) : 0;
    if (error == 0 && units != 0) {
        error = gmt_symbol_store_loss(store, "split debug information not read", module->path,
                                      units);
    }
    return error;
}

/* All frames of one module. Its file may be gone: they still get their runtime flag. */
static int resolve_module(struct symbolizer *symbolizer, const struct symbol_module *module)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = gmt_debug_files_find,
        .section_address = dwfl_offline_section_address,
    };
    const char *state = "late";
    Dwfl_Module *file = NULL;
    /* What is no file is the kernel's, "linux-vdso.so.1", and has no names that matter. */
    Dwfl *dwfl = module->path[0] == '/' ? dwfl_begin(&callbacks) : NULL;
    if (dwfl != NULL && gmt_clock_monotonic_ns() < symbolizer->until_ns) {
        file = open_module(symbolizer, dwfl, module, &state);
    }
    struct gmt_source *source = file != NULL ? gmt_source_open(file) : NULL;
    if (source != NULL) {
        state = state_of(file);
    }
    int error = resolve_frames(symbolizer, module, source, &state);
    if (error == 0 && module->path[0] == '/') {
        error = note_module(symbolizer, module, source, state);
    }
    gmt_source_close(source);
    if (dwfl != NULL) {
        dwfl_end(dwfl);
    }
    return error;
}

/* ---- all modules ------------------------------------------------------------------------------ */

/* Its texts are those of the row. */
static int read_module(sqlite3_stmt *row, struct symbol_module *module)
{
    int64_t load_bias = 0;
    *module = (struct symbol_module){0};
    if (!gmt_value_integer(row, 0, &module->id) || !gmt_value_text(row, 1, &module->path) ||
        !gmt_value_text(row, 2, &module->build_id) || !gmt_value_integer(row, 3, &load_bias)) {
        return -EBADMSG;
    }
    module->load_bias = (uint64_t)load_bias;
    if (module->path == NULL) {
        gmt_guard_note_value(row, 1, "is missing");
        return -EBADMSG;
    }
    return 0;
}

static int resolve_all(struct symbolizer *symbolizer)
{
    sqlite3_stmt *modules;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(symbolizer->db,
                           "SELECT id, path, build_id, load_bias FROM module "
                           "WHERE id IN (SELECT module_id FROM frame WHERE file_id IS NULL) "
                           "ORDER BY id",
                           -1, &modules, NULL) != SQLITE_OK) {
        return gmt_database_error(symbolizer->db);
    }
    while (error == 0 && (code = sqlite3_step(modules)) == SQLITE_ROW) {
        struct symbol_module module;
        error = read_module(modules, &module);
        if (error == 0) {
            error = resolve_module(symbolizer, &module);
        }
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(symbolizer->db);
    }
    sqlite3_finalize(modules);
    if (error == 0 && symbolizer->skipped > 0) {
        error = gmt_symbol_store_loss(&symbolizer->store, "frame not symbolized", "time limit",
                                      symbolizer->skipped);
    }
    return error;
}

static int symbolize(sqlite3 *db, const struct gmt_debug_dirs *dirs, uint64_t until_ns,
                     bool is_recorder)
{
    struct symbolizer symbolizer = {.db = db, .dirs = dirs, .until_ns = until_ns};
    /* libdwfl would ask a debuginfo server: a recorder does not talk to the network. */
    (void)unsetenv("DEBUGINFOD_URLS");
    int error = gmt_symbol_store_open(&symbolizer.store, db);
    if (error == 0 &&
        sqlite3_prepare_v2(db,
                           "SELECT id, address, function_id IS NOT NULL, file_id IS NOT NULL "
                           "FROM frame WHERE module_id = ? AND inlined_into IS NULL "
                           "AND file_id IS NULL",
                           -1, &symbolizer.frames, NULL) != SQLITE_OK) {
        error = gmt_database_error(db);
    }
    /* What is said of the files of today takes the place of what was said of those of that day. */
    if (error == 0) {
        error = gmt_database_exec(db, "DELETE FROM loss WHERE kind IN ('module changed since', "
                                      "'frame not symbolized', "
                                      "'split debug information not read')");
    }
    /* Elsewhere, or later, a map of that number would be another process's. */
    if (error == 0 && is_recorder) {
        error = gmt_symbol_store_made(&symbolizer.store);
    }
    if (error == 0 && (error = resolve_all(&symbolizer)) == 0) {
        error = gmt_symbol_store_expand(&symbolizer.store);
    }
    sqlite3_finalize(symbolizer.frames);
    gmt_symbol_store_close(&symbolizer.store);
    return error;
}

int gmt_symbolize_run(sqlite3 *db, uint64_t budget_ns)
{
    struct gmt_debug_dirs dirs;
    uint64_t until_ns = gmt_clock_monotonic_ns() + budget_ns;
    int error = gmt_symbol_dirs_read(db, &dirs);
    if (error == 0) {
        error = symbolize(db, &dirs, until_ns, true);
    }
    gmt_symbol_dirs_free(&dirs);
    return error;
}

int gmt_symbolize_again(sqlite3 *db, const struct gmt_debug_dirs *dirs)
{
    return symbolize(db, dirs, UINT64_MAX, false);
}
