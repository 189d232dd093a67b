/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of machine code: as a cubin whose instructions and lines are looked up, as one that is loaded, as a module
 * whose frames are named, and as the program that gmtrace is to start.
 */
#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "launcher/program.h"
#include "libtrace/cupti/code/cubin_effects.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/sass/cubin_code.h"
#include "libtrace/store/sass/cubin_lines.h"
#include "libtrace/store/symbols/elf_cuda.h"
#include "libtrace/store/symbols/symbolize.h"
#include "tests/fuzz/fuzz.h"

enum { LEVELS = 64, OFFSETS = 64, FUNCTIONS = 32 };

/* ---- as a cubin ------------------------------------------------------------------------------ */

static void look_up(const struct gmt_cubin_code *code, const struct gmt_cubin *lines,
                    const char *function)
{
    for (uint64_t i = 0; i < OFFSETS; i++) {
        /* From the start on, and where no function goes. */
        uint64_t offset = i < OFFSETS - 4 ? i * 16 : UINT64_MAX << (OFFSETS - 1 - i) * 21;
        struct gmt_cubin_frame places[LEVELS];
        struct gmt_cubin_op op = {0};

        if (code != NULL && gmt_cubin_code_at(code, function, offset, &op)) {
            GMT_FUZZ_REQUIRE(op.name == NULL || strlen(op.name) + strlen(op.suffix) < 32);
        }
        size_t depth = lines != NULL ? gmt_cubin_frame(lines, function, offset, places, LEVELS) : 0;
        for (size_t level = 0; level < depth && level < LEVELS; level++) {
            GMT_FUZZ_REQUIRE(places[level].file == NULL || strlen(places[level].file) < UINT32_MAX);
        }
    }
}

static void read_cubin(const uint8_t *data, size_t bytes)
{
    struct gmt_cubin_code *code = NULL;
    struct gmt_cubin *lines = NULL;
    size_t functions = 0;

    GMT_FUZZ_REQUIRE(gmt_cubin_code_open(data, bytes, &code) == 0 || code == NULL);
    GMT_FUZZ_REQUIRE(gmt_cubin_open(data, bytes, &lines) == 0 || lines == NULL);
    /* Functions go by names that the file itself has somewhere. */
    for (size_t i = 0; i + 2 < bytes && functions < FUNCTIONS; i++) {
        char name[128];
        size_t length = 0;

        if (data[i] != '_' || data[i + 1] != 'Z') {
            continue;
        }
        while (i + length < bytes && length < sizeof(name) - 1 && isgraph(data[i + length])) {
            length++;
        }
        memcpy(name, data + i, length);
        name[length] = '\0';
        look_up(code, lines, name);
        functions++;
        i += length;
    }
    gmt_cubin_close(lines);
    gmt_cubin_code_close(code);
}

/* ---- as a cubin that is loaded ---------------------------------------------------------------- */

struct looking {
    const struct gmt_cubin_symbols *symbols;
    const bool *effects;
    size_t marked;
};

static void see_function(void *data, const char *name, uint64_t section)
{
    struct looking *looking = data;
    GMT_FUZZ_REQUIRE(name[0] != '\0');
    /* Where code with effects is distinguished, each function is in a section. */
    if (looking->effects != NULL) {
        GMT_FUZZ_REQUIRE(section < looking->symbols->sections.count);
        looking->marked += looking->effects[section];
    }
}

static void find_effects(const uint8_t *data, size_t bytes)
{
    struct gmt_cubin_symbols symbols;
    int result = gmt_cubin_symbols_read(&symbols, data, bytes);
    if (result == -EINVAL) {
        return;
    }
    bool *effects = gmt_cubin_effects(&symbols);
    struct looking looking = {.symbols = &symbols, .effects = effects};
    gmt_cubin_symbols_visit(
        &symbols, &(struct gmt_cubin_visitor){.function = see_function, .data = &looking});
    /* Nothing is marked where there is no effect. (In an odd file what has one may be without a name.) */
    GMT_FUZZ_REQUIRE(result == -EPERM || looking.marked == 0);
    free(effects);
}

/* ---- as a module ----------------------------------------------------------------------------- */

static void name_frames(const char *path)
{
    static const char rows[] =
        "INSERT INTO process(id, pid, start_ns) VALUES (1, 99999999, 0);"
        "INSERT INTO module(id, path, build_id, load_bias, start_address, end_address)"
        " VALUES (1, %Q, NULL, 0, 0, 1 << 40);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
        " INSERT INTO frame(id, address, module_id) SELECT i + 1, 4096 + i * 23, 1 FROM n;";
    char *sql = sqlite3_mprintf(rows, path);
    sqlite3 *db = NULL;

    if (sql == NULL || gmt_database_create(":memory:", "", &db) != 0) {
        exit(2);
    }
    GMT_FUZZ_REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    GMT_FUZZ_REQUIRE(gmt_symbolize_run(db, GMT_SYMBOLIZE_BUDGET_NS) == 0);
    sqlite3_free(sql);
    gmt_database_close(db);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    gmt_fuzz_sweep();
    gmt_fuzz_write("module", data, bytes);
    read_cubin(data, bytes);
    find_effects(data, bytes);
    struct gmt_program program = gmt_program_look(gmt_fuzz_path("module"));
    GMT_FUZZ_REQUIRE(memchr(program.asan, '\0', sizeof(program.asan)) != NULL);
    name_frames(gmt_fuzz_path("module"));
}
