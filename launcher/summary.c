/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace holds, in five lines: what ran, what was copied, allocated, launched and lost. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "launcher/launcher.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/steps/steps_derive.h"

/* The first row's first column; `otherwise` where there is none, or it is no integer. */
static int64_t number(sqlite3 *db, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = otherwise;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        (void)gmt_value_integer(statement, 0, &value);
    }
    sqlite3_finalize(statement);
    return value;
}

struct gmt_words gmt_words_of_bytes(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct gmt_words words;
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(words.text, sizeof(words.text), "%.*f %s",
                   unit == 0 || value >= 99.95 ? 0
                   : value >= 9.995            ? 1
                                               : 2,
                   value, units[unit]);
    return words;
}

struct gmt_words gmt_words_of_count(int64_t n, const char *one, const char *many)
{
    struct gmt_words words;
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRId64, n), used = 0;
    for (int i = 0; i < length; i++) {
        words.text[used++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length) {
            words.text[used++] = ',';
        }
    }
    (void)snprintf(words.text + used, sizeof(words.text) - (size_t)used, " %s",
                   n == 1 ? one : many);
    return words;
}

static void print_run(sqlite3 *db)
{
    bool simulated = number(db,
                            "SELECT 1 FROM capability WHERE name = 'software_device' AND "
                            "state = 'ok'",
                            0) != 0;
    int64_t wall_ns = number(db, "SELECT end_ns - start_ns FROM process", -1);
    if (simulated) {
        gmt_say(stderr, "gmtrace: on the software device: exact counts, no times\n");
    } else if (wall_ns >= 0) {
        gmt_say(stderr, "gmtrace: %.3f s from the first CUDA call to the end\n",
                (double)wall_ns / 1e9);
    } else {
        gmt_say(stderr, "gmtrace: how long it ran is not known\n");
    }
}

static void print_copies(sqlite3 *db)
{
    static const char pageable[] =
        "SELECT CAST(total(bytes) AS INTEGER) FROM transfer WHERE result = 0 AND capturing = 0 AND "
        "(dst_class = 'pageable' OR src_class = 'pageable')";
    int64_t count = number(db, "SELECT count(*) FROM transfer WHERE result = 0 AND capturing = 0",
                           0);
    if (count == 0) {
        gmt_say(stderr, "gmtrace: no copies\n");
        return;
    }
    struct gmt_words n = gmt_words_of_count(count, "copy", "copies");
    struct gmt_words all = gmt_words_of_bytes(number(
        db, "SELECT CAST(total(bytes) AS INTEGER) FROM transfer WHERE result = 0 AND capturing = 0",
        0));
    struct gmt_words slow = gmt_words_of_bytes(number(db, pageable, 0));
    gmt_say(stderr, "gmtrace: %s, %s, %s of them through pageable memory\n", n.text, all.text,
            slow.text);
}

static void print_allocations(sqlite3 *db)
{
    int64_t count = number(db, "SELECT count(*) FROM allocation", 0);
    if (count == 0) {
        gmt_say(stderr, "gmtrace: no allocations of device memory\n");
        return;
    }
    struct gmt_words n = gmt_words_of_count(count, "allocation", "allocations");
    struct gmt_words bytes = gmt_words_of_bytes(
        number(db, "SELECT CAST(total(bytes) AS INTEGER) FROM allocation", 0));
    int64_t live = number(db, "SELECT count(*) FROM allocation WHERE free_begin_ns IS NULL", 0);
    gmt_say(stderr, "gmtrace: %s of device memory, %s in all, %" PRId64 " never freed\n", n.text,
            bytes.text, live);
}

static void print_launches(sqlite3 *db)
{
    static const char classes[] = "SELECT count(DISTINCT class_id) FROM launch WHERE result = 0";
    int64_t count = number(db, "SELECT count(*) FROM launch WHERE result = 0", 0);
    if (count == 0) {
        gmt_say(stderr, "gmtrace: no launches of kernels\n");
        return;
    }
    struct gmt_words n = gmt_words_of_count(count, "launch", "launches");
    struct gmt_words kinds = gmt_words_of_count(number(db, classes, 0), "kernel",
                                                "kernels and shapes");
    int64_t measured = number(db, "SELECT count(DISTINCT launch_seq) FROM kernel_counters", 0);
    gmt_say(stderr, "gmtrace: %s of %s, %" PRId64 " measured\n", n.text, kinds.text, measured);
}

/* What most of the losses are, and why: a full disk is known at once by that. */
static void print_most_lost(sqlite3 *db, const char *losses)
{
    static const char sql[] = "SELECT kind || CASE WHEN length(detail) > 0 THEN ' (' || detail || "
                              "')' ELSE '' END FROM loss WHERE "
                              "kind != 'entry point not covered' ORDER BY count DESC LIMIT 1";
    sqlite3_stmt *statement = NULL;
    const char *text = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        (void)gmt_value_text(statement, 0, &text);
    }
    gmt_say(stderr, "gmtrace: %s%s%.100s; gmanalyze lists them\n", losses,
            text != NULL ? ", most of all: " : "", text != NULL ? text : "");
    sqlite3_finalize(statement);
}

/* Calls without a hook are reported by gmanalyze: nothing of them was lost on the way. */
static void print_losses(sqlite3 *db)
{
    int64_t lost = number(
        db,
        "SELECT CAST(total(count) AS INTEGER) FROM loss WHERE kind != 'entry point not covered'",
        0);
    if (lost == 0) {
        gmt_say(stderr, "gmtrace: nothing was lost\n");
    } else {
        struct gmt_words n = gmt_words_of_count(lost, "loss", "losses");
        print_most_lost(db, n.text);
    }
}

void gmt_launcher_summary(sqlite3 *db)
{
    print_run(db);
    if (gmt_steps_only(db)) {
        struct gmt_words n = gmt_words_of_count(
            number(db, "SELECT CAST(total(steps) AS INTEGER) FROM step", 0), "step", "steps");
        gmt_say(stderr, "gmtrace: sums over %s, no calls (--aggregate)\n", n.text);
    } else {
        print_copies(db);
        print_allocations(db);
        print_launches(db);
    }
    print_losses(db);
}
