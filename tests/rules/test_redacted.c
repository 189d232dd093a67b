/* SPDX-License-Identifier: Apache-2.0 */
/* What a redacted report may show: by the table of columns, and by single names. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/redact/public_names.h"
#include "analyzer/redact/redact.h"
#include "analyzer/redact/redact_columns.h"
#include "analyzer/redact/redact_text.h"
#include "libtrace/store/db/database.h"

static sqlite3 *new_trace(void)
{
    sqlite3 *db = NULL;

    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, gmt_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

/* One value of a query, the caller's; NULL for NULL. */
static char *value_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s", sql);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    char *copy = text != NULL ? strdup(text) : NULL;
    sqlite3_finalize(statement);
    return copy;
}

Test(redact, knows_every_text_of_the_schema)
{
    sqlite3 *db = new_trace();
    sqlite3_stmt *columns = NULL;
    int texts = 0;

    cr_assert_eq(sqlite3_prepare_v2(db,
                                    "SELECT t.name, c.name, c.type FROM sqlite_master t, "
                                    "pragma_table_info(t.name) c WHERE t.type = 'table'",
                                    -1, &columns, NULL),
                 SQLITE_OK);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(columns, 0);
        const char *column = (const char *)sqlite3_column_text(columns, 1);
        const char *type = (const char *)sqlite3_column_text(columns, 2);

        if (strcmp(type, "INTEGER") == 0 || strcmp(type, "REAL") == 0) {
            continue;
        }
        texts++;
        cr_expect(gmt_redaction_of(table, column) != NULL, "no row for %s.%s", table, column);
    }
    cr_expect_gt(texts, 60);
    sqlite3_finalize(columns);
    sqlite3_close(db);
}

/* A text in each column that may hold one: nothing of it is in any table or view that is read after. */
Test(redact, shows_no_foreign_text)
{
    sqlite3 *db = new_trace();
    char message[256] = "";

    cr_assert_eq(
        sqlite3_exec(
            db,
            "PRAGMA ignore_check_constraints = ON;"
            "INSERT INTO string VALUES (1, 'SECRET_a'), (2, 'SECRET_b'), (3, 'SECRET_c'), "
            "(4, 'SECRET_d'), (5, 'SECRET_e'), (6, '__device_stub__Z6SECRETv'), (7, 'SECRET_f');"
            "INSERT INTO frame (id, address, function_id, file_id) VALUES (1, 1, 1, 2), (2, 2, 6, "
            "1);"
            "INSERT INTO frame (id, address, function_id, runtime) VALUES (3, 1, 7, 1);"
            "INSERT INTO range (kind, name_id, domain_id, begin_ns, depth) VALUES ('push', 3, 4, "
            "1, 0);"
            "INSERT INTO kernel (id, name, mangled) VALUES (1, 'SECRET()', '_Z6SECRETv');"
            "INSERT INTO module VALUES (1, '/SECRET/SECRET.so', 'SECRET', 0, 0, 9, NULL);"
            "INSERT INTO thread VALUES (1, 1, 'SECRET');"
            "INSERT INTO device (id, name, uuid, driver_version, pci_bus, attributes) VALUES "
            "(0, 'SECRET', 'GPU-SECRET', 'SECRET', 7, 'SECRET=1;a=SECRET');"
            "INSERT INTO api(id, name, runtime_name, family) VALUES (1, 'SECRET', 'SECRET', "
            "'other');"
            "INSERT INTO process (id, pid, exe, command, cwd, hostname, rank, options, "
            "tool_version, start_ns) "
            "VALUES (1, 1, 'SECRET', 'SECRET', 'SECRET', 'SECRET', 'SECRET', 'a=SECRET', 'SECRET', "
            "1);"
            "INSERT INTO capability VALUES ('SECRET', 'ok', 1, 'SECRET', 'SECRET'), "
            "('cupti', 'ok', 1, 'CUPTI 1 from /SECRET', NULL);"
            "INSERT INTO loss VALUES ('SECRET', 'SECRET', 1), "
            "('kernel class not measured', 'SECRET: SECRET', 1), ('module changed since', "
            "'/SECRET', 1);"
            "INSERT INTO coverage (kind, what, class, detail) VALUES ('runtime', '/SECRET', "
            "'SECRET', "
            "'version 13: /SECRET'), ('entry point', 'cuSECRET', 'other', 'SECRET');"
            "INSERT INTO coverage_example VALUES ('SECRET', 'call', 1, 'SECRET');"
            "INSERT INTO source_file VALUES (1, 'embedded', 1, 'SECRET', 'SECRET');"
            "INSERT INTO cubin VALUES (1, 6, 'SECRET');"
            "INSERT INTO kernel_footprint VALUES (1, 1, 1, NULL, 'SECRET', 1, 1, 1, 1, 1, 1);"
            "INSERT INTO device_gap VALUES (1, 1, 2, 'SECRET', 'SECRET', 'client', 0);"
            "INSERT INTO device_model VALUES ('SECRET', 'this board', 'SECRET');"
            "INSERT INTO metric VALUES (1, 'SECRET', 'SECRET', 'patched', 'SECRET', 'SECRET');"
            "INSERT INTO fingerprint VALUES (1, 'SECRET', 1, 1, NULL, 1);"
            "INSERT INTO meta VALUES ('SECRET', 'SECRET'), ('created', 'SECRET');",
            NULL, NULL, NULL),
        SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(gmt_redact_trace(db, GMT_REDACT_NAMES, message, sizeof(message)), 0, "%s",
                 message);

    sqlite3_stmt *names = NULL;
    int read = 0;
    cr_assert_eq(
        sqlite3_prepare_v2(db,
                           "SELECT name FROM main.sqlite_master WHERE type IN ('table', "
                           "'view') UNION SELECT name FROM sqlite_temp_master WHERE type = "
                           "'view'",
                           -1, &names, NULL),
        SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", sqlite3_column_text(names, 0));
        sqlite3_stmt *rows = NULL;

        cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK, "%s: %s", sql,
                     sqlite3_errmsg(db));
        while (sqlite3_step(rows) == SQLITE_ROW) {
            read++;
            for (int i = 0; i < sqlite3_column_count(rows); i++) {
                const char *text = (const char *)sqlite3_column_text(rows, i);

                cr_expect(text == NULL || strstr(text, "SECRET") == NULL, "%s: %s is '%s'", sql,
                          sqlite3_column_name(rows, i), text);
            }
        }
        sqlite3_finalize(rows);
        sqlite3_free(sql);
    }
    cr_expect_gt(read, 30);
    sqlite3_finalize(names);

    char *mixed = value_of(db, "SELECT text FROM string WHERE id = 1");
    char *stub = value_of(db, "SELECT text FROM string WHERE id = 6");
    cr_expect_str_eq(mixed, "name 1", "a function that is a file, too: %s", mixed);
    cr_expect_str_eq(stub, "__device_stub__");
    free(mixed);
    free(stub);
    sqlite3_close(db);
}

Test(redact, refuses_words_that_are_not_ours)
{
    sqlite3 *db = new_trace();
    char message[256] = "";

    cr_assert_eq(sqlite3_exec(db,
                              "PRAGMA ignore_check_constraints = ON; INSERT INTO allocation (id, "
                              "kind, address) VALUES (1, 'SECRET', 1)",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_expect_neq(gmt_redact_trace(db, GMT_REDACT_NAMES, message, sizeof(message)), 0);
    cr_expect(strstr(message, "allocation.kind") != NULL, "%s", message);
    cr_expect(strstr(message, "SECRET") == NULL, "%s", message);
    sqlite3_close(db);
}

static void expect(char *(*function)(const char *), const char *text, const char *shown)
{
    char *result = function(text);

    if (shown == NULL) {
        cr_expect_null(result, "%s is shown as %s", text, result);
    } else {
        cr_expect(result != NULL && strcmp(result, shown) == 0, "%s is shown as %s, not %s", text,
                  result != NULL ? result : "nothing", shown);
    }
    free(result);
}

Test(public_names, are_those_of_everybody)
{
    expect(gmt_public_function, "cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2");
    expect(gmt_public_function, "cudaMemcpyAsync_ptsz", "cudaMemcpyAsync_ptsz");
    expect(gmt_public_function, "cudaError cudaMalloc<secret>(secret**, unsigned long)",
           "cudaMalloc");
    expect(gmt_public_function, "cudaSecretCodec", NULL);
    expect(gmt_public_function, "cuMemcpyHtoD_secret", NULL);
    expect(gmt_public_function, "secret::cudaMalloc", NULL);
    expect(gmt_public_function, "", NULL);
    expect(gmt_public_module, "/home/secret/lib/libcudart.so.13.0.88", "libcudart.so.13.0.88");
    expect(gmt_public_module, "/usr/lib/libpython3.11.so.1.0", "libpython3.11.so.1.0");
    expect(gmt_public_module, "/usr/lib/libcudasecret.so", NULL);
    expect(gmt_public_module, "/usr/lib/libcuda.so.secret", NULL);
    expect(gmt_public_module, "/usr/bin/secret", NULL);
    expect(gmt_public_file, "/usr/local/cuda-13.0/include/crt/x.h",
           "/usr/local/cuda-13.0/include/crt/x.h");
    expect(gmt_public_file, "/home/secret/c/targets/x86_64-linux/include/thrust/a.h",
           "/targets/x86_64-linux/include/thrust/a.h");
    expect(gmt_public_file, "/home/secret/targets/x86_64-linux/include/secret.h", NULL);
    expect(gmt_public_file, "/usr/local/cuda-secret/include/a.h", NULL);
    expect(gmt_public_file, "/usr/include/c++/12/../../../home/a/b.h", NULL);
    expect(gmt_public_file, "/usr/src/secret/a.cu", NULL);
    expect(gmt_public_file, "/usr/local/cuda/include/acme_secret/fft.cuh", NULL);
    expect(gmt_public_file, "/usr/local/cuda/include/cuda_fp16.h",
           "/usr/local/cuda/include/cuda_fp16.h");
    expect(gmt_public_file, "/usr/local/cuda/targets/x86_64-linux/include/cub/a.cuh",
           "/usr/local/cuda/targets/x86_64-linux/include/cub/a.cuh");
    expect(gmt_public_file, "/usr/local/cuda/targets/secret/include/cub/a.cuh", NULL);
    expect(gmt_public_file, "/usr/local/cuda/include/cub/../../secret.h", NULL);
    expect(gmt_public_file, "/usr/lib/gcc/x/SECRET.c", NULL);
    expect(gmt_public_file, "/usr/lib/gcc/x86_64-linux-gnu/12/include/secret.h", NULL);
    expect(gmt_public_file, "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h",
           "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h");
    expect(gmt_public_file, "/usr/include/c++/12/secret/vector", NULL);
    expect(gmt_public_file, "/usr/include/c++/13/bits/stl_vector.h",
           "/usr/include/c++/13/bits/stl_vector.h");
    expect(gmt_public_file, "/usr/include/x86_64-linux-gnu/bits/secret.h", NULL);
    expect(gmt_public_file, "/usr/include/x86_64-linux-gnu/bits/stdio2.h",
           "/usr/include/x86_64-linux-gnu/bits/stdio2.h");
    expect(gmt_public_opcode, "ld.global.v4.f32", "ld.global.v4.f32");
    expect(gmt_public_opcode, "LDG.E.128", "LDG.E.128");
    expect(gmt_public_opcode, "secret.global", NULL);
    expect(gmt_public_number, "580.159.04", "580.159.04");
    expect(gmt_public_number, "580-secret", NULL);
    expect(gmt_public_attributes, "pageable_memory_access=1;secret=2;texture_pitch_alignment=x",
           "pageable_memory_access=1");
    expect(gmt_public_sentence, "12 records, 3 of secret bytes", NULL);
    expect(gmt_public_sentence, "12 records, 3 calls failed", "12 records, 3 calls failed");
    expect(gmt_public_sentence, "no libcupti could be loaded from /home/secret",
           "no libcupti could be loaded from …");
    expect(gmt_public_sentence, "not asked for by secret", NULL);
    expect(gmt_public_word, "h2d", "h2d");
    expect(gmt_public_word, "secret", NULL);
    expect(gmt_public_word, "h2d','d2h", NULL);
}

Test(public_names, of_devices_are_those_of_products)
{
    static const char *const products[] = {
        "NVIDIA H200",
        "NVIDIA H200 NVL",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H100 PCIe",
        "NVIDIA GH200 480GB",
        "NVIDIA GH200 144G HBM3e",
        "NVIDIA GB10",
        "NVIDIA A100-SXM4-40GB MIG 1g.10gb",
        "NVIDIA L40S",
        "NVIDIA RTX A6000",
        "NVIDIA RTX 6000 Ada Generation",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4070 Ti SUPER",
        "NVIDIA Graphics Device",
        "NVIDIA PG506-230",
        "NVIDIA TITAN V",
        "TITAN X (Pascal)",
        "GeForce GTX 1650 with Max-Q Design",
        "Tesla V100-SXM2-16GB",
        "Tesla P100-PCIE-16GB",
        "Quadro RTX 8000",
        "GRID V100D-8Q",
        "Jetson AGX Orin",
        "Orin",
        "gmtrace software device",
    };
    static const char *const others[] = {
        "host secret",
        "NVIDIA Robert Miller workstation",
        "NVIDIA secret",
        "NVIDIA BOB42",
        "NVIDIA H200 secret",
        "NVIDIA 123456789",
        "NVIDIA H200:secret",
        "secret NVIDIA H200",
        "",
    };

    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        expect(gmt_public_device, products[i], products[i]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        expect(gmt_public_device, others[i], NULL);
    }
}

/* Text in, text out, with the host "vault" and the user "alice" of the trace. */
static void expect_shown(char *(*function)(const struct gmt_private_words *, const char *),
                         const char *text, const char *shown)
{
    struct gmt_private_words words = {.count = 0};

    gmt_private_host(&words, "vault.example.org");
    gmt_private_users(&words, "--in=/home/alice/data /home/bob");
    char *result = function(&words, text);
    cr_expect_str_eq(result, shown);
    free(result);
    gmt_private_free(&words);
}

/* A path with a blank in its folder, where a loss has one. */
Test(redact, paths_of_losses_lose_their_folders)
{
    sqlite3 *db = new_trace();
    char message[256] = "";

    cr_assert_eq(sqlite3_exec(db,
                              "INSERT INTO loss VALUES ('module changed since', "
                              "'/srv/My SECRET /SECRET/mod.so', 1)",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(gmt_redact_trace(db, GMT_REDACT_PATHS, message, sizeof(message)), 0, "%s",
                 message);
    char *shown = value_of(db, "SELECT detail FROM loss");
    cr_expect_str_eq(shown, "mod.so");
    free(shown);
    sqlite3_close(db);
}

/* The names of all users are hidden, or nothing is shown. */
Test(redact, hides_every_user_or_refuses)
{
    static const char add[] = "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n "
                              "WHERE i < %d) INSERT INTO string SELECT i, '/home/user' || i FROM n";
    sqlite3 *db = new_trace();
    char message[256] = "", sql[256];

    (void)snprintf(sql, sizeof(sql), add, 1, GMT_PRIVATE_WORDS);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "INSERT INTO meta VALUES ('created', 'by user1 and user1024')",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(gmt_redact_trace(db, GMT_REDACT_PATHS, message, sizeof(message)), 0, "%s",
                 message);
    char *shown = value_of(db, "SELECT value FROM meta WHERE key = 'created'");
    cr_expect_str_eq(shown, "by … and …");
    free(shown);
    sqlite3_close(db);

    db = new_trace();
    (void)snprintf(sql, sizeof(sql), add, 1, GMT_PRIVATE_WORDS + 1);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    cr_expect_neq(gmt_redact_trace(db, GMT_REDACT_PATHS, message, sizeof(message)), 0);
    cr_expect(strstr(message, "more than 1024 users") != NULL, "%s", message);
    sqlite3_close(db);
}

Test(redact, takes_out_persons_and_hosts)
{
    expect_shown(gmt_shown_text, "f at /home/alice/x.cu:3", "f at x.cu:3");
    expect_shown(gmt_shown_text, "lambda at /home/alice", "lambda at …");
    expect_shown(gmt_shown_text, "step of alice on vault", "step of … on …");
    expect_shown(gmt_shown_text, "malice, vaults", "malice, vaults");
    expect_shown(gmt_shown_text, "-L/srv/secret/lib -isystem/srv/secret/inc", "-Llib -isysteminc");
    expect_shown(gmt_shown_text, "//nfs/secret/lib and ~/secret/x", "lib and ~x");
    expect_shown(gmt_shown_text, "file:///srv/secret/x `/srv/secret/y`", "file:x `y`");
    expect_shown(gmt_shown_text, "./secret/x of $HOME/secret/y", ".x of $HOMEy");
    expect_shown(gmt_shown_text, "/srv/my secret/mod.so", "mod.so");
    expect_shown(gmt_shown_text, "no /srv/the (secret), too/x.so, nor /a secret/y",
                 "no x.so, nor y");
    expect_shown(gmt_shown_text, "a / b, read/write // 3 MB/s", "a / b, read/write // 3 MB/s");
    expect_shown(gmt_shown_path, "/home/bob", "…");
    expect_shown(gmt_shown_path, "/usr/lib/x.so", "/usr/lib/x.so");
    expect_shown(gmt_shown_path, "/usr/home/carol/x.so", "x.so");
    expect_shown(gmt_shown_path, "/opt/a/site-packages/torch/t.py", "/site-packages/t.py");
    expect_shown(gmt_shown_base, "/srv/alice-tools", "…-tools");
    expect_shown(gmt_shown_settings, "output=a/t.db;cupti=/x/c;by=alice",
                 "output=t.db;cupti=c;by=…");
}
