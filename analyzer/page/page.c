/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to the tables that the page draws: names and claims here, rows in the other files. */
#include "analyzer/page/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory_trim.h"
#include "analyzer/base/sort.h"
#include "analyzer/page/page_parts.h"
#include "analyzer/trace/query.h"
#include "libtrace/store/db/guard.h"
#include "reports/json/json_values.h"

/* Intervals of one finding, the longest first, and of all; but of each these few at least. */
enum { GMT_PAGE_MAX_CLAIMS = 1000, GMT_PAGE_ALL_CLAIMS = 50000, GMT_PAGE_LEAST_CLAIMS = 100 };
enum { GMT_PAGE_STACK_BYTES = 1 << 18 };
enum { GMT_PAGE_MAX_OWN = 8000 }; /* of gmtrace's own work: two for each pixel of a wide screen */

static int compare_class_ids(const void *a, const void *b)
{
    const struct gmt_tl_class *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int load_names(struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;

    page->api_names = json_array();
    page->api_index = malloc((tl->api_count + 1) * sizeof(*page->api_index));
    page->class_row = malloc((tl->class_count + 1) * sizeof(*page->class_row));
    if (page->api_names == NULL || page->api_index == NULL || page->class_row == NULL) {
        return -ENOMEM;
    }
    memset(page->api_index, -1, (tl->api_count + 1) * sizeof(*page->api_index));
    memset(page->class_row, -1, (tl->class_count + 1) * sizeof(*page->class_row));
    for (size_t i = 0; i < page->report->kernel_count; i++) {
        struct gmt_tl_class key = {.id = page->report->kernels[i].class_id};
        const struct gmt_tl_class *class = bsearch(&key, tl->classes, tl->class_count, sizeof(key),
                                                   compare_class_ids);

        if (class != NULL) {
            page->class_row[class - tl->classes] = (int32_t)i;
        }
    }
    return 0;
}

static json_t *list(const char *const *names, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(array, json_string(names[i]));
    }
    return array;
}

static json_t *list_of(const char *(*name)(unsigned), unsigned n)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < n; i++) {
        json_array_append_new(array, json_string(name(i)));
    }
    return array;
}

static json_t *names_of(struct gmt_page *page)
{
    static const char *const kinds[GMT_PAGE_KINDS] = {
        [GMT_PAGE_TRANSFER] = "transfer", [GMT_PAGE_MEMSET] = "memset",
        [GMT_PAGE_LAUNCH] = "launch",     [GMT_PAGE_SYNC] = "sync",
        [GMT_PAGE_ALLOCATE] = "allocate", [GMT_PAGE_FREE] = "free",
        [GMT_PAGE_OTHER] = "other",       [GMT_PAGE_NODE] = "node"};

    return json_pack("{sO, so, so, so, so}", "api", page->api_names, "kind",
                     list(kinds, GMT_PAGE_KINDS), "direction",
                     list_of(gmt_name_direction, GMT_DIR_COUNT), "host_class",
                     list_of(gmt_name_mem_class, GMT_MEM_CLASS_COUNT), "allocation",
                     list_of(gmt_memory_kind_name, GMT_ALLOC_KIND_COUNT));
}

/* Which claims are the longest, in order[..][1]; of those of one length, the first in time go before. */
static void order_claims(const struct gmt_finding *f, int64_t (*order)[2])
{
    for (size_t k = 0; k < f->claim_count; k++) {
        order[k][0] = f->claims[k].begin_ns;
        order[k][1] = (int64_t)k;
    }
    gmt_sort_pairs(order, f->claim_count);
    for (size_t k = 0; k < f->claim_count; k++) {
        const struct gmt_interval *claim = &f->claims[order[k][1]];

        order[k][0] = claim->begin_ns - claim->end_ns;
    }
    gmt_sort_pairs(order, f->claim_count);
}

static void add_claims(const struct gmt_page *page, json_t *claims,
                       const struct gmt_finding *findings, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++) {
        const struct gmt_finding *f = &findings[i];
        int64_t(*order)[2] = calloc(f->claim_count + 1, sizeof(*order));
        json_t *array = json_array();

        if (order == NULL) {
            page->payload->failed = true;
            json_decref(array);
            return;
        }
        order_claims(f, order);
        for (size_t k = 0; k < f->claim_count && k < most; k++) {
            const struct gmt_interval *claim = &f->claims[order[k][1]];

            json_array_append_new(array, json_pack("[II]",
                                                   (json_int_t)gmt_page_time(page, claim->begin_ns),
                                                   (json_int_t)gmt_page_time(page, claim->end_ns)));
        }
        json_object_set_new(claims, f->fingerprint, array);
        free(order);
    }
}

static json_t *claims_of(const struct gmt_page *page)
{
    const struct gmt_report *r = page->report;
    json_t *claims = json_object();
    size_t most = GMT_PAGE_ALL_CLAIMS / (r->finding_count + r->note_count + 1);

    if (most > GMT_PAGE_MAX_CLAIMS) {
        most = GMT_PAGE_MAX_CLAIMS;
    }
    if (most < GMT_PAGE_LEAST_CLAIMS) {
        most = GMT_PAGE_LEAST_CLAIMS;
    }
    add_claims(page, claims, r->findings, r->finding_count, most);
    add_claims(page, claims, r->notes, r->note_count, most);
    return claims;
}

/* Disjoint and ascending; neighbours with less than a pixel of any screen between them are one. */
static json_t *own_of(const struct gmt_page *page)
{
    const struct gmt_timeline *tl = page->timeline;
    int64_t apart_ns = tl->own_count > GMT_PAGE_MAX_OWN
                           ? (tl->end_ns - tl->start_ns) / GMT_PAGE_MAX_OWN
                           : 0;
    json_t *own = json_array();

    for (size_t i = 0; i < tl->own_count; i++) {
        struct gmt_interval one = tl->own[i];

        while (i + 1 < tl->own_count && tl->own[i + 1].begin_ns - one.end_ns < apart_ns) {
            one.end_ns = tl->own[++i].end_ns;
        }
        json_array_append_new(own, json_pack("[II]", (json_int_t)gmt_page_time(page, one.begin_ns),
                                             (json_int_t)gmt_page_time(page, one.end_ns)));
    }
    return own;
}

static json_t *realtime_of(const struct gmt_page *page)
{
    struct gmt_query query;
    int64_t time = GMT_UNKNOWN;
    int rc = gmt_query_open(&query, page->timeline->db,
                            "SELECT realtime_ns FROM process ORDER BY id LIMIT 1");

    if (rc == 0 && gmt_query_next(&query)) {
        time = gmt_query_known(&query, 0);
    }
    gmt_query_close(&query, rc);
    return time != GMT_UNKNOWN ? json_integer((json_int_t)time) : json_null();
}

static json_t *model_of(const struct gmt_model *model)
{
    json_t *json = model->json != NULL && model->provenance != GMT_MODEL_NONE
                       ? json_loads(model->json, 0, NULL)
                       : NULL;

    return json != NULL ? json : json_null();
}

static int merge_calls(struct gmt_page *page)
{
    size_t events = page->call_count;
    int64_t below_ns = 0;
    int rc = gmt_page_reduce_calls(page, GMT_PAGE_MAX_CALLS, &below_ns);
    json_t *detail = json_null();

    if (rc == 0 && below_ns > 0) {
        detail = json_pack("{sI, sI, sI}", "events", (json_int_t)events, "rows",
                           (json_int_t)page->call_count, "merged_below_ns", (json_int_t)below_ns);
    }
    if (json_object_set_new(page->payload->head, "detail", detail) != 0 && rc == 0) {
        rc = -ENOMEM;
    }
    return rc;
}

/* The pages of the rules that found something: those of all rules would double a small report. */
static json_t *rule_pages_of(const struct gmt_page *page)
{
    const struct gmt_report *report = page->report;
    json_t *pages = json_object();

    for (size_t i = 0; i < report->finding_count; i++) {
        for (size_t rule = 0; rule < report->rule_count; rule++) {
            if (strcmp(report->rules[rule].id, report->findings[i].rule) == 0) {
                json_object_set_new(pages, report->rules[rule].id,
                                    gmt_json_code(report->rules[rule].explain));
            }
        }
    }
    return pages;
}

static int write_head(struct gmt_page *page, const struct gmt_model *model, const char *reproduce)
{
    const struct {
        const char *key;
        json_t *value;
    } fields[] = {
        {"origin_ns", json_integer((json_int_t)page->timeline->start_ns)},
        {"realtime_ns", realtime_of(page)},
        {"names", names_of(page)},
        {"model", model_of(model)},
        {"claims", claims_of(page)},
        {"own", own_of(page)},
        {"rule_pages", rule_pages_of(page)},
        {"reproduce", gmt_json_text(reproduce != NULL ? reproduce : "")},
        {"uses_unseen", gmt_json_text(page->report->uses_unseen)},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (json_object_set_new(page->payload->head, fields[i].key, fields[i].value) != 0) {
            rc = -ENOMEM;
        }
    }
    return rc;
}

/* What is read of the trace's file. */
static int load(struct gmt_page *page)
{
    static int (*const steps[])(struct gmt_page *) = {
        gmt_page_load_places, gmt_page_load_allocations, gmt_page_load_others};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
        rc = steps[i](page);
    }
    return rc;
}

/* Puts the calls into the payload, and compresses them. Reads the trace's file by a second connection only. */
static void gather(void *data)
{
    struct gmt_page *page = data;
    sqlite3 *beside = page->beside.db;

    if (page->before != NULL) {
        gmt_worker_wait(page->before);
    }
    int rc = beside != NULL ? load(page) : 0;

    if (rc == 0) {
        rc = gmt_page_gather_calls(page);
    }
    if (rc == 0) {
        rc = merge_calls(page);
    }
    if (rc == 0) {
        gmt_page_write_calls(page);
    }
    gmt_page_free_calls(page);
    gmt_memory_trim();
    if (rc == 0) {
        gmt_payload_pack(page->payload);
    }
    page->gathered = rc;
    if (beside != NULL && gmt_guard_noted(beside)) {
        snprintf(page->why, sizeof(page->why), "%s", gmt_guard_reason(beside));
    }
}

/* From here on the page is of the thread that has begun it, and so is the reason why something failed. */
static void stop_gathering(struct gmt_page *page)
{
    gmt_worker_end(&page->worker);
    if (page->whole != NULL) {
        page->timeline = page->whole;
        page->memory.timeline = page->whole;
        if (page->why[0] != '\0') {
            gmt_guard_note_reason(page->whole->db, page->why);
        }
        page->whole = NULL;
    }
}

int gmt_page_begin(struct gmt_page **begun, struct gmt_payload *payload,
                   const struct gmt_timeline *timeline, const struct gmt_report *report,
                   sqlite3 *beside, struct gmt_worker *before)
{
    struct gmt_page *page = calloc(1, sizeof(*page));

    *begun = page;
    *payload = (struct gmt_payload){.head = json_object()};
    if (page == NULL || payload->head == NULL) {
        return -ENOMEM;
    }
    page->payload = payload;
    page->timeline = timeline;
    page->report = report;
    page->before = before;
    int rc = load_names(page);
    if (rc == 0 && beside != NULL) {
        page->beside = *timeline;
        page->beside.db = beside;
        page->beside.unseen = NULL; /* which the analysis frees while the worker may be at work */
        page->whole = timeline;
        page->timeline = &page->beside;
    } else if (rc == 0) {
        rc = load(page);
    }
    if (rc == 0) {
        gmt_worker_begin(&page->worker, GMT_PAGE_STACK_BYTES, gather, page);
    }
    return rc;
}

int gmt_page_finish(struct gmt_page *page, const struct gmt_model *model, const char *reproduce)
{
    stop_gathering(page);
    int rc = page->gathered;
    if (rc == 0) {
        gmt_page_write_allocations(page);
        gmt_page_write_lines(page);
        gmt_page_write_idle(page);
        /* Only now is it known which threads and return addresses occur. */
        rc = gmt_page_write_places(page);
    }
    if (rc == 0) {
        rc = gmt_page_write_stacks(page);
    }
    if (rc == 0) {
        rc = write_head(page, model, reproduce);
    }
    return rc == 0 && page->payload->failed ? -ENOMEM : rc;
}

void gmt_page_free(struct gmt_page *page)
{
    if (page == NULL) {
        return;
    }
    stop_gathering(page);
    gmt_page_free_places(page);
    json_decref(page->api_names);
    free(page->api_index);
    free(page->class_row);
    gmt_memory_free(&page->memory);
    gmt_page_free_calls(page);
    free(page);
}

int gmt_page_fill(struct gmt_payload *payload, const struct gmt_timeline *timeline,
                  const struct gmt_model *model, const struct gmt_report *report,
                  const char *reproduce)
{
    struct gmt_page *page;
    int rc = gmt_page_begin(&page, payload, timeline, report, NULL, NULL);

    if (rc == 0) {
        rc = gmt_page_finish(page, model, reproduce);
    }
    gmt_page_free(page);
    return rc;
}
