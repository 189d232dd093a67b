/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks ended. */
#include "analyzer/fleet/job.h"

#include <string.h>
#include <sys/wait.h>

int gmt_fleet_exit_code(const struct gmt_fleet_rank *rank)
{
    int status = (int)rank->life.exit_status;

    return rank->life.has_exit_status && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int gmt_fleet_exit_signal(const struct gmt_fleet_rank *rank)
{
    int status = (int)rank->life.exit_status;

    return rank->life.has_exit_status && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* NULL: nothing is wrong with it, or the arena is full. */
static const char *end_of(const struct gmt_fleet_rank *rank, struct gmt_arena *arena)
{
    int code = gmt_fleet_exit_code(rank), signal = gmt_fleet_exit_signal(rank);

    if (signal != 0) {
        return gmt_arena_text(arena, "it was killed by signal %d", signal);
    }
    if (code > 0) {
        return gmt_arena_text(arena, "it exited with status %d", code);
    }
    return code < 0 && rank->end_reason != NULL && strcmp(rank->end_reason, "killed") == 0
               ? "it was killed"
               : NULL;
}

void gmt_fleet_remark_ends(struct gmt_fleet *fleet, struct gmt_arena *arena)
{
    for (size_t r = 0; r < fleet->count; r++) {
        struct gmt_fleet_rank *rank = &fleet->ranks[r];
        const char *end = end_of(rank, arena);

        if (end != NULL && rank->step_count > 0) {
            end = gmt_arena_text(arena, "%s, after step %zu", end,
                                 rank->first_step + rank->step_count);
        }
        gmt_fleet_remark(rank, arena, end);
    }
}
