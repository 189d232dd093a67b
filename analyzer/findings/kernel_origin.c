/* SPDX-License-Identifier: Apache-2.0 */
/* For each kernel of a trace: who made it, and what reports call it. */
#include "analyzer/findings/kernel_origin.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_title.h"
#include "analyzer/findings/where.h"
#include "analyzer/trace/query.h"

/* A name, and the classes that have it. */
struct kernel {
    const char *name;
    const struct gmt_tl_class *first;
    struct gmt_kernel_origin origin;
    bool numbered; /* all that its title says is true of another, too */
};

struct gmt_kernel_origins {
    struct kernel *kernels; /* by name */
    size_t kernel_count;
    uint32_t *of_class; /* index of its kernel, by index of the class */
};

void gmt_kernel_origins_free(struct gmt_kernel_origins *origins)
{
    if (origins != NULL) {
        free(origins->kernels);
        free(origins->of_class);
    }
    free(origins);
}

/* ---- evidence of the trace ---------------------------------------------------------------------- */

unsigned gmt_origins_loaded(sqlite3 *db)
{
    struct gmt_arena arena = {0};
    struct gmt_query query;
    unsigned loaded = 0;
    int rc = gmt_query_open(&query, db, "SELECT path FROM module");

    while (rc == 0 && gmt_query_next(&query)) {
        loaded |= 1U << gmt_origin_of_module(gmt_query_text(&query, 0, &arena));
    }
    gmt_query_close(&query, rc);
    gmt_arena_free(&arena);
    return loaded;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Ids of classes whose instructions are in files of the user's, sorted. What torch.compile wrote is not. */
static int64_t *classes_with_lines(struct gmt_analysis *analysis, struct gmt_arena *arena,
                                   size_t *count)
{
    struct gmt_query query;
    int64_t *ids = NULL;

    *count = 0;
    if (!analysis->timeline->has_instructions) {
        return NULL;
    }
    int rc = gmt_query_open(&query, analysis->timeline->db,
                            "SELECT i.class_id, s.text FROM (SELECT DISTINCT class_id, file_id "
                            "FROM instruction WHERE file_id IS NOT NULL) i "
                            "JOIN string s ON s.id = i.file_id");
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_report_frame frame = {.file = gmt_query_text(&query, 1, arena)};
        bool own = gmt_frame_is_own(&frame) && strstr(frame.file, "/torchinductor_") == NULL;
        int64_t *id = own ? GMT_PUSH(arena, ids, *count) : NULL;

        if (id != NULL) {
            *id = gmt_query_id(&query, 0);
        }
    }
    gmt_query_close(&query, rc);
    if (*count > 1) {
        qsort(ids, *count, sizeof(*ids), compare_ids);
    }
    return ids;
}

static void find_maker(struct gmt_analysis *analysis, struct kernel *kernel, unsigned loaded)
{
    const struct gmt_tl_launch *launch = gmt_class_launch(analysis->timeline, kernel->first);
    struct gmt_report_frame *frames = NULL;
    struct gmt_arena arena = {0};
    size_t n = gmt_where_frames(analysis, &arena, &launch->call, &frames);
    const char *name = kernel->first->signature;

    kernel->origin.made = gmt_made_by_stack(frames, n, name != NULL ? name : kernel->name, loaded);
    gmt_arena_free(&arena);
}

/* ---- titles -------------------------------------------------------------------------------------- */

const char *gmt_kernel_title_of(struct gmt_arena *arena, const char *name, enum gmt_origin origin,
                                enum gmt_title_detail detail)
{
    const char *title = gmt_kernel_title(arena, name, origin != GMT_ORIGIN_USER, detail);
    bool named = origin == GMT_ORIGIN_CUBLAS || origin == GMT_ORIGIN_CUDNN ||
                 origin == GMT_ORIGIN_NCCL;

    return named ? gmt_arena_text(arena, "%s (%s)", title, gmt_origin_label(origin)) : title;
}

static const char *title_of(struct gmt_analysis *analysis, const struct kernel *kernel,
                            enum gmt_title_detail detail)
{
    return gmt_kernel_title_of(analysis->report->arena, kernel->name, kernel->origin.made.origin,
                               detail);
}

struct titled_kernel {
    struct kernel *kernel;
};

static int compare_titles(const void *a, const void *b)
{
    const struct kernel *x = ((const struct titled_kernel *)a)->kernel,
                        *y = ((const struct titled_kernel *)b)->kernel;
    int order = strcmp(x->origin.title, y->origin.title);

    return order != 0 ? order : strcmp(x->name, y->name);
}

/* Calls `change` for all kernels that have a title together with others, with their number among them. */
static void for_each_double(struct gmt_analysis *analysis, struct titled_kernel *sorted, size_t n,
                            void (*change)(struct gmt_analysis *, struct kernel *, size_t number))
{
    qsort(sorted, n, sizeof(*sorted), compare_titles);
    for (size_t i = 0, end; i < n; i = end) {
        const char *title = sorted[i].kernel->origin.title;

        for (end = i + 1; end < n && strcmp(sorted[end].kernel->origin.title, title) == 0; end++) {
        }
        for (size_t k = i; end - i > 1 && k < end; k++) {
            change(analysis, sorted[k].kernel, k - i + 1);
        }
    }
}

static void distinguish_by_variant(struct gmt_analysis *analysis, struct kernel *kernel,
                                   size_t number)
{
    (void)number;
    kernel->origin.title = title_of(analysis, kernel, GMT_TITLE_VARIANT);
}

static void distinguish_by_arguments(struct gmt_analysis *analysis, struct kernel *kernel,
                                     size_t number)
{
    (void)number;
    kernel->origin.title = title_of(analysis, kernel, GMT_TITLE_ARGUMENTS);
}

/* The arguments distinguish them no more: a number behind the short title does. */
static void mark(struct gmt_analysis *analysis, struct kernel *kernel, size_t number)
{
    (void)number;
    kernel->numbered = true;
    kernel->origin.title = title_of(analysis, kernel, GMT_TITLE_SHORT);
}

static void number_them(struct gmt_analysis *analysis, struct kernel *kernel, size_t number)
{
    if (kernel->numbered) {
        kernel->origin.title = gmt_text(analysis, "%s #%zu", kernel->origin.title, number);
    }
}

static void find_titles(struct gmt_analysis *analysis, struct gmt_kernel_origins *origins)
{
    size_t n = origins->kernel_count;
    struct titled_kernel *sorted = calloc(n + 1, sizeof(*sorted));

    for (size_t i = 0; i < n; i++) {
        struct kernel *kernel = &origins->kernels[i];

        kernel->origin.title = title_of(analysis, kernel, GMT_TITLE_SHORT);
        if (sorted != NULL) {
            sorted[i].kernel = kernel;
        }
    }
    if (sorted != NULL) {
        for_each_double(analysis, sorted, n, distinguish_by_variant);
        for_each_double(analysis, sorted, n, distinguish_by_arguments);
        for_each_double(analysis, sorted, n, mark);
        for_each_double(analysis, sorted, n, number_them);
    }
    free(sorted);
}

/* ---- kernels of a trace -------------------------------------------------------------------------- */

struct named_class {
    const char *name;
    uint32_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named_class *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static bool collect(const struct gmt_timeline *tl, struct gmt_kernel_origins *origins)
{
    struct named_class *named = calloc(tl->class_count + 1, sizeof(*named));
    size_t n = 0;

    origins->kernels = calloc(tl->class_count + 1, sizeof(*origins->kernels));
    origins->of_class = calloc(tl->class_count + 1, sizeof(*origins->of_class));
    if (named == NULL || origins->kernels == NULL || origins->of_class == NULL) {
        free(named);
        return false;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        if (tl->classes[i].name != NULL) {
            named[n++] = (struct named_class){tl->classes[i].name, (uint32_t)i};
        }
    }
    qsort(named, n, sizeof(*named), compare_names);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(named[i].name, named[i - 1].name) != 0) {
            origins->kernels[origins->kernel_count++] = (struct kernel){
                .name = named[i].name, .first = &tl->classes[named[i].index]};
        }
        origins->of_class[named[i].index] = (uint32_t)origins->kernel_count;
    }
    free(named);
    return true;
}

static struct gmt_kernel_origins *load(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_kernel_origins *origins = calloc(1, sizeof(*origins));
    struct gmt_arena arena = {0};
    size_t line_count = 0;

    if (origins == NULL || !collect(tl, origins)) {
        gmt_kernel_origins_free(origins);
        return NULL;
    }
    unsigned loaded = gmt_origins_loaded(tl->db);
    for (size_t i = 0; i < origins->kernel_count; i++) {
        find_maker(analysis, &origins->kernels[i], loaded);
    }
    const int64_t *lines = classes_with_lines(analysis, &arena, &line_count);
    for (size_t i = 0; lines != NULL && i < tl->class_count; i++) {
        if (origins->of_class[i] > 0 &&
            bsearch(&tl->classes[i].id, lines, line_count, sizeof(*lines), compare_ids) != NULL) {
            origins->kernels[origins->of_class[i] - 1].origin.made = (struct gmt_made_by){
                GMT_ORIGIN_USER, GMT_BY_LINES};
        }
    }
    gmt_arena_free(&arena);
    find_titles(analysis, origins);
    return origins;
}

const struct gmt_kernel_origin *gmt_kernel_origin_of(struct gmt_analysis *analysis,
                                                     const struct gmt_tl_class *class)
{
    if (analysis->kernel_origins == NULL) {
        analysis->kernel_origins = load(analysis);
    }
    const struct gmt_kernel_origins *origins = analysis->kernel_origins;
    int32_t index = gmt_timeline_class(analysis->timeline, class->id);
    if (origins == NULL || index < 0 || origins->of_class[index] == 0) {
        return NULL;
    }
    return &origins->kernels[origins->of_class[index] - 1].origin;
}

const char *gmt_kernel_label(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    struct gmt_where where = {.kernel = class->name != NULL ? class->name : "unnamed kernel"};

    gmt_kernel_origin_say(analysis, class, &where);
    return gmt_where_kernel(&where);
}

void gmt_kernel_origin_say(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                           struct gmt_where *where)
{
    const struct gmt_kernel_origin *origin = gmt_kernel_origin_of(analysis, class);

    if (origin == NULL) {
        return;
    }
    where->title = analysis->long_names ? NULL : origin->title;
    if (origin->made.origin != GMT_ORIGIN_USER) {
        where->origin = gmt_origin_name(origin->made.origin);
        where->origin_by = gmt_origin_by_name(origin->made.by);
    }
}

void gmt_kernel_origins_report(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_report *report = analysis->report;

    for (size_t i = 0; i < report->kernel_count; i++) {
        struct gmt_kernel_row *row = &report->kernels[i];
        int32_t index = gmt_timeline_class(tl, row->class_id);
        struct gmt_where where = {0};

        if (index >= 0) {
            gmt_kernel_origin_say(analysis, &tl->classes[index], &where);
        }
        row->title = where.title;
        row->origin = where.origin;
        row->origin_by = where.origin_by;
    }
}
