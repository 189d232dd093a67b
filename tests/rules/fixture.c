/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic trace in memory, analysed: schema.sql + common.sql + one fixture, with model.json. */
#include "tests/rules/fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/traits.h"
#include "reports/model/words.h"

#define GMT_RULES_DIRECTORY GMT_SOURCE_DIR "/tests/rules"

/* All that is left of it; the caller frees. */
static char *read_stream(FILE *file)
{
    char *text = NULL;
    size_t used = 0, n;

    do {
        char *grown = realloc(text, used + 65537);

        cr_assert_not_null(grown);
        text = grown;
        n = fread(text + used, 1, 65536, file);
        used += n;
    } while (n > 0);
    text[used] = '\0';
    return text;
}

char *gmt_fixture_read(const char *path)
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        return NULL;
    }
    char *text = read_stream(file);
    fclose(file);
    return text;
}

void gmt_fixture_sql(struct gmt_fixture *fixture, const char *sql)
{
    char *error = NULL;

    sqlite3_exec(fixture->db, sql, NULL, NULL, &error);
    cr_assert_null(error, "%s", error);
}

/* Views would hold on to columns. */
static void drop_views(struct gmt_fixture *fixture)
{
    sqlite3_stmt *row = NULL;
    char *sql = NULL;

    cr_assert_eq(sqlite3_prepare_v2(fixture->db,
                                    "SELECT group_concat('DROP VIEW ' || name, ';') FROM "
                                    "sqlite_master WHERE type = 'view'",
                                    -1, &row, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    sql = strdup((const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    gmt_fixture_sql(fixture, sql);
    free(sql);
}

void gmt_fixture_make_earlier(struct gmt_fixture *fixture, const char *sql)
{
    sqlite3 *model = NULL;

    drop_views(fixture);
    gmt_fixture_sql(fixture, sql);
    cr_assert_eq(gmt_own_schema(&model), 0);
    cr_assert_eq(gmt_own_schema_views(fixture->db, model, GMT_SCHEMA_WHOLE), 0);
    cr_assert_eq(gmt_traits_complete(fixture->db), 0);
    sqlite3_close(model);
}

static void run_file(struct gmt_fixture *fixture, const char *path)
{
    char *sql = gmt_fixture_read(path);

    cr_assert_not_null(sql, "%s is missing", path);
    gmt_fixture_sql(fixture, sql);
    free(sql);
}

void gmt_fixture_load(struct gmt_fixture *fixture, const char *name)
{
    char path[512], message[256] = "";

    *fixture = (struct gmt_fixture){0};
    cr_assert_eq(sqlite3_open(":memory:", &fixture->db), SQLITE_OK);
    run_file(fixture, GMT_SOURCE_DIR "/libtrace/store/db/schema.sql");
    run_file(fixture, GMT_RULES_DIRECTORY "/common.sql");
    snprintf(path, sizeof(path), GMT_RULES_DIRECTORY "/%s.sql", name);
    run_file(fixture, path);
    int rc = gmt_model_read(&fixture->model, GMT_RULES_DIRECTORY "/model.json", message,
                            sizeof(message));
    cr_assert_eq(rc, 0, "%s", message);
    fixture->model.origin = "model.json";
}

void gmt_fixture_load_positive(struct gmt_fixture *fixture, const char *rule, const char *sql)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "fixtures/%s_positive", rule);
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
}

void gmt_fixture_drop_model(struct gmt_fixture *fixture)
{
    gmt_model_free(&fixture->model);
}

/* As the recorder does, which names the functions. */
static void say_traits(struct gmt_fixture *fixture)
{
    if (gmt_trace_has_column(fixture->db, "api", "traits")) {
        cr_assert_eq(gmt_traits_register(fixture->db), 0);
        gmt_fixture_sql(fixture, "UPDATE main.api SET traits = gmt_traits(name) "
                                 "WHERE traits IS NULL");
    }
}

void gmt_fixture_analyze(struct gmt_fixture *fixture, const char *rule)
{
    gmt_fixture_analyze_by(fixture, &rule, rule != NULL);
}

void gmt_fixture_analyze_by(struct gmt_fixture *fixture, const char *const *rules, size_t count)
{
    struct gmt_rule_filter filter = {.only = rules, .only_count = count};
    char message[256] = "";

    say_traits(fixture);
    int rc = gmt_timeline_load(&fixture->timeline, fixture->db, message, sizeof(message));

    cr_assert_eq(rc, 0, "%s", message);
    if (fixture->model.provenance != GMT_MODEL_NONE) {
        fixture->model.provenance = gmt_model_judge(&fixture->model, fixture->timeline.device.name,
                                                    fixture->timeline.device.uuid);
    }
    fixture->report = (struct gmt_report){.arena = &fixture->arena, .trace_path = "trace.db"};
    cr_assert_eq(gmt_analyze(&fixture->timeline, &fixture->model, &filter, &fixture->report), 0);
}

void gmt_fixture_free(struct gmt_fixture *fixture)
{
    gmt_timeline_free(&fixture->timeline);
    gmt_model_free(&fixture->model);
    gmt_arena_free(&fixture->arena);
    sqlite3_close(fixture->db);
}

const struct gmt_finding *gmt_fixture_only(struct gmt_fixture *fixture, const char *rule)
{
    gmt_fixture_analyze(fixture, rule);
    cr_assert_eq(fixture->report.finding_count, 1, "%s: %s", rule,
                 gmt_fixture_found(&fixture->report));
    return &fixture->report.findings[0];
}

static void list(FILE *out, const char *kind, const struct gmt_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct gmt_finding *f = &findings[i];

        fprintf(out, "\n    %s %s, %s, at %s: %s", kind, f->rule, gmt_severity_name(f->severity),
                f->where.label, f->headline);
    }
}

const char *gmt_fixture_found(const struct gmt_report *report)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof(text), "w");

    cr_assert_not_null(out);
    fprintf(out, "%zu findings, %zu notes", report->finding_count, report->note_count);
    list(out, "finding", report->findings, report->finding_count);
    list(out, "note", report->notes, report->note_count);
    fclose(out);
    text[sizeof(text) - 1] = '\0';
    return text;
}

char *gmt_fixture_difference(const char *path, const char *text)
{
    char made[] = "/tmp/gmtrace-golden.XXXXXX", command[1024];
    int fd = mkstemp(made);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(command, sizeof(command), "diff -u --label golden --label now '%s' %s | head -n 40",
             path, made);
    /* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test's own fixed command. */
    file = popen(command, "r");
    cr_assert_not_null(file);
    char *difference = read_stream(file);
    pclose(file);
    (void)unlink(made);
    return difference;
}

double gmt_fixture_evidence(const struct gmt_finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            return finding->evidence[i].value;
        }
    }
    return NAN;
}

/* ---- a file -------------------------------------------------------------------------------------- */

/* The golden trace has no records of the device, and no calls of these kinds. */
static const char more_rows[] =
    "INSERT INTO device_op (kind, context_id, correlation, start_ns, end_ns, call_id) SELECT "
    "'kernel', context_id, id, device_start_ns, device_end_ns, id FROM launch; "
    "INSERT INTO device_op (kind, context_id, correlation, start_ns, end_ns, call_id) SELECT "
    "'copy', "
    "context_id, 100000 + id, device_start_ns, device_end_ns, id FROM transfer; "
    "INSERT INTO api_call (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, "
    "capturing) SELECT 100000 + id, api_id, thread_id, context_id, stream_id, begin_ns + 1, "
    "end_ns, 0, 0 "
    "FROM launch;";

const char *gmt_fixture_make_file(const char *sql)
{
    static char path[64];
    struct gmt_fixture fixture;
    char text[256];

    snprintf(path, sizeof(path), "/tmp/gmt_fixture_%ld.db", (long)getpid());
    (void)unlink(path);
    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, more_rows);
    gmt_fixture_sql(&fixture, sql);
    snprintf(text, sizeof(text),
             "PRAGMA application_id = %d; PRAGMA user_version = %d; VACUUM INTO '%s'",
             GMT_TRACE_APPLICATION_ID, GMT_TRACE_USER_VERSION, path);
    gmt_fixture_sql(&fixture, text);
    gmt_fixture_free(&fixture);
    return path;
}
