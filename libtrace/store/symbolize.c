/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves frames with libdwfl, one module at a time. */
#include "libtrace/store/symbolize.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/clock.h"
#include "libtrace/store/database.h"
#include "libtrace/store/names.h"

struct symbolizer {
    sqlite3 *db;
    sqlite3_stmt *frames; /* of a module: id, address                                       */
    sqlite3_stmt *add_string, *find_string, *is_kernel, *update, *loss;
    uint64_t until_ns;
    uint64_t skipped; /* frames not reached in time                                     */
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "cuda" and a capital: cudaMemcpy, cudaLaunchKernel. */
static bool is_cuda_name(const char *name)
{
    return starts_with(name, "cuda") && isupper((unsigned char)name[4]);
}

/* The typed wrappers of cuda_runtime.h are templates with internal linkage: _ZL10cudaMallocIfE...
 * A user's own cudaCheck(...) is neither. */
static bool is_header_wrapper(const char *symbol)
{
    if (!starts_with(symbol, "_Z")) {
        return false;
    }
    const char *digits = symbol + 2 + (symbol[2] == 'L');
    char *name;
    unsigned long length = strtoul(digits, &name, 10);
    return name != digits && strlen(name) > length && is_cuda_name(name) && name[length] == 'I';
}

bool gmt_symbol_is_runtime(const char *path, const char *symbol)
{
    static const char *const libraries[] = {"libcudart.so", "libcuda.so", "libcudadebugger.so",
                                            "libgmtrace.so"};
    static const char *const prefixes[] = {"__cuda",          "cudart",
                                           "__cudart",        "libcudart_static",
                                           "__device_stub__", "_ZL15__device_stub__"};
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *file = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; file != NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (starts_with(file, libraries[i])) {
            return true;
        }
    }
    if (symbol == NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (starts_with(symbol, prefixes[i])) {
            return true;
        }
    }
    /* nvcc's stub of a kernel, _Z..__device_stub__..., and what it calls in headers of CUDA 13. */
    return is_cuda_name(symbol) || is_header_wrapper(symbol) ||
           (starts_with(symbol, "_Z") && (strstr(symbol, "__device_stub__") != NULL ||
                                          strstr(symbol, "__cudaLaunchKernel_helper") != NULL));
}

/* string.id of a text, 0 for NULL. */
static int string_id(struct symbolizer *symbolizer, const char *text, int64_t *id)
{
    *id = 0;
    if (text == NULL) {
        return 0;
    }
    sqlite3_bind_text(symbolizer->add_string, 1, text, -1, SQLITE_STATIC);
    int code = sqlite3_step(symbolizer->add_string);
    sqlite3_reset(symbolizer->add_string);
    if (code != SQLITE_DONE) {
        return gmt_database_error(symbolizer->db);
    }
    sqlite3_bind_text(symbolizer->find_string, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(symbolizer->find_string) == SQLITE_ROW) {
        *id = sqlite3_column_int64(symbolizer->find_string, 0);
    }
    sqlite3_reset(symbolizer->find_string);
    return *id != 0 ? 0 : gmt_database_error(symbolizer->db);
}

/* The host side of a kernel carries the kernel's name and does nothing but launch it. */
static bool is_kernel(struct symbolizer *symbolizer, const char *symbol)
{
    if (symbol == NULL) {
        return false;
    }
    sqlite3_bind_text(symbolizer->is_kernel, 1, symbol, -1, SQLITE_STATIC);
    bool found = sqlite3_step(symbolizer->is_kernel) == SQLITE_ROW;
    sqlite3_reset(symbolizer->is_kernel);
    return found;
}

static void bind_id(sqlite3_stmt *statement, int column, int64_t id)
{
    if (id != 0) {
        sqlite3_bind_int64(statement, column, id);
    } else {
        sqlite3_bind_null(statement, column);
    }
}

static int update_frame(struct symbolizer *symbolizer, int64_t frame, const char *path,
                        const char *symbol, const char *file, int line)
{
    int64_t function_id, file_id;
    char *function = symbol != NULL ? gmt_name_demangle(symbol) : NULL;
    int error = string_id(symbolizer, function, &function_id);
    free(function);
    if (error == 0) {
        error = string_id(symbolizer, file, &file_id);
    }
    if (error != 0) {
        return error;
    }
    bool runtime = gmt_symbol_is_runtime(path, symbol) || is_kernel(symbolizer, symbol);
    bind_id(symbolizer->update, 1, function_id);
    bind_id(symbolizer->update, 2, file_id);
    bind_id(symbolizer->update, 3, file_id != 0 ? line : 0);
    sqlite3_bind_int(symbolizer->update, 4, runtime);
    sqlite3_bind_int64(symbolizer->update, 5, frame);
    int code = sqlite3_step(symbolizer->update);
    sqlite3_reset(symbolizer->update);
    return code == SQLITE_DONE ? 0 : gmt_database_error(symbolizer->db);
}

static int add_loss(struct symbolizer *symbolizer, const char *kind, const char *detail,
                    uint64_t count)
{
    sqlite3_bind_text(symbolizer->loss, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(symbolizer->loss, 2, detail, -1, SQLITE_STATIC);
    sqlite3_bind_int64(symbolizer->loss, 3, (int64_t)count);
    int code = sqlite3_step(symbolizer->loss);
    sqlite3_reset(symbolizer->loss);
    return code == SQLITE_DONE ? 0 : gmt_database_error(symbolizer->db);
}

/* True when the file on disk is not the one that was mapped. */
static bool is_other_build(Dwfl_Module *module, const char *wanted)
{
    const unsigned char *bits;
    GElf_Addr address;
    char hex[3];
    int bytes = dwfl_module_build_id(module, &bits, &address);
    if (wanted == NULL || wanted[0] == '\0' || bytes <= 0) {
        return false;
    }
    if (strlen(wanted) != (size_t)bytes * 2) {
        return true;
    }
    for (int i = 0; i < bytes; i++) {
        (void)snprintf(hex, sizeof(hex), "%02x", bits[i]);
        if (strncmp(wanted + (size_t)i * 2, hex, 2) != 0) {
            return true;
        }
    }
    return false;
}

/* The toolkit's headers wrap API calls in inline templates: `cudaMalloc(T **)`. */
static bool is_toolkit_header(const char *file)
{
    static const char *const marks[] = {"/cuda_runtime.h", "/cuda_runtime_api.h", "/crt/",
                                        "/targets/x86_64-linux/include/", "/cuda/include/"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(file, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* File and line of an address. Inside an inlined wrapper of the toolkit it is the place that calls
 * the wrapper. The file name belongs to `module`. */
static const char *source_of(Dwfl_Module *module, GElf_Addr address, int *line)
{
    Dwfl_Line *found = dwfl_module_getsrc(module, address);
    const char *file = found != NULL ? dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL) : NULL;
    if (file == NULL || !is_toolkit_header(file)) {
        return file;
    }
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files = NULL;
    size_t file_count = 0;
    int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
    if (count > 0 && dwarf_getsrcfiles(unit, &files, &file_count) == 0) {
        for (int i = 0; i < count && is_toolkit_header(file); i++) {
            Dwarf_Attribute attribute;
            Dwarf_Word call_file, call_line;
            if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
                dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &call_file) ==
                    0 &&
                dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &call_line) ==
                    0 &&
                call_file < file_count && dwarf_filesrc(files, call_file, NULL, NULL) != NULL) {
                file = dwarf_filesrc(files, call_file, NULL, NULL);
                *line = (int)call_line;
            }
        }
    }
    free(scopes);
    return file;
}

static int resolve_frame(struct symbolizer *symbolizer, Dwfl_Module *module, const char *path)
{
    int64_t frame = sqlite3_column_int64(symbolizer->frames, 0);
    /* The return address can be the first byte of the next line, or function. */
    GElf_Addr address = (GElf_Addr)sqlite3_column_int64(symbolizer->frames, 1) - 1;
    const char *symbol = NULL, *file = NULL;
    int line = 0;
    if (module != NULL) {
        GElf_Off offset;
        GElf_Sym entry;
        symbol = dwfl_module_addrinfo(module, address, &offset, &entry, NULL, NULL, NULL);
        file = source_of(module, address, &line);
    }
    return update_frame(symbolizer, frame, path, symbol, file, line);
}

/* All frames of one module. `path` may be gone: its frames still get their runtime flag. */
static int resolve_module(struct symbolizer *symbolizer, int64_t id, const char *path,
                          const char *build_id, uint64_t load_bias)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    int error = 0, code = SQLITE_DONE;
    Dwfl_Module *module = NULL;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl != NULL && path[0] == '/' && gmt_clock_monotonic_ns() < symbolizer->until_ns) {
        module = dwfl_report_elf(dwfl, path, path, -1, load_bias, true);
        (void)dwfl_report_end(dwfl, NULL, NULL);
    }
    if (module != NULL && is_other_build(module, build_id)) {
        module = NULL;
        error = add_loss(symbolizer, "module changed since", path, 1);
    }
    sqlite3_bind_int64(symbolizer->frames, 1, id);
    while (error == 0 && (code = sqlite3_step(symbolizer->frames)) == SQLITE_ROW) {
        if (gmt_clock_monotonic_ns() >= symbolizer->until_ns) {
            symbolizer->skipped++;
            module = NULL;
        }
        error = resolve_frame(symbolizer, module, path);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(symbolizer->db);
    }
    sqlite3_reset(symbolizer->frames);
    if (dwfl != NULL) {
        dwfl_end(dwfl);
    }
    return error;
}

static int resolve_all(struct symbolizer *symbolizer)
{
    sqlite3_stmt *modules;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(symbolizer->db,
                           "SELECT id, path, build_id, load_bias FROM module "
                           "WHERE id IN (SELECT module_id FROM frame) ORDER BY id",
                           -1, &modules, NULL) != SQLITE_OK) {
        return gmt_database_error(symbolizer->db);
    }
    while (error == 0 && (code = sqlite3_step(modules)) == SQLITE_ROW) {
        error = resolve_module(symbolizer, sqlite3_column_int64(modules, 0),
                               (const char *)sqlite3_column_text(modules, 1),
                               (const char *)sqlite3_column_text(modules, 2),
                               (uint64_t)sqlite3_column_int64(modules, 3));
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(symbolizer->db);
    }
    sqlite3_finalize(modules);
    if (error == 0 && symbolizer->skipped > 0) {
        error = add_loss(symbolizer, "frame not symbolized", "time limit", symbolizer->skipped);
    }
    return error;
}

int gmt_symbolize_run(sqlite3 *db, uint64_t budget_ns)
{
    struct symbolizer symbolizer = {.db = db, .until_ns = gmt_clock_monotonic_ns() + budget_ns};
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } statements[] = {
        {&symbolizer.frames, "SELECT id, address FROM frame WHERE module_id = ? ORDER BY id"},
        {&symbolizer.add_string, "INSERT OR IGNORE INTO string(text) VALUES(?)"},
        {&symbolizer.find_string, "SELECT id FROM string WHERE text = ?"},
        {&symbolizer.is_kernel, "SELECT 1 FROM kernel WHERE mangled = ?"},
        {&symbolizer.update, "UPDATE frame SET function_id=?, file_id=?, line=?, runtime=? "
                             "WHERE id=?"},
        {&symbolizer.loss, "INSERT INTO loss VALUES(?,?,?) ON CONFLICT(kind,detail) DO UPDATE "
                           "SET count = count + excluded.count"},
    };
    const size_t count = sizeof(statements) / sizeof(statements[0]);
    int error = 0;
    /* libdwfl would ask a debuginfo server: a recorder does not talk to the network. */
    (void)unsetenv("DEBUGINFOD_URLS");
    for (size_t i = 0; i < count && error == 0; i++) {
        if (sqlite3_prepare_v2(db, statements[i].sql, -1, statements[i].statement, NULL) !=
            SQLITE_OK) {
            error = gmt_database_error(db);
        }
    }
    if (error == 0) {
        error = resolve_all(&symbolizer);
    }
    for (size_t i = 0; i < count; i++) {
        sqlite3_finalize(*statements[i].statement);
    }
    return error;
}
