/* SPDX-License-Identifier: Apache-2.0 */
/* Which failures of calls are errors of the program, and which are answers that programs ask for. */
#include "libtrace/store/recording/ring_causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "libtrace/record/layout.h"
#include "libtrace/store/db/results.h"

#define OUT_OF_MEMORY 2
#define MOST_AT_ONCE 10u
#define BACK_NS UINT64_C(3600000000000)

static bool is_fatal(int result)
{
    const struct gmt_result_row *row = gmt_result_of(result);

    return row != NULL && row->kind == GMT_RESULT_STICKY;
}

/* Of other calls (queries above all) a failure is often the answer that the program wants to know. */
static bool is_work(unsigned type)
{
    return type == GMT_REC_TRANSFER || type == GMT_REC_MEMSET || type == GMT_REC_LAUNCH ||
           type == GMT_REC_SYNC;
}

static void note_api(struct gmt_ring_apis *apis, const struct gmt_spool_record *record)
{
    const struct gmt_api *api = record->data;
    const char *name = (const char *)(api + 1);
    size_t room = (size_t)record->slots * GMT_SLOT_BYTES - sizeof(*api);
    if (api->id < sizeof(apis->name) / sizeof(apis->name[0]) && apis->name[api->id] == NULL) {
        apis->name[api->id] = strndup(name, room);
    }
}

void gmt_ring_apis_free(struct gmt_ring_apis *apis)
{
    for (size_t i = 0; i < sizeof(apis->name) / sizeof(apis->name[0]); i++) {
        free(apis->name[i]);
        apis->name[i] = NULL;
    }
}

bool gmt_ring_is_failure(struct gmt_ring_apis *apis, const struct gmt_spool_record *record,
                         char cause[static 128])
{
    if (record->type == GMT_REC_API) {
        note_api(apis, record);
    }
    if (record->type < GMT_REC_CALL || record->type > GMT_REC_ENCODE) {
        return false;
    }
    const struct gmt_call *call = record->data;
    bool is_cause = call->result != 0 && (call->flags & GMT_CALL_OUTSIDE) == 0 &&
                    (call->result == OUT_OF_MEMORY || is_fatal(call->result) ||
                     is_work(record->type));
    if (!is_cause) {
        return false;
    }
    const char *name = call->api < sizeof(apis->name) / sizeof(apis->name[0])
                           ? apis->name[call->api]
                           : NULL;
    (void)snprintf(cause, 128, "%s%d in %s",
                   call->result == OUT_OF_MEMORY ? "out of memory, CUDA error " : "CUDA error ",
                   call->result, name != NULL ? name : "a call");
    return true;
}

bool gmt_ring_is_bad_end(enum gmt_process_fate fate, int exit_status, bool has_exited,
                         char cause[static 128])
{
    if (fate == GMT_PROCESS_EXECED) {
        return false;
    }
    if (exit_status < 0) {
        (void)snprintf(cause, 128, "the program is gone without exit()");
        return !has_exited;
    }
    if (WIFSIGNALED(exit_status)) {
        (void)snprintf(cause, 128, "the program was ended by signal %d", WTERMSIG(exit_status));
        return true;
    }
    (void)snprintf(cause, 128, "exit status %d", WEXITSTATUS(exit_status));
    return WEXITSTATUS(exit_status) != 0;
}

bool gmt_ring_budget_take(struct gmt_ring_budget *budget, uint64_t now_ns, uint64_t window_ns)
{
    while (budget->taken > 0 && now_ns - budget->back_ns >= BACK_NS) {
        budget->taken--;
        budget->back_ns += BACK_NS;
    }
    bool is_free = budget->taken < MOST_AT_ONCE &&
                   (budget->last_ns == 0 || now_ns - budget->last_ns >= window_ns);
    if (is_free) {
        budget->back_ns = budget->taken == 0 ? now_ns : budget->back_ns;
        budget->taken++;
        budget->last_ns = now_ns;
    }
    return is_free;
}
