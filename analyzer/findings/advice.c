/* SPDX-License-Identifier: Apache-2.0 */
/* What the user can do where the code is a library's. */
#include "analyzer/findings/advice.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/findings/requests.h"
#include "analyzer/findings/where.h"
#include "analyzer/trace/source_lines.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/prefix.h"

/* Launches count by all that is on their stacks, copies by who made them. */
static bool is_about_launches(const char *rule)
{
    return gmt_starts_with(rule, "GM5");
}

/* ---- the data loader of PyTorch ------------------------------------------------------------------ */

struct loader {
    const char *file;
    int64_t line; /* 0: none */
    bool pins;
};

/* Up to the bracket that closes the call, over at most so many lines. */
static bool names_pinning(const struct gmt_source_text *text, size_t line, const char *from)
{
    enum { LINES = 30 };
    int depth = 0;

    for (size_t i = 0; i < LINES && line + i < text->line_count; i++) {
        const char *at = i == 0 ? from : text->lines[line + i];

        for (; *at != '\0' && *at != '#'; at++) {
            if (gmt_starts_with(at, "pin_memory=True") ||
                gmt_starts_with(at, "pin_memory = True")) {
                return true;
            }
            depth += (*at == '(') - (*at == ')');
            if (*at == ')' && depth <= 0) {
                return false;
            }
        }
    }
    return false;
}

/* "loader = DataLoader(dataset, ...": a call, no definition and no comment. */
static const char *loader_call(const char *line)
{
    static const char call[] = "DataLoader(";
    const char *at = strstr(line, call), *comment = strchr(line, '#');
    bool defined = strstr(line, "class ") != NULL || strstr(line, "def ") != NULL;

    return at == NULL || defined || (comment != NULL && comment < at) ? NULL
                                                                      : at + sizeof(call) - 2;
}

/* In the files of the user's that are on the stack, as far as the trace carries their text. */
static struct loader find_loader(struct gmt_analysis *analysis, const struct gmt_where *where)
{
    struct loader found = {NULL, 0, true};

    for (size_t i = 0; i < where->stack_depth && found.line == 0; i++) {
        const struct gmt_report_frame *frame = &where->stack[i];

        if (!gmt_frame_is_made(frame) || !gmt_frame_is_own(frame)) {
            continue;
        }
        struct gmt_source_text text = gmt_source_text_load(
            analysis->timeline->db, analysis->report->arena, frame->file, false);
        for (size_t k = 0; k < text.line_count; k++) {
            const char *call = loader_call(text.lines[k]);

            /* One without pinning is the one to change. */
            if (call != NULL && found.pins) {
                found = (struct loader){frame->file, (int64_t)k + 1, names_pinning(&text, k, call)};
            }
        }
    }
    return found;
}

static void say_loader(struct gmt_analysis *analysis, struct gmt_finding *finding,
                       const struct gmt_where *where)
{
    struct loader loader = find_loader(analysis, where);

    if (loader.line == 0) {
        return;
    }
    const char *place = gmt_text(analysis, "%s:%" PRId64, gmt_base_name(loader.file), loader.line);
    if (loader.pins) {
        finding->fix = gmt_text(
            analysis,
            "Copy the batch of the DataLoader itself with .to(device, non_blocking=True): it has "
            "pin_memory=True (%s), and what is copied here is not page-locked, so it was made anew "
            "from the batch.",
            place);
        return;
    }
    finding->fix = gmt_text(analysis,
                            "Give the DataLoader at %s pin_memory=True, and copy its batches with "
                            ".to(device, non_blocking=True): only from page-locked memory does a "
                            "copy run beside the program.",
                            place);
    finding->sketch = gmt_text(analysis,
                               "loader = DataLoader(dataset, ..., pin_memory=True)   # %s\n"
                               "for x, y in loader:\n"
                               "    x = x.to(device, non_blocking=True)%s%s",
                               place, where->line > 0 ? "              # " : "",
                               where->line > 0 ? where->label : "");
}

static bool is_upload_of_batches(const struct gmt_advice *advice)
{
    return advice->rule != NULL && advice->framework == GMT_FRAMEWORK_PYTORCH &&
           advice->when == 0 && advice->frame == NULL &&
           (strcmp(advice->rule, "GM102") == 0 || strcmp(advice->rule, "GM103") == 0);
}

/* About the code of a kernel that is not known, by a call that was made for it. */
static void note_library_call(struct gmt_analysis *analysis, struct gmt_finding *finding,
                              const struct gmt_where *where)
{
    enum gmt_origin origin = gmt_made_by_stack(where->stack, where->stack_depth, "", 0).origin;

    if (origin != GMT_ORIGIN_USER) {
        finding->note_why = gmt_text(
            analysis, "a call of %s: what it asks for is not the program's to change",
            gmt_origin_label(origin));
    }
}

static void note_library_kernel(struct gmt_analysis *analysis, struct gmt_finding *finding,
                                const struct gmt_where *where)
{
    finding->note_why = gmt_text(
        analysis, "a kernel of %s: its code and how it is launched are not the program's to change",
        gmt_origin_label_of(where->origin));
}

/* Inside of a compiled function no Python makes copies or waits: only what is about just that can be advised. */
static bool note_compiled(struct gmt_analysis *analysis, struct gmt_finding *finding,
                          const struct gmt_where *where, const struct gmt_advice *advice)
{
    bool call = gmt_starts_with(finding->rule, "GM1") && where->kernel == NULL;

    if (!call || analysis->rule->about_code ||
        (advice != NULL && (advice->when & GMT_COMPILED_RUNS) != 0) ||
        (gmt_compiled_of_stack(where->stack, where->stack_depth) & GMT_COMPILED_RUNS) == 0) {
        return false;
    }
    if (finding->note_why == NULL) {
        finding->note_why = "XLA makes this call itself while it runs a compiled function: no line "
                            "of the program's asks for it";
    }
    return true;
}

/* A row for just this place comes before what is said of calls in general. */
static bool is_of_place(const struct gmt_advice *advice)
{
    return advice != NULL && (advice->frame != NULL || (advice->when & GMT_COMPILED_RUNS) != 0);
}

static void advise(struct gmt_analysis *analysis, struct gmt_finding *finding,
                   const struct gmt_where *where, const char *name)
{
    static const char *const names[GMT_FRAMEWORKS] = {[GMT_FRAMEWORK_PYTORCH] = "pytorch",
                                                      [GMT_FRAMEWORK_JAX] = "jax",
                                                      [GMT_FRAMEWORK_CUPY] = "cupy",
                                                      [GMT_FRAMEWORK_PYTHON] = "python"};
    bool library = where->origin != NULL, code = analysis->rule->about_code;
    enum gmt_framework framework = library || is_about_launches(finding->rule)
                                       ? gmt_framework_on_stack(where->stack, where->stack_depth)
                                       : gmt_framework_of_call(where->stack, where->stack_depth);
    /* The user can change code of the program's own, whatever framework launches it. */
    const struct gmt_advice *advice = code && !library ? NULL
                                                       : gmt_advice_find(name, framework, where);

    if (note_compiled(analysis, finding, where, advice) ||
        (analysis->rule->about_request && !is_of_place(advice) &&
         gmt_finding_advise_request(analysis, finding, where))) {
        return;
    }
    if (advice != NULL && (advice->rule != NULL || code)) {
        finding->fix = advice->fix;
        finding->sketch = advice->sketch;
        finding->framework = names[framework];
        if (is_upload_of_batches(advice)) {
            say_loader(analysis, finding, where);
        }
    } else if (framework == GMT_FRAMEWORK_PYTORCH && strcmp(finding->rule, "GM111") == 0 &&
               finding->note_why == NULL) {
        finding->note_why = "operations of PyTorch on the GPU take no tensor in memory of the host";
    } else if (code && where->kernel == NULL && finding->note_why == NULL) {
        note_library_call(analysis, finding, where);
    } else if (library && code && finding->note_why == NULL) {
        note_library_kernel(analysis, finding, where);
    }
}

void gmt_finding_advise(struct gmt_analysis *analysis, struct gmt_finding *finding,
                        const struct gmt_where *where)
{
    if (!finding->advised) {
        advise(analysis, finding, where, finding->rule);
    }
}

void gmt_finding_advise_as(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_where *where, const char *name)
{
    advise(analysis, finding, where, name);
    finding->advised = true;
}

void gmt_finding_advise_both(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_where *first)
{
    enum gmt_framework framework = gmt_framework_on_stack(first->stack, first->stack_depth);

    if (first->origin != NULL && finding->note_why == NULL &&
        gmt_advice_find(finding->rule, framework, first) == NULL) {
        note_library_kernel(analysis, finding, first);
    }
}
