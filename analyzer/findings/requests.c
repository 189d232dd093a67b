/* SPDX-License-Identifier: Apache-2.0 */
/* What the user can do about a call that no line of the user's asked for. */
#include "analyzer/findings/requests.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/findings/makers.h"
#include "analyzer/findings/where.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/prefix.h"

#define READ_BACK "GM109"

/* ---- operations of PyTorch ------------------------------------------------------------------------ */

/* Python's functions of a tensor, by the names of their bindings. */
static const char binding_mark[] = "THPVariable_";

/* Of these the user wants the value on the host. */
static bool is_reading(const char *operation)
{
    static const char *const names[] = {"item", "is_nonzero", "tolist", "cpu",
                                        "to",   "type",       "numpy",  "copy_"};
    static const char scalar[] = "_scalar"; /* float_scalar, index_scalar */
    size_t length = strlen(operation);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(operation, names[i]) == 0) {
            return true;
        }
    }
    return length >= sizeof(scalar) &&
           strcmp(operation + length - (sizeof(scalar) - 1), scalar) == 0;
}

/*
 * "linalg_eigh": what the program's Python called, if that is more than to read a value; NULL: it is not, or not known.
 * print() of a tensor computes, too: in PyTorch's Python.
 */
static const char *computing(struct gmt_analysis *analysis, const struct gmt_where *where)
{
    const char *mark = NULL;
    size_t i = 0;

    for (; i < where->stack_depth && !gmt_frame_is_made(&where->stack[i]); i++) {
        const char *function = where->stack[i].function;
        const char *found = function != NULL ? strstr(function, binding_mark) : NULL;

        mark = found != NULL ? found + sizeof(binding_mark) - 1 : mark;
    }
    if (mark == NULL || i == where->stack_depth || !gmt_frame_is_own(&where->stack[i])) {
        return NULL;
    }
    const char *operation = gmt_text(analysis, "%.*s", (int)strcspn(mark, "(<: "), mark);

    return operation == NULL || is_reading(operation) ? NULL : operation;
}

static bool advise_operation(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_where *where)
{
    const char *operation = computing(analysis, where);

    if (operation == NULL) {
        return false;
    }
    finding->fix = gmt_text(
        analysis,
        "Call %s once for several inputs: it reads values back itself, at each call. Or take a "
        "variant that does not: one that checks no errors (torch.linalg's ..._ex), or whose result "
        "has a size that does not depend on values (torch.where in place of nonzero and of masks).",
        operation);
    finding->sketch = NULL;
    finding->framework = "pytorch";
    return true;
}

/* ---- packages of Python ---------------------------------------------------------------------------- */

/* "linear_operator" of ".../site-packages/linear_operator/utils/cholesky.py"; NULL: in no package. */
static const char *package_of(struct gmt_analysis *analysis, const char *file)
{
    static const char folder[] = "-packages/";
    const char *name = strstr(file, folder);

    if (name == NULL) {
        return NULL;
    }
    name += sizeof(folder) - 1;
    return gmt_text(analysis, "%.*s", (int)strcspn(name, "/."), name);
}

/* The innermost function of Python that is neither a framework's nor of what Python brings. */
static bool advise_package(struct gmt_analysis *analysis, struct gmt_finding *finding,
                           const struct gmt_where *where)
{
    for (size_t i = 0; i < where->stack_depth; i++) {
        const struct gmt_report_frame *frame = &where->stack[i];

        if (!gmt_frame_is_made(frame) || frame->file == NULL ||
            gmt_framework_of_frame(frame) != GMT_FRAMEWORK_NONE) {
            continue;
        }
        const char *package = gmt_frame_is_own(frame) ? NULL : package_of(analysis, frame->file);

        if (package == NULL && !gmt_frame_is_own(frame)) {
            continue;
        }
        if (package == NULL) {
            return false;
        }
        finding->fix = gmt_text(
            analysis,
            "Look for a setting of %s that leaves this out, or call it less often: the call is "
            "made by %s at %s:%" PRId64 ", and not by the program's own code.",
            package, frame->function, gmt_base_name(frame->file), frame->line);
        finding->sketch = NULL;
        finding->framework = "python";
        return true;
    }
    return false;
}

/* ---- libraries --------------------------------------------------------------------------------------- */

static bool note_library(struct gmt_analysis *analysis, struct gmt_finding *finding,
                         const struct gmt_where *where)
{
    enum gmt_framework part_of;
    enum gmt_origin origin = gmt_asker_of_stack(where->stack, where->stack_depth, &part_of);
    bool thread = part_of != GMT_FRAMEWORK_NONE;

    if (origin == GMT_ORIGIN_USER || (thread && !gmt_where_is_thread_of_libraries(where))) {
        return false;
    }
    if (finding->note_why == NULL) {
        finding->note_why = gmt_text(
            analysis, "a call of %s%s: what it asks for is not the program's to change",
            gmt_origin_label(origin), thread ? ", in a thread of its own" : "");
    }
    return true;
}

bool gmt_finding_advise_request(struct gmt_analysis *analysis, struct gmt_finding *finding,
                                const struct gmt_where *where)
{
    /* What is read may be what somebody further out asked for; memory of a library's own is nobody else's. */
    bool reads = strcmp(finding->rule, READ_BACK) == 0;

    return (!reads && note_library(analysis, finding, where)) ||
           advise_package(analysis, finding, where) ||
           (reads && advise_operation(analysis, finding, where)) ||
           note_library(analysis, finding, where);
}
