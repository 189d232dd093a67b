/* SPDX-License-Identifier: Apache-2.0 */
/* Source files in the trace: which are kept, which are not and why, and that the option is heard. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/sources.h"

#define BUDGET_NS UINT64_C(60000000000)

static char folder[] = "/tmp/gmtrace-sources.XXXXXX";
static sqlite3 *db;

static void sql(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    cr_assert_eq(gmt_database_exec(db, text), 0, "%s: %s", text, sqlite3_errmsg(db));
    sqlite3_free(text);
}

static void setup(void)
{
    char path[64];
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/trace.db", folder);
    cr_assert_eq(gmt_database_create(path, "", &db), 0);
}

static void teardown(void)
{
    char command[96];
    gmt_database_close(db);
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c)
}

TestSuite(sources, .init = setup, .fini = teardown, .timeout = 60);

/* A file of the user's own code that a frame names; text NULL: it is not made. */
static void name_file(const char *name, const char *text, size_t bytes)
{
    static int id;
    char path[96];
    (void)snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : folder,
                   name[0] == '/' ? "" : "/", name);
    if (text != NULL) {
        FILE *out = fopen(path, "we");
        cr_assert_not_null(out);
        cr_assert_eq(fwrite(text, 1, bytes, out), bytes);
        cr_assert_eq(fclose(out), 0);
    }
    id++;
    sql("INSERT INTO string VALUES(%d, %Q)", id, path);
    sql("INSERT INTO frame(address, file_id, line) VALUES(%d, %d, 1)", id, id);
}

static const char *text_of(const char *name, const char *column)
{
    static char text[256];
    sqlite3_stmt *row;
    char *query = sqlite3_mprintf(
        "SELECT f.%s FROM source_file f JOIN string s ON s.id = f.file_id "
        "WHERE s.text LIKE '%%/%q'",
        column, name);
    cr_assert_eq(sqlite3_prepare_v2(db, query, -1, &row, NULL), SQLITE_OK);
    bool found = sqlite3_step(row) == SQLITE_ROW;
    const char *value = found ? (const char *)sqlite3_column_text(row, 0) : "no row";
    (void)snprintf(text, sizeof(text), "%s", value != NULL ? value : "NULL");
    sqlite3_finalize(row);
    sqlite3_free(query);
    return text;
}

Test(sources, keeps_text_and_its_hash)
{
    /* "hello\n" by xxhsum -H2. */
    name_file("a.cu", "hello\n", 6);
    name_file("empty.cu", "", 0);
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("a.cu", "state"), "embedded");
    cr_expect_str_eq(text_of("a.cu", "text"), "hello\n");
    cr_expect_str_eq(text_of("a.cu", "bytes"), "6");
    cr_expect_str_eq(text_of("a.cu", "hash"), "6bba86c7e069f56d5a10b435f1c8e49c");
    cr_expect_str_eq(text_of("empty.cu", "state"), "embedded");
    cr_expect_str_eq(text_of("empty.cu", "text"), "");
    /* Once more changes nothing: a recording can be finished after its recorder was killed. */
    cr_expect_eq(gmt_sources_embed(db, BUDGET_NS), 0);
}

Test(sources, replaces_what_is_no_utf8)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"gr\xfc\xdf", "gr??"},
        {"\xc0\xaf overlong \xe0\x80\xaf", "?? overlong ???"},
        {"\xed\xa0\x80 surrogate", "??? surrogate"},
        {"\xf4\x90\x80\x80 beyond", "???? beyond"},
        {"cut \xe2\x82", "cut ??"},
        {"\xff\xfe", "??"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "u%zu.cu", i);
        name_file(name, cases[i].bytes, strlen(cases[i].bytes));
    }
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "u%zu.cu", i);
        cr_expect_str_eq(text_of(name, "text"), cases[i].text, "%s: %s", name,
                         text_of(name, "text"));
    }
}

Test(sources, says_why_a_file_is_not_kept)
{
    char path[96], *large = calloc(1, GMT_SOURCE_FILE_BYTES + 1);
    cr_assert_not_null(large);
    memset(large, 'x', GMT_SOURCE_FILE_BYTES + 1);
    name_file("gone.cu", NULL, 0);
    name_file("zero.cu", "a\0b", 3);
    name_file("large.cu", large, GMT_SOURCE_FILE_BYTES + 1);
    name_file("folder.cu", NULL, 0);
    (void)snprintf(path, sizeof(path), "%s/folder.cu", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    name_file("pipe.cu", NULL, 0);
    (void)snprintf(path, sizeof(path), "%s/pipe.cu", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    name_file("/usr/include/stdio.h", NULL, 0);
    free(large);
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("gone.cu", "state"), "not found");
    cr_expect_str_eq(text_of("zero.cu", "state"), "not text");
    cr_expect_str_eq(text_of("zero.cu", "text"), "NULL");
    cr_expect_str_eq(text_of("large.cu", "state"), "too large");
    cr_expect_str_eq(text_of("folder.cu", "state"), "unreadable");
    cr_expect_str_eq(text_of("pipe.cu", "state"), "unreadable");
    cr_expect_str_eq(text_of("stdio.h", "state"), "no row");
}

/* The machine that built the program had folders that this one has not. */
Test(sources, finds_a_file_behind_folders_that_are_gone)
{
    static const char *const names[] = {"gone/../a.cu", "b/gone/also/../../../b.cu",
                                        "./gone/.//..//c.cu", "gone/../also/../../../tmp/d.cu"};
    char path[96];
    for (const char *name = "abc"; *name != '\0'; name++) {
        (void)snprintf(path, sizeof(path), "%s/%c.cu", folder, *name);
        FILE *out = fopen(path, "we");
        cr_assert_not_null(out);
        cr_assert_eq(fputc(*name, out), *name);
        cr_assert_eq(fclose(out), 0);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        name_file(names[i], NULL, 0);
    }
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("a.cu", "text"), "a");
    cr_expect_str_eq(text_of("b.cu", "text"), "b");
    cr_expect_str_eq(text_of("c.cu", "text"), "c");
    cr_expect_str_eq(text_of("d.cu", "state"), "not found");
    /* Above the root there is the root. */
    (void)snprintf(path, sizeof(path), "/gone/../../..%s/a.cu", folder);
    int fd = gmt_sources_open_file(path);
    cr_expect_geq(fd, 0);
    (void)close(fd);
    /* Where the system finds a file, its answer counts: ".." behind a link is elsewhere. */
    char link[96];
    (void)snprintf(path, sizeof(path), "%s/deep", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/deep/a.cu", folder);
    FILE *out = fopen(path, "we");
    cr_assert_not_null(out);
    cr_assert_eq(fputs("deep", out) >= 0 && fclose(out) == 0, true);
    (void)snprintf(path, sizeof(path), "%s/deep/er", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    (void)snprintf(link, sizeof(link), "%s/link", folder);
    cr_assert_eq(symlink(path, link), 0);
    name_file("link/../a.cu", NULL, 0);
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("link/../a.cu", "text"), "deep");
    cr_expect_eq(gmt_sources_open_file("gone/../a.cu"), -1, "no folder is known");
}

Test(sources, keeps_within_the_room_and_the_time)
{
    enum { FILES = GMT_SOURCE_TOTAL_BYTES / GMT_SOURCE_FILE_BYTES };
    char name[16], *text = malloc(GMT_SOURCE_FILE_BYTES);
    cr_assert_not_null(text);
    memset(text, 'x', GMT_SOURCE_FILE_BYTES);
    for (int i = 0; i <= FILES; i++) {
        (void)snprintf(name, sizeof(name), "%d.cu", i);
        name_file(name, text, GMT_SOURCE_FILE_BYTES);
    }
    free(text);
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("0.cu", "state"), "embedded");
    cr_expect_str_eq(text_of(name, "state"), "no room");
    sql("DELETE FROM source_file");
    cr_assert_eq(gmt_sources_embed(db, 0), 0);
    cr_expect_str_eq(text_of("0.cu", "state"), "no room");
}

Test(sources, leaves_them_out_when_asked_to)
{
    sql("INSERT INTO process(id, pid, start_ns, options) VALUES(1, 1, 1, "
        "'collect=light;source=off;stacks=caller')");
    name_file("a.cu", "hello\n", 6);
    cr_assert_eq(gmt_sources_embed(db, BUDGET_NS), 0);
    cr_expect_str_eq(text_of("a.cu", "state"), "no row");
}
