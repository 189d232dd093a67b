/* SPDX-License-Identifier: Apache-2.0 */
/* How ranks ended, and how many traces they have. */
#include "analyzer/fleet/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A larger number is none of a rank. */
#define RANKS_MOST 1000000

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

/* Its number; RANKS_MOST: it has none. */
static size_t number_of(const struct gmt_fleet_rank *rank)
{
    size_t digits = rank->rank != NULL ? strspn(rank->rank, "0123456789") : 0;
    size_t number = digits > 0 && digits < 8 && rank->rank[digits] == '\0'
                        ? strtoul(rank->rank, NULL, 10)
                        : RANKS_MOST;

    return number < RANKS_MOST ? number : RANKS_MOST;
}

/* How many ranks there are at least. */
static size_t ranks_of_job(struct gmt_fleet_job *job, const struct gmt_fleet *fleet)
{
    size_t ranks = 0, communicator = 0;

    job->is_numbered = true;
    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];
        size_t number = number_of(rank);

        job->is_numbered = job->is_numbered && (rank->rank == NULL || number < RANKS_MOST);
        ranks = number < RANKS_MOST && number >= ranks ? number + 1 : ranks;
        for (size_t i = 0; i < rank->collective_count; i++) {
            size_t of = rank->collectives[i].ranks;

            communicator = of > communicator && of < RANKS_MOST ? of : communicator;
        }
    }
    job->is_numbered = job->is_numbered && ranks > 0;
    return ranks > communicator ? ranks : communicator;
}

static int find_missing(struct gmt_fleet_job *job, const struct gmt_fleet *fleet,
                        struct gmt_arena *arena)
{
    size_t ranks = ranks_of_job(job, fleet);
    bool *has = calloc(ranks + 1, sizeof(*has));
    int rc = has != NULL ? 0 : -ENOMEM;

    for (size_t r = 0; r < fleet->count && rc == 0; r++) {
        size_t number = number_of(&fleet->ranks[r]);

        if (number < ranks) {
            has[number] = true;
        }
    }
    for (size_t i = 0; i < ranks && rc == 0 && job->is_numbered; i++) {
        if (has[i]) {
            continue;
        }
        struct gmt_fleet_span *last = job->missing_count > 0 ? &job->missing[job->missing_count - 1]
                                                             : NULL;
        if (last != NULL && last->last + 1 == i) {
            last->last = i;
            continue;
        }
        struct gmt_fleet_span *added = GMT_PUSH(arena, job->missing, job->missing_count);
        if (added == NULL) {
            rc = -ENOMEM;
        } else {
            *added = (struct gmt_fleet_span){i, i};
        }
    }
    free(has);
    return rc;
}

static bool is_of(const struct gmt_fleet_rank *rank, const char *name)
{
    return rank->rank != NULL && strcmp(rank->rank, name) == 0;
}

/* Has some trace of the rank ended before another one began? */
static bool is_rerun(const struct gmt_fleet_rank *ranks, size_t count)
{
    int64_t first_end_ns = INT64_MAX, last_begin_ns = INT64_MIN;

    for (size_t i = 0; i < count; i++) {
        const struct gmt_fleet_life *life = &ranks[i].life;

        if (life->end_ns > life->begin_ns) {
            first_end_ns = life->end_ns < first_end_ns ? life->end_ns : first_end_ns;
            last_begin_ns = life->begin_ns > last_begin_ns ? life->begin_ns : last_begin_ns;
        }
    }
    return first_end_ns < last_begin_ns;
}

/* Those of one rank are beside each other. */
static int find_reruns(struct gmt_fleet_job *job, const struct gmt_fleet *fleet,
                       struct gmt_arena *arena)
{
    for (size_t r = 0, next; r < fleet->count; r = next) {
        const char *name = fleet->ranks[r].rank;

        for (next = r + 1;
             next < fleet->count && name != NULL && is_of(&fleet->ranks[next], name);) {
            next++;
        }
        if (next - r < 2 || !is_rerun(&fleet->ranks[r], next - r)) {
            continue;
        }
        struct gmt_fleet_rerun *added = GMT_PUSH(arena, job->reruns, job->rerun_count);
        if (added == NULL) {
            return -ENOMEM;
        }
        *added = (struct gmt_fleet_rerun){.rank = name, .traces = next - r};
    }
    return 0;
}

int gmt_fleet_job_fill(struct gmt_fleet_job *job, const struct gmt_fleet *fleet,
                       struct gmt_arena *arena)
{
    *job = (struct gmt_fleet_job){0};
    int rc = find_missing(job, fleet, arena);

    return rc == 0 ? find_reruns(job, fleet, arena) : rc;
}
