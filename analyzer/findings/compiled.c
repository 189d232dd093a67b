/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that XLA makes itself, while it runs a function that jax.jit has compiled. */
#include "analyzer/findings/compiled.h"

#include <string.h>

#include "analyzer/findings/makers.h"
#include "analyzer/findings/where.h"

static bool holds(const char *text, const char *word)
{
    return text != NULL && strstr(text, word) != NULL;
}

/*
 * "pjrt::PJRT_LoadedExecutable_Execute(...)", "xla::PjRtStreamExecutorRawLoadedExecutable::Execute(...)": jaxlib 0.4 to
 * 0.11. jax::PyLoadedExecutable stands further out, and copies what Python passes before it executes.
 */
static bool executes(const struct gmt_report_frame *frame)
{
    return holds(frame->function, "PJRT_LoadedExecutable_Execute") ||
           holds(frame->function, "ExecutorLoadedExecutable::Execute") ||
           holds(frame->function, "RawLoadedExecutable::Execute") ||
           holds(frame->function, "PjRtLoadedExecutable::Execute") ||
           holds(frame->function, "PjRtCApiLoadedExecutable::Execute") ||
           holds(frame->function, "xla::RunGpuAsync(");
}

/*
 * What runs a sequence of operations runs those inside of a loop or a condition, too: its return address is then on the stack
 * twice. That is seen without names.
 */
static bool is_nested(const struct gmt_report_frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (holds(frames[i].function, "WhileThunk::") ||
            holds(frames[i].function, "ConditionalThunk::")) {
            return true;
        }
        for (size_t k = i + 1; k < n && frames[i].offset > 0 && frames[i].module != NULL; k++) {
            if (frames[k].offset == frames[i].offset && frames[k].module != NULL &&
                strcmp(frames[k].module, frames[i].module) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* What a compiled function calls (jax.ffi) may be the program's own. */
static bool is_of_program(const struct gmt_report_frame *frame)
{
    return gmt_frame_is_users(frame) && frame->module != NULL &&
           gmt_origin_of_module(frame->module) == GMT_ORIGIN_USER &&
           !gmt_module_is_installed(frame->module);
}

/* float(), print() and their like go through this file of JAX's. */
static bool is_reading(const struct gmt_report_frame *frame)
{
    return gmt_frame_is_made(frame) && holds(frame->file, "/jax/_src/array.py");
}

unsigned gmt_compiled_of_stack(const struct gmt_report_frame *frames, size_t n)
{
    size_t inner = 0, begin = n;
    bool names = false;

    for (; inner < n && !frames[inner].interpreter && !gmt_frame_is_made(&frames[inner]); inner++) {
        if (is_of_program(&frames[inner])) {
            return 0;
        }
        if (gmt_framework_of_frame(&frames[inner]) != GMT_FRAMEWORK_JAX) {
            continue;
        }
        begin = begin < n ? begin : inner;
        names = names || frames[inner].function != NULL;
        if (executes(&frames[inner])) {
            return GMT_COMPILED_RUNS |
                   (is_nested(frames + begin, inner - begin) ? GMT_COMPILED_NESTED : 0);
        }
    }
    for (size_t i = inner; i < n; i++) {
        if (is_reading(&frames[i])) {
            return 0;
        }
    }
    return begin < n && !names ? GMT_COMPILED_DOUBT : 0;
}
