/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a kernel as sums over its instructions, where nobody else counted them (sass.h). */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libtrace/record/unmeasured.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/sass/sass.h"

struct sass_metric {
    unsigned id;
    const char *name, *group, *cupti_name, *unit, *meaning;
};

static const struct sass_metric metrics[] = {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) \
    {id, #name, #group, cupti_name, unit, meaning},
#include "libtrace/metrics.def"
#undef GMT_METRIC
};

/* 'global_load_bytes' is the bytes of instructions of kind 'global_load'. Of copies from global to shared memory (LDGSTS) the
 * range profiler counts only instructions; their bytes have the metrics of the software device. */
static const char *const kinds[] = {"global_load", "global_store", "shared_load", "shared_store",
                                    "local_load",  "local_store",  "async_copy"};

/* The bytes of several lanes at one address are counted once by CUPTI's metrics, per lane here: an access
 * asked for no more than it touched. A copy to shared memory asks global memory: where others of the launch touched sectors and
 * it none, it filled with zeros (a source size of 0), whatever its passes through shared memory. Where none did, they were not
 * counted, and nor are the bytes: unknown. */
static const struct {
    const char *what, *value;
} values[] = {
    {"bytes",
     "CASE WHEN kind <> 'async_copy' THEN sum(1.0 * min(bytes, coalesce(32 * sectors, 128 * "
     "wavefronts))) WHEN count(sectors) > 0 THEN sum(1.0 * min(bytes, 32 * coalesce(sectors, "
     "0))) END"},
    {"ideal_sectors", "sum(1.0 * ideal_sectors)"},
    {"sectors", "sum(1.0 * sectors)"},
    {"wavefronts", "sum(1.0 * wavefronts)"},
    {"requests", "sum(1.0 * executed)"},
    {"instructions", "sum(1.0 * executed)"},
};

/* Launches whose classes nobody counted by software-patched counters. Accesses that went to several kinds
 * of memory cannot be distinguished as those do it. */
static const char bare[] =
    "CREATE TEMP TABLE bare_launch AS SELECT launch_seq, class_id FROM main.instruction "
    "WHERE source = 'sass' AND class_id NOT IN (SELECT class_id FROM main.kernel_counters "
    "WHERE grp = 'patched' AND value IS NOT NULL) GROUP BY launch_seq, class_id "
    "HAVING sum(kind = 'generic') = 0";

static int add(sqlite3 *db, const struct sass_metric *metric, const char *kind, const char *value)
{
    char *sql = sqlite3_mprintf(
        "INSERT OR IGNORE INTO main.metric(id, name, source_name, grp, unit, meaning) "
        "SELECT %u, %Q, %Q, 'patched', %Q, %Q WHERE EXISTS (SELECT 1 FROM temp.bare_launch);"
        "INSERT INTO main.kernel_counters(launch_seq, class_id, metric_id, value, source, grp, "
        "samples) SELECT b.launch_seq, b.class_id, %u, CASE WHEN i.launch_seq IS NULL THEN 0 ELSE "
        "i.value END, 'patched', 'patched', "
        "1 FROM temp.bare_launch b LEFT JOIN (SELECT launch_seq, class_id, %s AS value FROM "
        "main.instruction WHERE source = 'sass' AND kind = %Q GROUP BY launch_seq, class_id) i "
        "ON i.launch_seq = b.launch_seq AND i.class_id = b.class_id",
        metric->id, metric->name, metric->cupti_name, metric->unit, metric->meaning, metric->id,
        value, kind);
    int error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return error;
}

static int add_if_sum(sqlite3 *db, const struct sass_metric *metric)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        size_t length = strlen(kinds[k]);
        if (strncmp(metric->name, kinds[k], length) != 0 || metric->name[length] != '_') {
            continue;
        }
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            if (strcmp(metric->name + length + 1, values[v].what) == 0) {
                return add(db, metric, kinds[k], values[v].value);
            }
        }
    }
    return 0;
}

/* Bulk copies have neither lanes nor sectors: accesses of no other kind are counted without any. */
static int add_bulk_copies(sqlite3 *db, const struct sass_metric *metric)
{
    return strcmp(metric->name, "tma_instructions") == 0
               ? add(db, metric, "other", "sum(CASE WHEN lanes = 0 THEN 1.0 * executed ELSE 0 END)")
               : 0;
}

/* Of classes whose counts gave no sums. */
static int note_mixed(sqlite3 *db)
{
    char *sql = sqlite3_mprintf(
        "INSERT OR IGNORE INTO main.loss SELECT 'kernel class measured only in part', k.mangled || "
        "': ' || %Q, 1 FROM main.kernel_class c JOIN main.kernel k ON k.id = c.kernel_id "
        "WHERE k.mangled IS NOT NULL AND c.id IN "
        "(SELECT class_id FROM main.instruction WHERE source = 'sass' AND kind = 'generic') "
        "AND c.id NOT IN (SELECT class_id FROM main.kernel_counters WHERE grp = 'patched' "
        "AND value IS NOT NULL)",
        gmt_unmeasured_texts[GMT_UNMEASURED_MIXED].reason);
    int error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return error;
}

int gmt_sass_counters(sqlite3 *db)
{
    int error = gmt_database_exec(db, bare);
    for (size_t i = 0; error == 0 && i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        bool copies = strncmp(metrics[i].name, "async_copy_", strlen("async_copy_")) == 0;
        if (strcmp(metrics[i].group, "PATCHED") == 0 || copies) {
            error = add_if_sum(db, &metrics[i]);
        }
        error = error == 0 ? add_bulk_copies(db, &metrics[i]) : error;
    }
    if (error == 0) {
        error = note_mixed(db);
    }
    return error == 0 ? gmt_database_exec(db, "DROP TABLE temp.bare_launch") : error;
}
