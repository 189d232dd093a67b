/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of comparisons and ranks: their table, text, markdown and JSON. */
#include "reports/several/several.h"

#include <errno.h>
#include <string.h>

#include "libtrace/base/file.h"
#include "reports/html/html.h"
#include "reports/html/payload.h"
#include "reports/model/formats.h"
#include "reports/several/several_json.h"
#include "reports/several/several_tables.h"
#include "reports/text/markdown_parts.h"

static void fill(struct gmt_document *document, const struct gmt_several *several, size_t top)
{
    if (several->comparison != NULL) {
        gmt_document_comparison(document, several->comparison, top);
    } else {
        gmt_document_ranks(document, several->ranks, top);
    }
}

static int write_text(const struct gmt_several *several, const struct gmt_writer_options *options,
                      FILE *out)
{
    struct gmt_arena arena = {0};
    struct gmt_document document = {.arena = &arena};
    struct gmt_text_out t = {
        .out = out, .color = options->color, .columns = gmt_text_columns(options)};

    fill(&document, several, options->top);
    fputc('\n', out);
    for (size_t i = 0; i < document.count; i++) {
        const struct gmt_section *section = &document.sections[i];

        if (section->title != NULL) {
            gmt_text_heading(&t, section->title);
        }
        if (section->table.row_count > 0) {
            gmt_grid_text(&t, &section->table);
        }
        if (section->sentence != NULL) {
            gmt_text_wrap(&t, 2, "", section->sentence);
            fputc('\n', out);
        }
    }
    int rc = arena.failed ? -ENOMEM : ferror(out) ? -EIO : 0;
    gmt_arena_free(&arena);
    return rc;
}

static int write_markdown(const struct gmt_several *several,
                          const struct gmt_writer_options *options, FILE *out)
{
    struct gmt_arena arena = {0};
    struct gmt_document document = {.arena = &arena};

    fill(&document, several, options->top);
    fprintf(out, "## %s\n\n", document.title);
    for (size_t i = 0; i < document.count; i++) {
        const struct gmt_section *section = &document.sections[i];

        if (section->title != NULL) {
            fprintf(out, "### %s\n\n", section->title);
        }
        if (section->table.row_count > 0) {
            gmt_grid_markdown(out, &section->table);
        }
        if (section->sentence != NULL) {
            gmt_markdown_plain(out, section->sentence);
            fputs("\n\n", out);
        }
    }
    int rc = arena.failed ? -ENOMEM : ferror(out) ? -EIO : 0;
    gmt_arena_free(&arena);
    return rc;
}

static json_t *json_of(const struct gmt_several *several)
{
    return several->comparison != NULL ? gmt_json_comparison(several->comparison)
                                       : gmt_json_ranks(several->ranks);
}

static int write_json(const struct gmt_several *several, const struct gmt_writer_options *options,
                      FILE *out)
{
    json_t *json = json_of(several);
    int rc = json == NULL ? -ENOMEM : 0;

    (void)options;
    if (rc == 0 && (json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 ||
                    fputc('\n', out) == EOF)) {
        rc = -EIO;
    }
    json_decref(json);
    return rc;
}

static int write_html(const struct gmt_several *several, const struct gmt_writer_options *options,
                      FILE *out)
{
    const char *kind = several->comparison != NULL ? "diff" : "ranks";
    struct gmt_payload page = {.head = json_pack("{ss, so, ss*}", "kind", kind, kind,
                                                 json_of(several), "reproduce",
                                                 several->reproduce)};
    int rc = page.head != NULL
                 ? gmt_html_write(out,
                                  several->comparison != NULL ? "comparison" : "traces together",
                                  &page, NULL)
                 : -ENOMEM;

    (void)options;
    gmt_payload_free(&page);
    return rc;
}

static const struct gmt_several_writer writers[] = {
#define GMT_FORMAT_ROW(name, ending) {#name, ending, write_##name},
    GMT_SEVERAL_FORMATS(GMT_FORMAT_ROW, GMT_FORMAT_ROW, GMT_FORMAT_ROW)
#undef GMT_FORMAT_ROW
};

const struct gmt_several_writer *gmt_several_writer_find(const char *name)
{
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        if (strcmp(writers[i].name, name) == 0) {
            return &writers[i];
        }
    }
    return NULL;
}

struct writer_job {
    const struct gmt_several_writer *writer;
    const struct gmt_several *several;
    const struct gmt_writer_options *options;
};

static int do_job(void *context, FILE *out)
{
    const struct writer_job *job = context;

    return job->writer->write(job->several, job->options, out);
}

int gmt_several_write_file(const struct gmt_several_writer *writer,
                           const struct gmt_several *several,
                           const struct gmt_writer_options *options, const char *path)
{
    struct writer_job job = {writer, several, options};

    return gmt_file_write(path, do_job, &job);
}
