/* SPDX-License-Identifier: Apache-2.0 */
/* The findings as SARIF 2.1.0: for code scanning and for editors. Times are in the property bags. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "libtrace/base/source_path.h"
#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"
#include "reports/writers.h"

/* Readers of SARIF cut what is longer; the largest savings come first. */
enum { MOST_RESULTS = 200 };
/* What GitHub takes of a description, in characters. */
enum { MOST_DESCRIPTION = 1024 };

static const char *const levels[] = {[GMT_SEVERITY_NOTE] = "note",
                                     [GMT_SEVERITY_LOW] = "note",
                                     [GMT_SEVERITY_MEDIUM] = "warning",
                                     [GMT_SEVERITY_HIGH] = "error"};

/* What the places of a report are named by. */
struct sarif {
    const struct gmt_report *report;
    const char *root;   /* of the repository; NULL: unknown */
    const char **names; /* of sources that the compiler was given relative to a folder: each once */
    size_t name_count;
};

/* {"text": ...}, SARIF's shape of everything that people read. */
static json_t *message(const char *text)
{
    return json_pack("{so}", "text", gmt_json_text(text != NULL ? text : ""));
}

/* A path as a URI: what RFC 3986 does not keep as it is becomes %XX. */
static json_t *uri(const char *scheme, const char *path)
{
    char *clean = gmt_clean_copy(path), *text = NULL;
    size_t bytes = 0;
    FILE *out = clean != NULL ? open_memstream(&text, &bytes) : NULL;
    json_t *json = NULL;

    if (out != NULL) {
        fputs(scheme, out);
        for (const unsigned char *at = (const unsigned char *)clean; *at != '\0'; at++) {
            fprintf(out, isalnum(*at) || strchr("-._~/+", *at) != NULL ? "%c" : "%%%02X", *at);
        }
        if (fclose(out) == 0) {
            json = json_string(text);
        }
    }
    free(text);
    free(clean);
    return json != NULL ? json : json_null();
}

/*
 * Relative to the repository, or NULL. Host code may be known as "src/a.cu" and device code as "/build/src/a.cu":
 * where the repository is not at hand, the former shows what to cut from the latter.
 */
static const char *name_in_repository(const struct sarif *s, const char *file)
{
    const char *relative = gmt_source_relative(s->root, file);
    size_t length = strlen(file);

    for (size_t i = 0; relative == NULL && i < s->name_count; i++) {
        size_t end = strlen(s->names[i]);

        if (length > end && file[length - end - 1] == '/' &&
            strcmp(file + length - end, s->names[i]) == 0) {
            relative = file + length - end;
        }
    }
    return relative;
}

static bool in_repository(const struct sarif *s, const char *file)
{
    return file != NULL && name_in_repository(s, file) != NULL;
}

static json_t *artifact(const struct sarif *s, const char *file)
{
    const char *relative = name_in_repository(s, file);

    if (relative != NULL) {
        return json_pack("{so, ss}", "uri", uri("", relative), "uriBaseId", "%SRCROOT%");
    }
    return json_pack("{so}", "uri", uri(file[0] == '/' ? "file://" : "", file));
}

/* Code scanning wants a line of each: the first stands for a file as a whole. */
static json_t *physical(const struct sarif *s, const char *file, int64_t line)
{
    return json_pack("{so, s{sI}}", "artifactLocation", artifact(s, file), "region", "startLine",
                     (json_int_t)(line > 0 ? line : 1));
}

static json_t *logical(const struct gmt_where *w)
{
    const char *name = w->kernel != NULL ? w->kernel : w->function;
    const char *kind = "function";

    if (name == NULL) {
        name = w->label;
        kind = "module";
    }
    return json_pack("[{so, ss}]", "fullyQualifiedName", gmt_json_text(name), "kind", kind);
}

struct sarif_line {
    const char *file; /* NULL: none */
    int64_t line;
};

/* A line of the repository in which the access stands, else one that it was inlined at. */
static struct sarif_line line_of(const struct sarif *s, const struct gmt_finding_line *line)
{
    if (in_repository(s, line->file)) {
        return (struct sarif_line){line->file, line->line};
    }
    for (size_t i = 0; i < line->chain.call_count; i++) {
        const struct gmt_inline_call *call = &line->chain.calls[i];

        if (in_repository(s, call->file)) {
            return (struct sarif_line){call->file, call->line};
        }
    }
    return (struct sarif_line){0};
}

/*
 * Code scanning shows what lies in the repository: the line that causes the most, where lines are known; else
 * the call or launch, or its nearest caller (the compiler's launch stub is in no repository). Where none of
 * them does, the first of them.
 */
static struct sarif_line place_of(const struct sarif *s, const struct gmt_finding *f)
{
    const struct gmt_where *w = &f->where;

    for (size_t i = 0; i < f->line_count; i++) {
        struct sarif_line place = line_of(s, &f->lines[i]);

        if (place.file != NULL) {
            return place;
        }
    }
    if (in_repository(s, w->file)) {
        return (struct sarif_line){w->file, w->line};
    }
    for (size_t i = 0; i < w->stack_depth; i++) {
        if (in_repository(s, w->stack[i].file)) {
            return (struct sarif_line){w->stack[i].file, w->stack[i].line};
        }
    }
    if (f->line_count > 0 && f->lines[0].file != NULL) {
        return (struct sarif_line){f->lines[0].file, f->lines[0].line};
    }
    return (struct sarif_line){w->file, w->line};
}

/*
 * A result without a physical location has code scanning of GitHub refuse the whole file. What has no place
 * goes to a file of the repository that the report names, at its first line; without one to the program.
 */
static json_t *fallback(const struct sarif *s)
{
    const struct gmt_report *r = s->report;
    const char *slash = r->exe != NULL ? strrchr(r->exe, '/') : NULL;
    const char *program = slash != NULL ? slash + 1 : r->exe;

    for (size_t i = 0; i < r->finding_count; i++) {
        struct sarif_line place = place_of(s, &r->findings[i]);

        if (in_repository(s, place.file)) {
            return physical(s, place.file, 1);
        }
    }
    if (program == NULL || program[0] == '\0') {
        program = "program";
    }
    return json_pack("{s{so, ss}, s{si}}", "artifactLocation", "uri", uri("", program), "uriBaseId",
                     "%SRCROOT%", "region", "startLine", 1);
}

static json_t *location(const struct sarif *s, const struct gmt_finding *f)
{
    struct sarif_line place = place_of(s, f);

    return json_pack("{so, so}", "logicalLocations", logical(&f->where), "physicalLocation",
                     place.file != NULL ? physical(s, place.file, place.line) : fallback(s));
}

static void relate(json_t *array, const struct sarif *s, const char *file, int64_t line,
                   const char *what)
{
    json_array_append_new(
        array, json_pack("{so, so, so}", "id", json_integer((json_int_t)json_array_size(array) + 1),
                         "physicalLocation", physical(s, file, line), "message", message(what)));
}

static bool is_at(const struct sarif_line *place, const char *file, int64_t line)
{
    return place->line == line && place->file != NULL && strcmp(place->file, file) == 0;
}

/* The places that the first one leaves out: the launch, the lines of less weight. */
static json_t *related(const struct sarif *s, const struct gmt_finding *f)
{
    json_t *array = json_array();
    struct sarif_line first = place_of(s, f);
    bool by_line = f->line_count > 0 && f->lines[0].file != NULL;

    if (by_line && f->where.file != NULL && !is_at(&first, f->where.file, f->where.line)) {
        relate(array, s, f->where.file, f->where.line, "launched here");
    }
    for (size_t i = 0; by_line && i < f->lines[0].chain.call_count; i++) {
        const struct gmt_inline_call *call = &f->lines[0].chain.calls[i];

        if (call->file != NULL && !is_at(&first, call->file, call->line)) {
            relate(array, s, call->file, call->line, "inlined here");
        }
    }
    for (size_t i = 0; i < f->line_count; i++) {
        const struct gmt_finding_line *line = &f->lines[i];
        char text[64];

        if (line->file == NULL || is_at(&first, line->file, line->line)) {
            continue;
        }
        snprintf(text, sizeof(text), "%.0f %% of the excess", 100 * line->share);
        relate(array, s, line->file, line->line, text);
    }
    return array;
}

static json_t *stack(const struct sarif *s, const struct gmt_where *w)
{
    json_t *frames = json_array();

    for (size_t i = 0; i < w->stack_depth; i++) {
        const struct gmt_report_frame *f = &w->stack[i];
        json_t *place = json_object(), *frame;

        if (f->file != NULL) {
            json_object_set_new(place, "physicalLocation", physical(s, f->file, f->line));
        }
        if (f->function != NULL) {
            json_object_set_new(place, "logicalLocations",
                                json_pack("[{so, ss}]", "fullyQualifiedName",
                                          gmt_json_text(f->function), "kind", "function"));
        }
        frame = json_pack("{so}", "location", place);
        if (f->module != NULL) {
            json_object_set_new(frame, "module", gmt_json_text(f->module));
        }
        json_array_append_new(frames, frame);
    }
    return json_pack("[{so}]", "frames", frames);
}

static json_t *properties(const struct gmt_finding *f)
{
    json_t *json = json_pack("{ss, so, so, ss, ss}", "severity", gmt_severity_name(f->severity),
                             "cost_ns", gmt_json_ns(f->cost_ns), "saving",
                             gmt_json_saving(&f->saving), "confidence", gmt_finding_confidence(f),
                             "effort", gmt_effort_name(f->effort));

    json_object_set_new(json, "excess_bytes", gmt_json_number(f->excess_bytes));
    json_object_set_new(json, "at_most_ns", gmt_json_ns(f->at_most_ns));
    json_object_set_new(json, "method", gmt_json_text(f->method));
    json_object_set_new(json, "modelled", json_boolean(f->modelled));
    if (f->tried != NULL) {
        json_object_set_new(json, "tried", gmt_json_tried(f->tried));
    }
    json_object_set_new(json, "evidence", gmt_json_evidence(f));
    return json;
}

/* "What was seen. Saves 1.2 ms (3.4 %). What to do." */
static json_t *said(const struct gmt_finding *f)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES], *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    json_t *json = NULL;

    if (out == NULL) {
        return NULL;
    }
    fprintf(out, "%s.", f->headline);
    if (f->modelled) {
        fprintf(out, " Saves about %s, modelled from exact counts.",
                gmt_format_ns(time, f->saving.best_ns));
    } else if (isfinite(f->saving.best_ns)) {
        fprintf(out, " Saves about %s (%s of the run).", gmt_format_ns(time, f->saving.best_ns),
                gmt_format_percent(share, 100 * f->saving.share));
    }
    if (gmt_finding_is_proven(f)) {
        const struct gmt_tried *tried = f->tried;
        fprintf(out, " Proven: %s gains %s.", tried->name,
                gmt_format_ns(time, tried->gain.best_ns));
    }
    if (f->fix != NULL) {
        fprintf(out, " %s", f->fix);
    }
    if (fclose(out) == 0) {
        json = message(text);
    }
    free(text);
    return json;
}

/* A fix that is mechanical: its line, with its end, becomes another or goes. */
static json_t *fixes(const struct sarif *s, const struct gmt_finding *f)
{
    char *text = NULL;

    if (f->edit.after != NULL && asprintf(&text, "%s\n", f->edit.after) < 0) {
        return NULL;
    }
    json_t *json = json_pack("[{so, s[{so, s[{s{sI, si, sI, si}, s{so}}]}]}]", "description",
                             message(f->action), "artifactChanges", "artifactLocation",
                             artifact(s, f->edit.file), "replacements", "deletedRegion",
                             "startLine", (json_int_t)f->edit.line, "startColumn", 1, "endLine",
                             (json_int_t)f->edit.line + 1, "endColumn", 1, "insertedContent",
                             "text", gmt_json_code(text != NULL ? text : ""));
    free(text);
    return json;
}

static json_t *result(const struct sarif *s, const struct gmt_finding *f)
{
    json_t *json = json_pack("{ss, ss, so, s[o], s{so, so, so}, so}", "ruleId", f->rule, "level",
                             levels[f->severity], "message", said(f), "locations", location(s, f),
                             "partialFingerprints", "gmtrace/v1", gmt_json_text(f->fingerprint_v1),
                             "gmtrace/v2", gmt_json_text(f->fingerprint), "primaryLocationLineHash",
                             gmt_json_text(f->fingerprint), "properties", properties(f));
    json_t *places = related(s, f);
    const struct gmt_report *r = s->report;

    for (size_t i = 0; i < r->rule_count; i++) {
        if (strcmp(r->rules[i].id, f->rule) == 0) {
            json_object_set_new(json, "ruleIndex", json_integer((json_int_t)i));
        }
    }
    if (json_array_size(places) > 0) {
        json_object_set(json, "relatedLocations", places);
    }
    json_decref(places);
    if (f->where.stack_depth > 0) {
        json_object_set_new(json, "stacks", stack(s, &f->where));
    }
    if (f->edit.file != NULL) {
        json_object_set_new(json, "fixes", fixes(s, f));
    }
    return json;
}

static json_t *help(const char *page)
{
    return json_pack("{so, so}", "text", gmt_json_code(page), "markdown", gmt_json_code(page));
}

/* The first paragraph below "## What" of a rule's page, in one line. */
static json_t *description(const char *page)
{
    static const char head[] = "\n## What\n";
    const char *from = strstr(page, head);
    char text[MOST_DESCRIPTION + 1];
    size_t length = 0;

    for (from = from != NULL ? from + sizeof(head) - 1 : page; *from == '\n'; from++) {
    }
    for (; *from != '\0' && strncmp(from, "\n\n", 2) != 0 && length < MOST_DESCRIPTION; from++) {
        text[length++] = (char)(*from == '\n' ? ' ' : *from);
    }
    text[length] = '\0';
    return message(text);
}

static json_t *rules(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->rule_count; i++) {
        const struct gmt_rule_result *rule = &r->rules[i];

        json_array_append_new(
            array, json_pack("{ss, ss, so, so, so, s{ss}, s{s[ss]}}", "id", rule->id, "name",
                             rule->slug, "shortDescription", message(rule->title),
                             "fullDescription", description(rule->explain), "help",
                             help(rule->explain), "defaultConfiguration", "level", "warning",
                             "properties", "tags", "performance", rule->category));
    }
    return array;
}

/* What could not be checked, as what the tool has to say about its own run. */
static json_t *notifications(const struct gmt_report *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->gap_count; i++) {
        const struct gmt_gap *gap = &r->gaps[i];
        char *text = gmt_arena_text(r->arena, "Could not check %s: %s%s%s", gap->what, gap->why,
                                    gap->remedy != NULL ? ". " : "",
                                    gap->remedy != NULL ? gap->remedy : "");

        json_array_append_new(array,
                              json_pack("{ss, so}", "level", "note", "message", message(text)));
    }
    return array;
}

static json_t *run(const struct sarif *s)
{
    const struct gmt_report *r = s->report;
    json_t *results = json_array();
    size_t n = r->finding_count < MOST_RESULTS ? r->finding_count : MOST_RESULTS;

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(results, result(s, &r->findings[i]));
    }
    return json_pack("{s{s{ss, so, so}}, s{s{so}}, s[{sb, so}], so, s{so, so, so, so, so, sI}}",
                     "tool", "driver", "name", "gmtrace", "version", gmt_json_text(r->tool_version),
                     "rules", rules(r), "originalUriBaseIds", "%SRCROOT%", "description",
                     message("The root of the repository"), "invocations", "executionSuccessful", 1,
                     "toolExecutionNotifications", notifications(r), "results", results,
                     "properties", "trace", gmt_json_text(r->trace_path), "device",
                     gmt_json_text(r->device_name), "wall_ns", gmt_json_ns(r->wall_ns),
                     "recorded_ns", gmt_json_ns(r->recorded_ns), "gmtrace_ns",
                     gmt_json_ns(r->own_ns), "findings", (json_int_t)r->finding_count);
}

static void add_name(struct sarif *s, const char *file)
{
    if (file == NULL || file[0] == '/' || gmt_source_relative(NULL, file) == NULL) {
        return;
    }
    for (size_t i = 0; i < s->name_count; i++) {
        if (strcmp(s->names[i], file) == 0) {
            return;
        }
    }
    const char **slot = GMT_PUSH(s->report->arena, s->names, s->name_count);
    if (slot != NULL) {
        *slot = file;
    }
}

static void collect_names(struct sarif *s)
{
    for (size_t i = 0; i < s->report->finding_count && i < MOST_RESULTS; i++) {
        const struct gmt_finding *f = &s->report->findings[i];

        add_name(s, f->where.file);
        for (size_t k = 0; k < f->where.stack_depth; k++) {
            add_name(s, f->where.stack[k].file);
        }
        for (size_t k = 0; k < f->line_count; k++) {
            add_name(s, f->lines[k].file);
        }
    }
}

static int write_sarif(const struct gmt_report *r, const struct gmt_writer_options *options,
                       FILE *out)
{
    struct sarif s = {.report = r, .root = options->source_root};
    collect_names(&s);
    json_t *root = json_pack(
        "{ss, ss, s[o]}", "$schema",
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version", "2.1.0", "runs", run(&s));

    if (root == NULL) {
        return -ENOMEM;
    }
    int rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 ? 0 : -EIO;
    if (rc == 0 && fputc('\n', out) == EOF) {
        rc = -EIO;
    }
    json_decref(root);
    return rc;
}

const struct gmt_writer gmt_writer_sarif = {.name = "sarif", .write = write_sarif};
