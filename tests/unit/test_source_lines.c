/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that compilers and packagers made in many ways (symbols/make.sh) are loaded and called; the
 * address that the call comes from must be named with all that was inlined there. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/symbolize.h"

#define OBJECTS GMT_BINARY_DIR "/tests/unit/symbols"

TestSuite(source_lines, .timeout = 60);

static uintptr_t called_from;
static char answer[256];

static void note_caller(void)
{
    called_from = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static const char *path_of(const char *name)
{
    static char paths[2][PATH_MAX]; /* of this call and of the one before */
    static unsigned turn;
    char *path = paths[turn++ % 2];
    (void)snprintf(path, PATH_MAX, OBJECTS "/%s.so", name);
    return path;
}

static bool is_made(const char *name)
{
    return access(path_of(name), R_OK) == 0;
}

/* Line of chain.c that ends with a remark. */
static int line_of(const char *remark)
{
    char text[256], wanted[64];
    int line = 0, found = 0;
    FILE *file = fopen(GMT_SOURCE_DIR "/tests/unit/symbols/chain.c", "r");
    cr_assert_not_null(file);
    (void)snprintf(wanted, sizeof(wanted), "/* line of %s */", remark);
    while (found == 0 && fgets(text, sizeof(text), file) != NULL) {
        line++;
        found = strstr(text, wanted) != NULL ? line : 0;
    }
    (void)fclose(file);
    cr_assert_gt(found, 0);
    return found;
}

/* A trace with one stack of two frames, of which the object is the inner one and nobody the other. */
static sqlite3 *trace_of(const char *name, const char *path, const char *build_id)
{
    char sql[PATH_MAX + 600];
    struct link_map *map = NULL;
    sqlite3 *db;
    void *object = dlopen(path_of(name), RTLD_NOW);
    cr_assert_not_null(object, "%s", dlerror());
    void (*outer)(void (*)(void));
    *(void **)&outer = dlsym(object, "chain_outer");
    cr_assert_not_null(outer);
    outer(note_caller);
    cr_assert_eq(dlinfo(object, RTLD_DI_LINKMAP, &map), 0);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO module VALUES (1, '%s', nullif('%s', ''), %llu, 0, 0, NULL);"
                   "INSERT INTO frame(id, address, module_id) VALUES (1, %llu, 1), (2, 99, NULL);"
                   "INSERT INTO stack VALUES (1, 2), (2, 1);"
                   "INSERT INTO stack_frame VALUES (1, 0, 1), (1, 1, 2), (2, 0, 2);",
                   path, build_id, (unsigned long long)map->l_addr,
                   (unsigned long long)called_from);
    cr_assert_eq(gmt_database_create(":memory:", sql, &db), 0);
    return db;
}

static const char *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    const char *text = sqlite3_step(statement) == SQLITE_ROW
                           ? (const char *)sqlite3_column_text(statement, 0)
                           : "";
    (void)snprintf(answer, sizeof(answer), "%s", text != NULL ? text : "");
    sqlite3_finalize(statement);
    return answer;
}

static void look(sqlite3 *db, const char *const *dirs, size_t count)
{
    const struct gmt_debug_dirs folders = {dirs, count};
    cr_assert_eq(gmt_symbolize_again(db, &folders), 0);
}

static const char *chain(sqlite3 *db)
{
    return ask(db, "SELECT group_concat(position || ' ' || function || ':' || line || "
                   "CASE inlined WHEN 1 THEN ' inlined' ELSE '' END, ', ') FROM "
                   "(SELECT * FROM v_stack WHERE stack_id = 1 AND function IS NOT NULL "
                   "ORDER BY position)");
}

static const char *whole_chain(void)
{
    static char text[128];
    (void)snprintf(text, sizeof(text),
                   "0 chain_inner:%d inlined, 1 chain_middle:%d inlined, 2 chain_outer:%d",
                   line_of("inner"), line_of("middle"), line_of("outer"));
    return text;
}

static void expect_whole_chain(sqlite3 *db, const char *name)
{
    cr_expect_str_eq(chain(db), whole_chain(), "%s: %s", name, chain(db));
    cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "lines", "%s", name);
    cr_expect_str_eq(ask(db, "SELECT depth FROM stack WHERE id = 1"), "4");
    cr_expect_str_eq(ask(db, "SELECT depth FROM stack WHERE id = 2"), "1");
    cr_expect_str_eq(
        ask(db, "SELECT frame_id FROM stack_frame WHERE stack_id = 1 AND position = 3"), "2",
        "callers stay behind it");
    cr_expect_str_eq(ask(db, "SELECT group_concat(DISTINCT substr(file, -7)) FROM v_stack "
                             "WHERE function IS NOT NULL"),
                     "chain.c");
    cr_expect_str_eq(ask(db, "SELECT count(*) FROM loss"), "0");
}

Test(source_lines, name_what_was_inlined_however_it_was_compiled)
{
    static const char *const names[] = {
        "dwarf4", "dwarf5", "line_tables", "compressed",   "lto",
        "split",  "linked", "clang",       "clang_dwarf4", "clang_line_tables"};
    size_t made = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!is_made(names[i])) {
            continue;
        }
        sqlite3 *db = trace_of(names[i], path_of(names[i]), "");
        look(db, NULL, 0);
        expect_whole_chain(db, names[i]);
        gmt_database_close(db);
        made++;
    }
    cr_expect_geq(made, 6, "only %zu objects were made", made);
}

Test(source_lines, demangle_what_was_inlined)
{
    sqlite3 *db = trace_of("cxx", path_of("cxx"), "");
    look(db, NULL, 0);
    cr_expect_str_eq(ask(db, "SELECT function FROM v_stack WHERE stack_id = 1 AND position = 0"),
                     "demo::uploader<long>::send(void (*)(), long)");
    cr_expect_str_eq(ask(db, "SELECT function FROM v_stack WHERE stack_id = 1 AND position = 1"),
                     "chain_outer");
    gmt_database_close(db);
}

Test(source_lines, name_what_was_inlined_into_a_lambda)
{
    sqlite3 *db = trace_of("lambda", path_of("lambda"), "");
    look(db, NULL, 0);
    cr_expect_str_eq(ask(db, "SELECT function || inlined FROM v_stack WHERE stack_id = 1 AND "
                             "position = 0"),
                     "send1");
    cr_expect_str_eq(ask(db, "SELECT function || inlined FROM v_stack WHERE stack_id = 1 AND "
                             "position = 1"),
                     "chain_outer::{lambda()#1}::operator()() const0");
    gmt_database_close(db);
}

Test(source_lines, functions_of_library_headers_are_not_the_users)
{
    static const struct {
        const char *name, *function;
        int runtime;
    } cases[] = {{"of_THRUST", "%thrust::apply<%", 1},
                 {"of_STD", "%unique_ptr<%", 1},
                 {"dwarf5", "chain_outer", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sqlite3 *db = trace_of(cases[i].name, path_of(cases[i].name), "");
        char sql[160], expected[16];
        look(db, NULL, 0);
        (void)snprintf(sql, sizeof(sql),
                       "SELECT runtime FROM v_stack WHERE stack_id = 1 AND "
                       "NOT inlined AND function LIKE '%s'",
                       cases[i].function);
        (void)snprintf(expected, sizeof(expected), "%d", cases[i].runtime);
        cr_expect_str_eq(ask(db, sql), expected, "%s", cases[i].name);
        gmt_database_close(db);
    }
}

Test(source_lines, find_debug_files_in_folders_of_the_user)
{
    static const struct {
        const char *name, *build_id, *dir;
    } cases[] = {
        {"elsewhere", "1000000000000002", OBJECTS "/symbols"},
        {"by_id", "abcdef0123456789", OBJECTS "/ids"},
        {"by_id", "abcdef0123456789", OBJECTS "/ids/.build-id"},
        {"unnumbered", "", OBJECTS "/symbols"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const dirs[] = {"/no/such/folder", cases[i].dir};
        sqlite3 *db = trace_of(cases[i].name, path_of(cases[i].name), cases[i].build_id);
        look(db, NULL, 0);
        cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "stripped", "%s", cases[i].name);
        cr_expect_str_eq(chain(db), "", "%s without the folder: %s", cases[i].name, chain(db));
        cr_expect_str_eq(ask(db, "SELECT function FROM v_frame WHERE id = 1"), "chain_outer");
        look(db, dirs, 2);
        expect_whole_chain(db, cases[i].dir);
        look(db, dirs, 2);
        expect_whole_chain(db, "a third look");
        gmt_database_close(db);
    }
}

Test(source_lines, look_into_the_folders_that_the_recording_names)
{
    static const char *const options[] = {"stacks=caller;debug_dir=/no/such:" OBJECTS "/ids;cupti=",
                                          "debug_dir=ids"};
    for (size_t i = 0; i < 2; i++) {
        char sql[PATH_MAX];
        sqlite3 *db = trace_of("by_id", path_of("by_id"), "abcdef0123456789");
        (void)snprintf(sql, sizeof(sql),
                       "INSERT INTO process(pid, start_ns, cwd, options) VALUES (1, 1, '%s', '%s')",
                       OBJECTS, options[i]);
        cr_assert_eq(gmt_database_exec(db, sql), 0);
        cr_assert_eq(gmt_symbolize_run(db, GMT_SYMBOLIZE_BUDGET_NS), 0);
        expect_whole_chain(db, options[i]);
        gmt_database_close(db);
    }
}

Test(source_lines, name_modules_whose_files_are_gone_or_changed)
{
    const char *const dirs[] = {OBJECTS "/symbols", OBJECTS "/ids"};
    sqlite3 *db = trace_of("by_id", "/gone/by_id.so", "abcdef0123456789");
    look(db, NULL, 0);
    cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "missing");
    look(db, dirs, 2);
    expect_whole_chain(db, "missing");
    gmt_database_close(db);

    db = trace_of("elsewhere", path_of("dwarf5"), "1000000000000002");
    look(db, NULL, 0);
    cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "changed");
    cr_expect_str_eq(ask(db, "SELECT detail FROM loss WHERE kind = 'module changed since'"),
                     path_of("dwarf5"));
    cr_expect_str_eq(chain(db), "");
    gmt_database_close(db);
}

Test(source_lines, believe_no_debug_file_of_another_build)
{
    static const char *const names[] = {"other", "changed_sum"};
    const char *const dirs[] = {OBJECTS "/symbols", OBJECTS};
    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = trace_of(names[i], path_of(names[i]), i == 0 ? "1000000000000004" : "");
        look(db, dirs, 2);
        cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "stripped", "%s", names[i]);
        cr_expect_str_eq(chain(db), "");
        gmt_database_close(db);
    }
}

Test(source_lines, say_what_could_not_be_read)
{
    sqlite3 *db = trace_of("lost_split", path_of("lost_split"), "");
    look(db, NULL, 0);
    char line[96];
    (void)snprintf(line, sizeof(line), "0 chain_outer:%d", line_of("inner"));
    cr_expect_str_eq(chain(db), line, "the lines are in the object: %s", chain(db));
    cr_expect_str_eq(
        ask(db, "SELECT count FROM loss WHERE kind = 'split debug information not read'"), "1");
    gmt_database_close(db);

    db = trace_of("plain", path_of("plain"), "");
    look(db, NULL, 0);
    cr_expect_str_eq(ask(db, "SELECT symbols FROM module"), "functions");
    cr_expect_str_eq(ask(db, "SELECT function FROM v_frame WHERE id = 1"), "chain_outer");
    gmt_database_close(db);
}

Test(source_lines, change_nothing_that_is_known)
{
    sqlite3 *db = trace_of("dwarf5", path_of("dwarf5"), "");
    cr_assert_eq(gmt_database_exec(db, "INSERT INTO string VALUES (1, 'mine'), (2, 'mine.c');"
                                       "UPDATE frame SET function_id = 1, file_id = 2, line = 7 "
                                       "WHERE id = 1"),
                 0);
    look(db, NULL, 0);
    cr_expect_str_eq(chain(db), "0 mine:7");
    gmt_database_close(db);
}

/* Debug information lies behind the code and the data. */
static void write_damaged(const char *from, const char *to, unsigned seed)
{
    static char bytes[1 << 20];
    FILE *file = fopen(from, "r");
    cr_assert_not_null(file);
    size_t count = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    srand(seed);
    for (int i = 0; i < 12; i++) {
        bytes[count / 2 + (size_t)rand() % (count / 2)] = (char)rand();
    }
    file = fopen(to, "w");
    cr_assert_not_null(file);
    (void)fwrite(bytes, 1, count, file);
    (void)fclose(file);
}

Test(source_lines, survive_damaged_files)
{
    static const char *const names[] = {"dwarf4", "dwarf5", "split", "cxx"};
    char folder[] = "/tmp/gmtrace-damaged.XXXXXX", path[64], sql[160];
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/damaged.so", folder);
    (void)snprintf(sql, sizeof(sql), "UPDATE module SET path = '%s'", path);
    for (unsigned seed = 0; seed < 200; seed++) {
        const char *name = names[seed % 4];
        sqlite3 *db = trace_of(name, path_of(name), "");
        write_damaged(path_of(name), path, seed);
        cr_assert_eq(gmt_database_exec(db, sql), 0);
        look(db, NULL, 0);
        cr_expect_str_neq(ask(db, "SELECT symbols FROM module"), "", "%s, seed %u", name, seed);
        gmt_database_close(db);
    }
    (void)unlink(path);
    (void)rmdir(folder);
}

Test(source_lines, identify_interpreters_by_their_files)
{
    static const char *const yes[] = {"/usr/bin/python3.12", "/opt/env/bin/python",
                                      "/usr/lib/libpython3.13t.so.1.0", "/x/python3.13t",
                                      "/l/_ctypes.cpython-312-x86_64-linux-gnu.so"};
    static const char *const no[] = {"/usr/bin/pythonize", "/usr/lib/libtorch_python.so",
                                     "/home/python/app", "/opt/my_ctypes.so"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        cr_expect(gmt_symbol_is_interpreter(yes[i]), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        cr_expect_not(gmt_symbol_is_interpreter(no[i]), "%s", no[i]);
    }
    cr_expect_not(gmt_symbol_is_interpreter(NULL));
}
