/* SPDX-License-Identifier: Apache-2.0 */
/* The page's source view: what each line of a kernel moved, and the text of the files. */
#include <math.h>

#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/source_lines.h"
#include "libtrace/record/checked.h"
#include "reports/json/json_values.h"
#include "reports/model/inlining.h"

/* Text of all files that a page carries; beyond it files are named without their text. */
enum { MAX_SOURCE_BYTES = 4 << 20 };

static int64_t whole(double value)
{
    return isfinite(value) ? gmt_integer_clamped(round(value)) : GMT_UNKNOWN;
}

/* The calls that it was inlined at, one chain after the other; NULL: it was not. */
static const char *inlined(struct gmt_page *page, const struct gmt_source_line *line)
{
    struct gmt_arena *arena = page->report->arena;
    const char *text = NULL;

    for (size_t i = 0; i < line->chain_count; i++) {
        const char *words = gmt_chain_words(arena, &line->chains[i], false);

        text = text == NULL ? words : gmt_arena_text(arena, "%s; %s", text, words);
    }
    return line->all_chains > line->chain_count
               ? gmt_arena_text(arena, "%s; and in %zu other ways", text != NULL ? text : "",
                                line->all_chains - line->chain_count)
               : text;
}

/* "3,7": two modules can have kernels of one name, which their classes distinguish. */
static const char *classes_of(struct gmt_page *page, struct gmt_arena *arena, int64_t kernel_id)
{
    struct gmt_query query;
    const char *classes = NULL;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT group_concat(id) FROM (SELECT id FROM kernel_class "
                            "WHERE kernel_id = ?1 ORDER BY id)");

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, kernel_id);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        classes = gmt_query_text(&query, 0, arena);
    }
    (void)gmt_query_close(&query, rc);
    return classes;
}

static void write_line(struct gmt_page *page, struct gmt_page_table *table,
                       const struct gmt_kernel_lines *kernel, const char *classes,
                       const struct gmt_source_line *line)
{
    double launches = (double)kernel->launches;
    int64_t row[] = {
        gmt_payload_string(page->payload, kernel->kernel),
        kernel->launches,
        gmt_payload_string(page->payload, line->file),
        line->file != NULL ? line->line : line->ptx_line,
        gmt_payload_string(page->payload, line->kind),
        gmt_payload_string(page->payload, line->opcodes),
        whole(line->executed * launches),
        whole(line->requests * launches),
        whole(line->sectors * launches),
        whole(line->ideal_sectors * launches),
        whole(line->wavefronts * launches),
        whole(line->ideal_wavefronts * launches),
        whole(line->excess_bytes * launches),
        gmt_payload_string(page->payload, inlined(page, line)),
        gmt_payload_string(page->payload, classes),
    };

    gmt_payload_row(page->payload, table, row);
}

/* head.sources: the text of embedded files by their name. */
static void write_sources(struct gmt_page *page)
{
    json_t *sources = json_object();
    struct gmt_query query;
    size_t bytes = 0;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT s.text, f.text FROM source_file f JOIN string s "
                            "ON s.id = f.file_id WHERE f.text IS NOT NULL AND f.file_id IN "
                            "(SELECT file_id FROM instruction) ORDER BY f.bytes, s.text");

    while (rc == 0 && gmt_query_next(&query)) {
        /* No name: it may be as long as the file. */
        const char *text = (const char *)sqlite3_column_text(query.statement, 1);

        bytes += (size_t)sqlite3_column_bytes(query.statement, 1);
        if (bytes > MAX_SOURCE_BYTES) {
            break;
        }
        json_t *value = gmt_json_code(text);
        const char *name = gmt_query_text_here(&query, 0);
        json_t *key = gmt_json_text(name);

        if (json_is_string(key)) {
            json_object_set_new(sources, json_string_value(key), value);
        } else {
            json_decref(value);
        }
        json_decref(key);
    }
    (void)gmt_query_close(&query, rc); /* a trace of an earlier version has no such table */
    if (json_object_set_new(page->payload->head, "sources", sources) != 0) {
        page->payload->failed = true;
    }
}

void gmt_page_write_lines(struct gmt_page *page)
{
    static const struct gmt_column_head heads[] = {
        {"kernel_name", GMT_ENCODE_STRING},  {"launches", GMT_ENCODE_VARINT},
        {"file", GMT_ENCODE_STRING},         {"line", GMT_ENCODE_VARINT},
        {"access", GMT_ENCODE_STRING},       {"opcodes", GMT_ENCODE_STRING},
        {"executed", GMT_ENCODE_VARINT},     {"requests", GMT_ENCODE_VARINT},
        {"sectors", GMT_ENCODE_VARINT},      {"ideal_sectors", GMT_ENCODE_VARINT},
        {"wavefronts", GMT_ENCODE_VARINT},   {"ideal_wavefronts", GMT_ENCODE_VARINT},
        {"excess_bytes", GMT_ENCODE_VARINT}, {"inlined", GMT_ENCODE_STRING},
        {"classes", GMT_ENCODE_STRING},
    };
    struct gmt_kernel_lines *kernels = NULL;
    struct gmt_arena arena = {0};
    size_t count = 0;

    if (page->timeline->has_instructions &&
        gmt_kernel_lines_load(page->timeline->db, &arena, &kernels, &count) == 0) {
        struct gmt_page_table *table = gmt_payload_table(page->payload, "source_line", heads,
                                                         sizeof(heads) / sizeof(heads[0]));

        for (size_t i = 0; i < count; i++) {
            const char *classes = classes_of(page, &arena, kernels[i].kernel_id);

            for (size_t k = 0; k < kernels[i].line_count; k++) {
                write_line(page, table, &kernels[i], classes, &kernels[i].lines[k]);
            }
        }
        write_sources(page);
    }
    if (arena.failed) {
        page->payload->failed = true;
    }
    gmt_arena_free(&arena);
}
