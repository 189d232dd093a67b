/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses ranks of a fleet: by name, or by how odd they are. */
#include "analyzer/fleet/chosen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/residuals.h"

static int add(struct gmt_fleet_chosen *chosen, size_t rank, struct gmt_arena *arena)
{
    for (size_t i = 0; i < chosen->count; i++) {
        if (chosen->ranks[i] == rank) {
            return 0;
        }
    }
    size_t *added = GMT_PUSH(arena, chosen->ranks, chosen->count);
    if (added == NULL) {
        return -ENOMEM;
    }
    *added = rank;
    return 0;
}

/* ---- by name ---------------------------------------------------------------------------------- */

/* By its number, or by its file: whole, or what is behind a folder's name. */
static bool is_called(const struct gmt_fleet_rank *rank, const char *word)
{
    size_t length = strlen(word), whole = strlen(rank->trace);

    return (rank->rank != NULL && strcmp(rank->rank, word) == 0) ||
           (whole >= length && strcmp(rank->trace + whole - length, word) == 0 &&
            (whole == length || rank->trace[whole - length - 1] == '/'));
}

/* Numbers are of the traces that could be read. */
static int say_unknown(const struct gmt_fleet *fleet, const char *word, char *why, size_t bytes)
{
    size_t unread = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        unread += fleet->ranks[r].trouble != NULL && fleet->ranks[r].rank == NULL;
    }
    if (unread > 0) {
        snprintf(why, bytes,
                 "no trace is called rank '%s'; of %zu that cannot be read, it is not known", word,
                 unread);
    } else {
        snprintf(why, bytes, "none of the %zu traces is rank '%s'", fleet->count, word);
    }
    return -EINVAL;
}

static int add_called(struct gmt_fleet_chosen *chosen, const struct gmt_fleet *fleet,
                      const char *word, struct gmt_arena *arena, char *why, size_t bytes)
{
    const struct gmt_fleet_rank *found = NULL;

    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];

        if (!is_called(rank, word)) {
            continue;
        }
        if (found != NULL) {
            snprintf(why, bytes, "rank '%s' is both %s and %s: name the file", word, found->trace,
                     rank->trace);
            return -EINVAL;
        }
        found = rank;
    }
    return found != NULL ? add(chosen, (size_t)(found - fleet->ranks), arena)
                         : say_unknown(fleet, word, why, bytes);
}

int gmt_fleet_choose(struct gmt_fleet_chosen *chosen, const struct gmt_fleet *fleet,
                     const char *list, struct gmt_arena *arena, char *why, size_t bytes)
{
    char *words = gmt_arena_copy(arena, list), *rest = NULL;
    int rc = words != NULL ? 0 : -ENOMEM;

    *chosen = (struct gmt_fleet_chosen){0};
    for (char *word = rc == 0 ? strtok_r(words, ",", &rest) : NULL; word != NULL && rc == 0;
         word = strtok_r(NULL, ",", &rest)) {
        rc = add_called(chosen, fleet, word, arena, why, bytes);
    }
    if (rc == 0 && (chosen->count == 0 || chosen->count > GMT_FLEET_CHOSEN_MOST)) {
        snprintf(why, bytes, "1 to %d ranks can be chosen, not %zu", GMT_FLEET_CHOSEN_MOST,
                 chosen->count);
        rc = -EINVAL;
    }
    return rc;
}

/* ---- by how odd they are ---------------------------------------------------------------------- */

static bool is_odd(const struct gmt_fleet_result *result, size_t rank)
{
    for (size_t i = 0; i < result->odd_count; i++) {
        if (result->odd[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* How far from the medians of the ranks, in units of what is worth a line; INFINITY: it has nothing that could be compared. */
static double distance(const struct gmt_fleet_rank *rank, const struct gmt_fleet_result *result,
                       double *room)
{
    double sum = INFINITY;

    for (int m = 0; m < GMT_FLEET_MEASURES; m++) {
        const struct gmt_fleet_measure_row *row = &gmt_fleet_measure_rows[m];
        double middle = result->spread[m].median;
        double unit = row->floor * fabs(row->floor_of == GMT_FLEET_OF_STEP
                                            ? result->spread[GMT_FLEET_STEP].median
                                            : middle);
        double by = gmt_fleet_median_of_steps(rank, (enum gmt_fleet_measure)m, result->first_step,
                                              result->step_count, room) -
                    middle;

        if (!isnan(by) && unit > 0) {
            sum = (isinf(sum) ? 0 : sum) + fabs(by) / unit;
        }
    }
    return sum;
}

/* Its index; the count of ranks: none can be compared. */
static size_t most_usual(const struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                         double *room)
{
    double least = INFINITY;
    size_t found = fleet->count;

    for (size_t r = 0; r < fleet->count; r++) {
        bool compared = fleet->ranks[r].trouble == NULL && !is_odd(result, r);
        double far = compared ? distance(&fleet->ranks[r], result, room) : INFINITY;

        if (far < least) {
            least = far;
            found = r;
        }
    }
    return found;
}

/* Where none is odd: the one that is nearest to being a reason for the others. */
static size_t slowest(const struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                      const struct gmt_fleet_waits *waits)
{
    double most_ns = 0;
    size_t found = result->spread[GMT_FLEET_STEP].most_rank;

    for (size_t r = 0; r < fleet->count; r++) {
        if (waits->ranks[r].made_ns > most_ns) {
            most_ns = waits->ranks[r].made_ns;
            found = r;
        }
    }
    return found;
}

int gmt_fleet_choose_odd(struct gmt_fleet_chosen *chosen, const struct gmt_fleet *fleet,
                         const struct gmt_fleet_result *result, const struct gmt_fleet_waits *waits,
                         struct gmt_arena *arena)
{
    double *room = calloc(result->step_count + 1, sizeof(*room));
    size_t odd = result->odd_count < GMT_FLEET_CHOSEN_ODD ? result->odd_count
                                                          : GMT_FLEET_CHOSEN_ODD;
    int rc = room != NULL ? 0 : -ENOMEM;

    *chosen = (struct gmt_fleet_chosen){0};
    if (rc == 0) {
        size_t usual = most_usual(fleet, result, room);

        rc = usual < fleet->count ? add(chosen, usual, arena) : 0;
    }
    for (size_t i = 0; i < odd && rc == 0; i++) {
        rc = add(chosen, result->odd[i].rank, arena);
    }
    if (rc == 0 && odd == 0 && fleet->count > 0) {
        rc = add(chosen, slowest(fleet, result, waits), arena);
    }
    free(room);
    return rc;
}
