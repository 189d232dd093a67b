/* SPDX-License-Identifier: Apache-2.0 */
/* Reads v_line and source_file. */
#include "analyzer/trace/source_lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/trace/inline_chains.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/symbols/sources.h"

/*
 * Instructions without a line are identified by their offset, if the trace has it. The view is read once: it goes
 * through all instructions, and what is summed over it per kernel comes from the same rows.
 */
static const char lines_sql[] =
    "WITH line AS (SELECT * FROM v_line), "
    "total AS (SELECT kernel_id, sum(excess_bytes) AS excess_bytes FROM line GROUP BY kernel_id), "
    "counted AS (SELECT c.kernel_id AS kernel_id, count(DISTINCT i.launch_seq) AS launches "
    "FROM instruction i JOIN kernel_class c ON c.id = i.class_id GROUP BY c.kernel_id) "
    "SELECT l.kernel_id, l.kernel, n.launches, l.source, l.file, l.line, l.ptx_line, "
    "l.kind, CASE WHEN l.pc_offset IS NULL THEN l.opcodes ELSE coalesce(l.opcodes, '') || "
    "printf(' +0x%x', l.pc_offset) END, l.instructions, l.executed, l.lanes, l.requests, l.bytes, "
    "l.sectors, l.ideal_sectors, l.wavefronts, l.ideal_wavefronts, l.excess_bytes, t.excess_bytes "
    "FROM line l JOIN total t ON t.kernel_id = l.kernel_id "
    "JOIN counted n ON n.kernel_id = l.kernel_id "
    "ORDER BY coalesce(t.excess_bytes, 0) DESC, l.kernel_id, l.file IS NULL, "
    "sum(l.excess_bytes) OVER (PARTITION BY l.kernel_id, l.file) DESC, l.file, l.line, "
    "l.ptx_line, l.kind, 9";

static void read_line(struct gmt_query *query, struct gmt_arena *arena, double launches,
                      struct gmt_source_line *line)
{
    double *const counts[] = {
        &line->executed,    &line->lanes,         &line->requests,   &line->bytes,
        &line->sectors,     &line->ideal_sectors, &line->wavefronts, &line->ideal_wavefronts,
        &line->excess_bytes};

    line->file = gmt_query_text(query, 4, arena);
    line->line = gmt_query_count(query, 5);
    line->ptx_line = gmt_query_count(query, 6);
    line->kind = gmt_query_text(query, 7, arena);
    line->opcodes = gmt_query_text(query, 8, arena);
    line->instructions = gmt_query_real(query, 9);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        *counts[i] = gmt_query_real(query, 10 + (int)i) / launches;
    }
}

static int read_row(struct gmt_query *query, struct gmt_arena *arena,
                    struct gmt_kernel_lines **kernels, size_t *count)
{
    struct gmt_kernel_lines *kernel = *count > 0 ? &(*kernels)[*count - 1] : NULL;
    int64_t id = gmt_query_id(query, 0);

    if (kernel == NULL || kernel->kernel_id != id) {
        const char *source = gmt_query_text(query, 3, arena);

        kernel = GMT_PUSH(arena, *kernels, *count);
        if (kernel == NULL) {
            return -ENOMEM;
        }
        int64_t launches = gmt_query_count(query, 2);
        double excess = gmt_query_real(query, 19);

        *kernel = (struct gmt_kernel_lines){
            .kernel_id = id,
            .kernel = gmt_query_text(query, 1, arena),
            .launches = launches > 0 ? launches : 1,
            .simulated = source != NULL && strcmp(source, "simulated") == 0,
        };
        kernel->excess_bytes = isfinite(excess) ? excess / (double)kernel->launches : 0;
    }
    struct gmt_source_line *line = GMT_PUSH(arena, kernel->lines, kernel->line_count);

    if (line == NULL) {
        return -ENOMEM;
    }
    read_line(query, arena, (double)kernel->launches, line);
    return line->kind != NULL ? 0 : -ENOMEM;
}

/* ---- inline chains ------------------------------------------------------------------------------ */

#define CHAINS_SQL(table, chain) \
    "SELECT c.kernel_id, f.text, i.line, i.kind, " chain ", o.text, i.caller_line FROM " table \
    " i JOIN kernel_class c ON c.id = i.class_id JOIN string f ON f.id = i.file_id " \
    "JOIN string o ON o.id = i.caller_file_id GROUP BY 1, 2, 3, 4, 5, 6, 7 " \
    "ORDER BY sum(coalesce(i.sectors - coalesce(i.ideal_sectors, 0), " \
    "i.wavefronts - coalesce(i.ideal_wavefronts, 0), 0)) DESC, 6, 7, 5"

/* A line, and what a row says of which it is. */
struct line_key {
    int64_t kernel_id, number;
    const char *file, *kind;
    struct gmt_source_line *line;
};

static int compare_keys(const void *a, const void *b)
{
    const struct line_key *x = a, *y = b;

    if (x->kernel_id != y->kernel_id) {
        return x->kernel_id < y->kernel_id ? -1 : 1;
    }
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : strcmp(x->kind, y->kind);
}

/* The lines of all kernels, sorted by what distinguishes them. */
static struct line_key *keys_of(struct gmt_arena *arena, const struct gmt_kernel_lines *kernels,
                                size_t count, size_t *key_count)
{
    struct line_key *keys = NULL;

    *key_count = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < kernels[i].line_count; k++) {
            struct gmt_source_line *line = &kernels[i].lines[k];
            struct line_key *key = line->file != NULL ? GMT_PUSH(arena, keys, *key_count) : NULL;

            if (key != NULL) {
                *key = (struct line_key){.kernel_id = kernels[i].kernel_id,
                                         .number = line->line,
                                         .file = line->file,
                                         .kind = line->kind,
                                         .line = line};
            }
        }
    }
    if (*key_count > 0) {
        qsort(keys, *key_count, sizeof(*keys), compare_keys);
    }
    return keys;
}

static void add_chain(struct gmt_query *query, struct gmt_arena *arena, struct line_key *keys,
                      size_t key_count, const struct gmt_chain_table *table)
{
    struct line_key wanted = {.kernel_id = gmt_query_id(query, 0),
                              .number = gmt_query_int(query, 2),
                              .file = gmt_query_text(query, 1, arena),
                              .kind = gmt_query_text(query, 3, arena)};
    struct line_key *key = wanted.file != NULL && wanted.kind != NULL
                               ? bsearch(&wanted, keys, key_count, sizeof(*keys), compare_keys)
                               : NULL;

    if (key == NULL || key->line->all_chains++ >= GMT_LINE_CHAINS) {
        return;
    }
    struct gmt_inline_chain *chain = GMT_PUSH(arena, key->line->chains, key->line->chain_count);
    if (chain != NULL) {
        *chain = gmt_chain_of(table, arena, gmt_query_int(query, 4),
                              gmt_query_text(query, 5, arena), gmt_query_int(query, 6));
    }
}

/* Which calls the lines were inlined at, the ones with the most excess first. */
static int add_chains(sqlite3 *db, struct gmt_arena *arena, const struct gmt_kernel_lines *kernels,
                      size_t count)
{
    size_t key_count;
    struct line_key *keys = keys_of(arena, kernels, count, &key_count);
    struct gmt_chain_table table;
    struct gmt_query query;
    int rc = gmt_chain_table_load(db, arena, &table);

    if (rc != 0 || key_count == 0) {
        return rc;
    }
    rc = gmt_query_open(&query, db,
                        gmt_has_chains(db) ? CHAINS_SQL("v_counted_instruction", "i.chain_id")
                                           : CHAINS_SQL("instruction", "NULL"));
    while (rc == 0 && gmt_query_next(&query)) {
        add_chain(&query, arena, keys, key_count, &table);
    }
    return gmt_query_close(&query, rc);
}

int gmt_kernel_lines_load(sqlite3 *db, struct gmt_arena *arena, struct gmt_kernel_lines **kernels,
                          size_t *count)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, lines_sql), full = 0;

    *kernels = NULL;
    *count = 0;
    while (rc == 0 && full == 0 && gmt_query_next(&query)) {
        full = read_row(&query, arena, kernels, count);
    }
    rc = gmt_query_close(&query, rc);
    if (rc != 0 || full != 0) {
        return full != 0 ? full : rc;
    }
    return add_chains(db, arena, *kernels, *count);
}

bool gmt_source_line_ratio(const struct gmt_source_line *line, double *actual, double *ideal)
{
    bool shared = isfinite(line->wavefronts);
    double passes = shared ? line->wavefronts : line->sectors;
    double least = shared ? line->ideal_wavefronts : line->ideal_sectors;

    if (!isfinite(passes) || !(line->requests > 0)) {
        return false;
    }
    *actual = passes / line->requests;
    *ideal = least / line->requests;
    return true;
}

/* ---- text --------------------------------------------------------------------------------------- */

static void split(struct gmt_arena *arena, char *text, struct gmt_source_text *source)
{
    while (*text != '\0') {
        char *end = text + strcspn(text, "\n");
        bool last = *end == '\0';
        const char **line = GMT_PUSH(arena, source->lines, source->line_count);

        if (line == NULL) {
            return;
        }
        *line = text;
        *end = '\0';
        if (last) {
            return;
        }
        text = end + 1;
    }
}

/* The file on this machine, or NULL. A trace may name anything: no pipe is waited for. */
static char *read_disk(struct gmt_arena *arena, const char *file)
{
    enum { LIMIT = 4 << 20 };
    struct stat info;
    int fd = gmt_sources_open_file(file);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *text = NULL;

    if (in != NULL && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size < LIMIT) {
        text = gmt_arena_alloc(arena, (size_t)info.st_size + 1);
    }
    if (text != NULL) {
        size_t length = fread(text, 1, (size_t)info.st_size, in);

        text[length] = '\0';
        if (ferror(in) || memchr(text, '\0', length) != NULL) {
            text = NULL;
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    return text;
}

const char *gmt_source_trimmed(struct gmt_arena *arena, const char *line)
{
    const char *begin = line + strspn(line, " \t");
    const char *comment = strstr(begin, "//");
    /* "http://" in a string is no comment, but a quotation may end there all the same. */
    size_t length = comment != NULL && comment > begin ? (size_t)(comment - begin) : strlen(begin);

    while (length > 0 && strchr(" \t\r", begin[length - 1]) != NULL) {
        length--;
    }
    return length > 0 ? gmt_arena_text(arena, "%.*s", (int)length, begin) : NULL;
}

struct gmt_source_text gmt_source_text_load(sqlite3 *db, struct gmt_arena *arena, const char *file,
                                            bool disk)
{
    struct gmt_source_text source = {.file = file};
    struct gmt_query query;
    char *text = NULL;
    /* A trace of an earlier version has no such table. */
    int rc = gmt_query_open(&query, db,
                            "SELECT f.state, f.text FROM source_file f JOIN string s "
                            "ON s.id = f.file_id WHERE s.text = ?1");

    if (rc == 0) {
        sqlite3_bind_text(query.statement, 1, file, -1, SQLITE_STATIC);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        source.missing = gmt_query_text(&query, 0, arena);
        text = gmt_query_text(&query, 1, arena);
    }
    (void)gmt_query_close(&query, rc);
    if (text == NULL && disk) {
        text = read_disk(arena, file);
        source.from_disk = text != NULL;
    }
    if (text == NULL) {
        source.missing = source.missing != NULL ? source.missing : "not in the trace";
        return source;
    }
    source.missing = NULL;
    split(arena, text, &source);
    return source;
}
