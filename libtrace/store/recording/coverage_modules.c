/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver functions the modules of the process import, and where each has its CUDA runtime from. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/base_name.h"
#include "libtrace/record/entry_points.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/recording/coverage.h"
#include "libtrace/store/symbols/elf_cuda.h"

/* What table coverage calls them. */
static const char *const runtime_names[] = {
#define GMT_CUDA_RUNTIME(id, name) name,
    GMT_CUDA_RUNTIMES
#undef GMT_CUDA_RUNTIME
};

struct mapped_module {
    const char *path, *build_id;
    const char *needed; /* the shared runtime that it names, NULL: none */
    const char *why;    /* it could not be looked at, NULL: it was      */
    enum gmt_cuda_runtime runtime;
    unsigned imports; /* of the driver */
};

struct check {
    sqlite3 *db;
    sqlite3_stmt *is_hooked, *runtime, *entry, *loaded_runtime;
    unsigned modules, imports; /* that import of the driver; names    */
};

static int run(sqlite3 *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : gmt_database_error(db);
}

static bool is_hooked(struct check *check, const char *name)
{
    sqlite3_bind_text(check->is_hooked, 1, name, -1, SQLITE_STATIC);
    bool hooked = sqlite3_step(check->is_hooked) == SQLITE_ROW;
    sqlite3_reset(check->is_hooked);
    return hooked;
}

/* The driver's own code is reached through the linkage of this module: its calls are not counted. */
static int add_entry(struct check *check, const struct mapped_module *module, const char *name)
{
    enum gmt_entry_class class = gmt_entry_class(name);
    sqlite3_bind_text(check->entry, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(check->entry, 2, gmt_entry_class_name(class), -1, SQLITE_STATIC);
    sqlite3_bind_text(check->entry, 3, gmt_base_name(module->path), -1, SQLITE_STATIC);
    return run(check->db, check->entry);
}

static int count_imports(struct check *check, const struct gmt_elf *image,
                         struct mapped_module *module)
{
    struct gmt_elf_symbols symbols = gmt_elf_symbols(image);
    bool is_import;
    const char *name;
    int error = 0;
    while (error == 0 && (name = gmt_elf_next_symbol(&symbols, &is_import)) != NULL) {
        if (is_import && gmt_entry_class(name) != GMT_ENTRY_UNKNOWN) {
            module->imports++;
            error = is_hooked(check, name) ? 0 : add_entry(check, module, name);
        }
    }
    return error;
}

static int look_at(struct check *check, const struct gmt_elf *image, struct mapped_module *module)
{
    if (!gmt_elf_is_build(image, module->build_id)) {
        module->why = "the file has changed since the recording";
        return 0;
    }
    module->runtime = gmt_elf_cuda_runtime(image, module->path, &module->needed);
    return count_imports(check, image, module);
}

/* The runtime that was loaded, of which the file's own name often has the whole version. */
static void describe_runtime(struct check *check, const struct mapped_module *module, char *text,
                             size_t bytes)
{
    char real[PATH_MAX];
    const char *path = module->needed != NULL ? module->needed : "";
    if (module->runtime == GMT_CUDA_ITSELF) {
        path = module->path;
    } else {
        sqlite3_bind_text(check->loaded_runtime, 1, path, -1, SQLITE_STATIC);
        if (sqlite3_step(check->loaded_runtime) == SQLITE_ROW) {
            path = (const char *)sqlite3_column_text(check->loaded_runtime, 0);
        }
    }
    const char *name = path[0] == '/' && realpath(path, real) != NULL ? gmt_base_name(real)
                                                                      : gmt_base_name(path);
    const char *version = strncmp(name, GMT_CUDA_RUNTIME_FILE ".",
                                  strlen(GMT_CUDA_RUNTIME_FILE ".")) == 0
                              ? name + strlen(GMT_CUDA_RUNTIME_FILE ".")
                              : "?";
    (void)snprintf(text, bytes, "version %s%s%s", version, path[0] == '/' ? ": " : "",
                   path[0] == '/' ? path : "");
    sqlite3_reset(check->loaded_runtime);
}

static int store_module(struct check *check, const struct mapped_module *module)
{
    char detail[PATH_MAX + 64];
    const char *runtime = module->why != NULL ? "unknown" : runtime_names[module->runtime];
    const char *reason = module->why;
    if (module->why == NULL &&
        (module->runtime == GMT_CUDA_SHARED || module->runtime == GMT_CUDA_ITSELF)) {
        describe_runtime(check, module, detail, sizeof(detail));
        reason = detail;
    }
    sqlite3_bind_text(check->runtime, 1, module->path, -1, SQLITE_STATIC);
    sqlite3_bind_text(check->runtime, 2, runtime, -1, SQLITE_STATIC);
    sqlite3_bind_text(check->runtime, 3, reason, -1, SQLITE_STATIC);
    check->modules += module->imports != 0;
    check->imports += module->imports;
    return run(check->db, check->runtime);
}

static int check_module(struct check *check, struct mapped_module *module)
{
    struct gmt_elf image;
    int opened = gmt_elf_open(&image, module->path);
    if (opened != 0) {
        module->why = opened == -ENOEXEC ? "the file is no ELF file of this machine"
                                         : "the file cannot be read";
        return store_module(check, module);
    }
    int error = look_at(check, &image, module);
    error = error == 0 ? store_module(check, module) : error;
    gmt_elf_close(&image);
    return error;
}

/* The driver itself, and gmtrace, are not the program's. */
static bool is_programs(const char *path)
{
    return path[0] == '/' && strstr(path, "/libcuda.so") == NULL &&
           strstr(path, "/libgmtrace.so") == NULL && strstr(path, "/libcupti.so") == NULL;
}

static int check_all(struct check *check)
{
    sqlite3_stmt *modules;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(check->db,
                           "SELECT path, coalesce(build_id, '') FROM module WHERE path IS NOT NULL "
                           "GROUP BY path ORDER BY min(id)",
                           -1, &modules, NULL) != SQLITE_OK) {
        return gmt_database_error(check->db);
    }
    while (error == 0 && (code = sqlite3_step(modules)) == SQLITE_ROW) {
        struct mapped_module module = {.path = (const char *)sqlite3_column_text(modules, 0),
                                       .build_id = (const char *)sqlite3_column_text(modules, 1)};
        error = is_programs(module.path) ? check_module(check, &module) : 0;
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(check->db);
    }
    sqlite3_finalize(modules);
    return error;
}

static int store_linked(const struct check *check)
{
    char sql[192];
    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO coverage(kind, what, requests, detail) VALUES('lookup_path', 'linked', "
        "%u, 'imported by %u module%s')",
        check->imports, check->modules, check->modules == 1 ? "" : "s");
    return check->imports != 0 ? gmt_database_exec(check->db, sql) : 0;
}

/* A static runtime does not report its version. Where it is the only one of the process, it is the one that
 * asked for driver functions, as they were in versions up to its own. */
static int store_static_version(sqlite3 *db)
{
    return gmt_database_exec(
        db, "UPDATE coverage SET detail = (SELECT 'version ' || max(substr(detail, "
            "length('for versions up to ') + 1)) || ' or later' FROM coverage WHERE kind = "
            "'lookup_path' AND what IN ('cuGetProcAddress', 'cuGetProcAddress_v2')) "
            "WHERE kind = 'runtime' AND class = 'static' AND detail IS NULL AND 1 = "
            "(SELECT count(*) FROM coverage WHERE kind = 'runtime' AND class IN "
            "('static', 'is the runtime'))");
}

int gmt_coverage_modules(sqlite3 *db)
{
    struct check check = {.db = db};
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&check.is_hooked, "SELECT 1 FROM api WHERE name = ?"},
        {&check.runtime, "INSERT OR IGNORE INTO coverage(kind, what, class, detail) "
                         "VALUES('runtime', ?, ?, ?)"},
        {&check.entry,
         "INSERT INTO coverage(kind, what, class, requests, seen, detail) "
         "VALUES('entry point', ?, ?, 1, 0, 'linked by ' || ?) ON CONFLICT(kind, what) DO UPDATE "
         "SET requests = requests + 1, expected = NULL, detail = detail || ', ' || "
         "excluded.detail"},
        {&check.loaded_runtime, "SELECT path FROM module WHERE path LIKE '%/' || ? ORDER BY id"},
    };
    int error = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && error == 0; i++) {
        if (sqlite3_prepare_v2(db, all[i].sql, -1, all[i].statement, NULL) != SQLITE_OK) {
            error = gmt_database_error(db);
        }
    }
    if (error == 0 && (error = check_all(&check)) == 0) {
        error = store_linked(&check);
    }
    error = error == 0 ? store_static_version(db) : error;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        sqlite3_finalize(*all[i].statement);
    }
    return error;
}
