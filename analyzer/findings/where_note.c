/* SPDX-License-Identifier: Apache-2.0 */
/* Why a place could not be named by the user's own line, and what helps. */
#include <stdio.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/base_name.h"

/* By module.symbols. */
static const struct {
    const char *state, *text;
} wordings[] = {
    {"functions", "has no line numbers: compile it with -g (nvcc: -g -lineinfo), or give its debug "
                  "files to gmanalyze symbolize --debug-dir"},
    {"stripped", "is stripped: keep its symbols (compile with -g), or give its debug files to "
                 "gmanalyze symbolize --debug-dir"},
    {"changed",
     "had changed when the recording ended, so its functions have no names: record again, "
     "or give the file of that build to gmanalyze symbolize --debug-dir"},
    {"missing",
     "was gone when the recording ended, so its functions have no names: give its file to "
     "gmanalyze symbolize --debug-dir"},
    {"late", "was not read, because the recorder reached its time limit: gmanalyze symbolize names "
             "its functions"},
};

static bool has_line(const struct gmt_report_frame *frame)
{
    return frame->file != NULL && frame->line > 0;
}

bool gmt_frame_is_made(const struct gmt_report_frame *frame)
{
    return !frame->runtime && frame->module == NULL && frame->function != NULL;
}

bool gmt_frame_is_nameless(const struct gmt_report_frame *frame)
{
    return !frame->runtime && frame->module == NULL && frame->function == NULL;
}

static const char *note_of_module(struct gmt_arena *arena, const struct gmt_report_frame *frame)
{
    for (size_t i = 0; frame->symbols != NULL && i < sizeof(wordings) / sizeof(wordings[0]); i++) {
        if (strcmp(wordings[i].state, frame->symbols) == 0) {
            return gmt_arena_text(arena, "%s %s", gmt_base_name(frame->module), wordings[i].text);
        }
    }
    return NULL;
}

const char *gmt_where_note(struct gmt_arena *arena, const struct gmt_report_frame *frames, size_t n,
                           const struct gmt_report_frame *user)
{
    bool interpreted = false, made = false, nameless = false;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_report_frame *frame = &frames[i];

        interpreted = interpreted || frame->interpreter;
        made = made || gmt_frame_is_made(frame);
        nameless = nameless || ((user == NULL || frame < user) && gmt_frame_is_nameless(frame));
    }
    if (interpreted && !made) {
        return "Python's functions have no names here, because this interpreter's frames were not "
               "read (capability python.lines): from Python 3.12 on, PYTHONPERFSUPPORT=1 names "
               "them";
    }
    if (nameless) {
        return "the calling code was generated at run time and has no name: let its generator "
               "write /tmp/perf-PID.map (Python: PYTHONPERFSUPPORT=1, Node: --perf-basic-prof, "
               ".NET: DOTNET_PerfMapEnabled=1)";
    }
    if (user == NULL || user->module == NULL || has_line(user)) {
        return NULL;
    }
    return note_of_module(arena, user);
}

const char *gmt_where_taken(struct gmt_analysis *analysis, const struct gmt_tl_call *call)
{
    char sql[256];
    int64_t one_in = 0;

    if (!analysis->timeline->takes_stacks) {
        return NULL;
    }
    (void)snprintf(sql, sizeof(sql),
                   "SELECT stack_one_in FROM (SELECT id, stack_one_in FROM launch UNION ALL SELECT "
                   "id, stack_one_in FROM transfer UNION ALL SELECT id, stack_one_in FROM memset "
                   "UNION ALL SELECT id, stack_one_in FROM sync) WHERE id = %lld",
                   (long long)call->id);
    if (gmt_query_int64(analysis->timeline->db, sql, &one_in) != 0 || one_in <= 0) {
        return NULL;
    }
    return gmt_arena_text(
        analysis->report->arena,
        "who called is an estimate: to keep within --overhead one call in %lld of "
        "this place had its stack read (capability overhead); --overhead 0 reads all",
        (long long)one_in);
}

const char *gmt_where_library(const struct gmt_where *where, const char **function)
{
    *function = NULL;
    if (where->stack_depth == 0) {
        return NULL;
    }
    const struct gmt_report_frame *frame = where->stack, *end = frame + where->stack_depth;

    while (frame < end && frame->runtime) {
        frame++;
    }
    if (frame == end || frame->module == NULL || has_line(frame) ||
        strstr(gmt_base_name(frame->module), ".so") == NULL) {
        return NULL;
    }
    const char *module = frame->module;

    for (; frame < end && frame->module != NULL && strcmp(frame->module, module) == 0; frame++) {
        *function = frame->function != NULL ? frame->function : *function;
    }
    return gmt_base_name(module);
}
