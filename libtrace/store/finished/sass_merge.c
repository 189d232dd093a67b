/* SPDX-License-Identifier: Apache-2.0 */
/* Takes instructions that a second run of a program counted into the trace of the first. */
#include "libtrace/store/finished/sass_merge.h"

#include <errno.h>
#include <stdio.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/sass/sass.h"
#include "libtrace/store/symbols/sources.h"

/* Kernels are the same by their mangled name; of several with one name (in modules of their own) the
 * first is the first, as long as both runs have as many. */
#define KERNELS(db) \
    "(SELECT id, mangled, row_number() OVER (PARTITION BY mangled ORDER BY id) AS place, " \
    "count(*) OVER (PARTITION BY mangled) AS places FROM " db ".kernel)"
#define SHAPE_IS(a, b) \
    a ".grid_x IS " b ".grid_x AND " a ".grid_y IS " b ".grid_y AND " a ".grid_z IS " b \
      ".grid_z AND " a ".block_x IS " b ".block_x AND " a ".block_y IS " b ".block_y AND " a \
      ".block_z IS " b ".block_z AND " a ".cluster_x IS " b ".cluster_x AND " a ".cluster_y IS " b \
      ".cluster_y AND " a ".cluster_z IS " b ".cluster_z AND " a ".dynamic_shared_bytes IS " b \
      ".dynamic_shared_bytes"

/* What was counted of the n-th counted launch of a class is reported as of the n-th launch of the class here:
 * a launch of its own number need not exist. */
static const char *const steps[] = {
    "CREATE TEMP TABLE same_class AS SELECT d.id AS theirs, min(m.id) AS ours "
    "FROM " KERNELS("deep") " dk JOIN " KERNELS(
        "main") " mk ON mk.mangled = dk.mangled "
                "AND mk.place = dk.place AND mk.places = dk.places "
                "JOIN deep.kernel_class d ON d.kernel_id = dk.id "
                "JOIN main.kernel_class m ON m.kernel_id = mk.id AND " SHAPE_IS(
                    "m", "d") " WHERE d.id IN (SELECT class_id FROM deep.instruction WHERE source "
                              "= 'sass') GROUP BY d.id",

    "CREATE TEMP TABLE same_launch AS SELECT t.seq AS theirs, o.seq AS ours, t.class_id, "
    "c.ours AS our_class FROM (SELECT seq, class_id, row_number() OVER "
    "(PARTITION BY class_id ORDER BY seq) AS place FROM (SELECT DISTINCT launch_seq AS seq, "
    "class_id FROM deep.instruction WHERE source = 'sass')) t JOIN same_class c "
    "ON c.theirs = t.class_id JOIN (SELECT seq, class_id, row_number() OVER "
    "(PARTITION BY class_id ORDER BY seq) AS place FROM main.launch WHERE capturing = 0 "
    "AND result = 0) o ON o.class_id = c.ours AND o.place = t.place",

    "INSERT OR IGNORE INTO main.string(text) SELECT s.text FROM deep.string s WHERE s.id IN "
    "(SELECT function_id FROM deep.instruction UNION SELECT opcode_id FROM deep.instruction "
    "UNION SELECT file_id FROM deep.instruction UNION SELECT caller_file_id FROM deep.instruction "
    "UNION SELECT function_id FROM deep.inline_level UNION SELECT file_id FROM deep.inline_level)",

    "CREATE TEMP TABLE same_string AS SELECT d.id AS theirs, m.id AS ours FROM deep.string d "
    "JOIN main.string m ON m.text = d.text",
    "CREATE INDEX temp.same_string_theirs ON same_string(theirs)",

    /* What the first run counted is the same, and less of it. */
    "DELETE FROM main.instruction WHERE source = 'sass' AND class_id IN (SELECT our_class FROM "
    "same_launch)",

    "INSERT INTO main.instruction(launch_seq, class_id, site, function_id, opcode_id, file_id, "
    "line, "
    "column, caller_file_id, caller_line, width, kind, executed, lanes, requests, bytes, sectors, "
    "ideal_sectors, lines, wavefronts, ideal_wavefronts, source, cubin_crc, pc_offset, chain_id) "
    "SELECT l.ours, l.our_class, i.site, f.ours, o.ours, s.ours, i.line, i.column, c.ours, "
    "i.caller_line, i.width, i.kind, i.executed, i.lanes, i.requests, i.bytes, i.sectors, "
    "i.ideal_sectors, i.lines, i.wavefronts, i.ideal_wavefronts, i.source, i.cubin_crc, "
    "i.pc_offset, i.chain_id "
    "FROM deep.instruction i JOIN same_launch l ON l.theirs = i.launch_seq "
    "AND l.class_id = i.class_id LEFT JOIN same_string f ON f.theirs = i.function_id "
    "LEFT JOIN same_string o ON o.theirs = i.opcode_id "
    "LEFT JOIN same_string s ON s.theirs = i.file_id "
    "LEFT JOIN same_string c ON c.theirs = i.caller_file_id WHERE i.source = 'sass'",

    "INSERT OR IGNORE INTO main.inline_level(chain_id, level, function_id, file_id, line) "
    "SELECT l.chain_id, l.level, f.ours, s.ours, l.line FROM deep.inline_level l "
    "LEFT JOIN same_string f ON f.theirs = l.function_id "
    "LEFT JOIN same_string s ON s.theirs = l.file_id "
    "WHERE l.chain_id IN (SELECT chain_id FROM main.instruction)",

    "INSERT OR IGNORE INTO main.cubin SELECT * FROM deep.cubin WHERE crc IN "
    "(SELECT cubin_crc FROM main.instruction)",

    "INSERT INTO main.loss SELECT 'counts of instructions of a second run', "
    "'the first run had no such launch', count(*) FROM (SELECT DISTINCT launch_seq, class_id "
    "FROM deep.instruction WHERE source = 'sass' AND launch_seq NOT IN "
    "(SELECT theirs FROM same_launch)) HAVING count(*) > 0",
    "INSERT OR IGNORE INTO main.loss SELECT * FROM deep.loss WHERE kind LIKE 'cubin %' "
    "OR kind = 'launch without counts of instructions'",
    "INSERT OR REPLACE INTO main.capability SELECT * FROM deep.capability "
    "WHERE name = 'instructions'",
};

/* What the first run said of kernels whose classes have all counters now. */
static const char known_now[] =
    "DELETE FROM main.loss WHERE kind = 'kernel class measured only in part' "
    "AND substr(detail, 1, instr(detail, ': ') - 1) IN (SELECT mangled FROM (SELECT k.mangled, "
    "EXISTS (SELECT 1 FROM main.kernel_counters v WHERE v.class_id = c.id AND v.grp = 'hardware' "
    "AND v.value IS NOT NULL) AND EXISTS (SELECT 1 FROM main.kernel_counters v WHERE "
    "v.class_id = c.id AND v.grp = 'patched' AND v.value IS NOT NULL) AS known "
    "FROM main.kernel_class c JOIN main.kernel k ON k.id = c.kernel_id) "
    "WHERE mangled IS NOT NULL GROUP BY mangled HAVING min(known) = 1)";

static int merge(sqlite3 *db)
{
    int error = gmt_database_exec(db, "BEGIN IMMEDIATE");
    for (size_t i = 0; error == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
        error = gmt_database_exec(db, steps[i]);
    }
    if (error == 0) {
        error = gmt_sass_counters(db);
    }
    if (error == 0) {
        error = gmt_database_exec(db, known_now);
    }
    if (error == 0) {
        error = gmt_sources_embed(db, GMT_SOURCE_BUDGET_NS);
    }
    return error == 0 ? gmt_database_exec(db, "COMMIT") : error;
}

int gmt_sass_merge(const char *into, const char *from)
{
    sqlite3 *db = NULL;
    char message[256];
    /* What is attached is not opened by us: so it is looked at first. */
    int error = gmt_trace_open(from, GMT_TRACE_ALLOW_INCOMPLETE, &db, message, sizeof(message));
    sqlite3_close(db);
    if (error != 0 || (error = gmt_database_open(into, &db)) != 0) {
        return error;
    }
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);
    char *attach = sqlite3_mprintf("ATTACH %Q AS deep", from);
    error = attach != NULL ? gmt_database_exec(db, attach) : -ENOMEM;
    sqlite3_free(attach);
    if (error == 0) {
        error = merge(db);
    }
    gmt_database_close(db);
    return error;
}

int gmt_sass_note_missing(const char *path, const char *why, const char *remedy)
{
    sqlite3 *db = NULL;
    int error = gmt_database_open(path, &db);
    if (error != 0) {
        return error;
    }
    char *sql = sqlite3_mprintf("INSERT OR REPLACE INTO capability(name, state, detail, remedy) "
                                "VALUES ('instructions', 'missing', %Q, nullif(%Q, ''))",
                                why, remedy);
    error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    gmt_database_close(db);
    return error;
}
