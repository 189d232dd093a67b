/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the odd ranks of a fleet. Of each measure and step the median over the ranks is taken away. What remains of a rank,
 * its median over the steps of a window, is compared with that of the other ranks (outliers.h): how far ranks of this fleet
 * lie apart decides, nothing else does. The rate of false alarms holds for the whole answer: it is divided among the
 * measures, windows and ranks. A difference must also persist: be there, with its sign and half of
 * its size, in three quarters of the pieces that the window is cut into, and be worth a line (the floor in measures.def).
 * Among few ranks the pieces are what decides (windows.c), and the rate does not hold.
 */
#ifndef GMT_ANALYZER_FLEET_DETECT_H
#define GMT_ANALYZER_FLEET_DETECT_H

#include "analyzer/fleet/fleet.h"
#include "libtrace/base/arena.h"

/* Of a fleet in which no rank is odd, the probability that one is called odd. */
#define GMT_FLEET_FALSE_ALARMS 0.01
/* Of these, clocks. The rest is shared by the measures; of each, half by the whole run, half by its quarters. */
#define GMT_FLEET_CLOCK_ALARMS (GMT_FLEET_FALSE_ALARMS / 10)
/* With fewer steps nothing is known about what persists. */
#define GMT_FLEET_LEAST_STEPS 4

struct gmt_fleet_difference {
    enum gmt_fleet_measure measure;
    bool by_steps; /* as few ranks have the window: in standard errors over its steps */
    double value,
        middle; /* of the rank; of the fleet's median rank, of few ranks: of the others. LEAK: growth per step. NAN: none */
    double by;  /* how far the rank lies from the median of the ranks, median over the steps */
    double score,
        limit; /* distance in standard deviations of the others; from where on it is odd */
    size_t first_step, last_step;
};

struct gmt_fleet_odd {
    size_t rank;
    enum gmt_fleet_cause cause;
    struct gmt_fleet_difference differences[GMT_FLEET_MEASURES]; /* those of the cause first */
    size_t difference_count;
    int trait;         /* enum gmt_fleet_trait, of VERSION; -1: none */
    const char *usual; /* what the others have there */
    double
        waited_ns; /* so long per step a rank in the middle waits for it at collectives; NAN: its time in them is not odd */
    double clock_ns, clock_error_ns; /* of CLOCK: wall clock of the others - its own */
};

/* Of a measure, over the ranks: their medians over the steps. */
struct gmt_fleet_spread {
    double least, median, most; /* NAN: not measured */
    size_t least_rank, most_rank;
};

struct gmt_fleet_result {
    struct gmt_fleet_odd *odd; /* by cause, then by rank */
    size_t odd_count;
    size_t compared;               /* ranks */
    size_t first_step, step_count; /* from the first to the last that at least half of them have */
    bool
        few_ranks; /* fewer than GMT_OUTLIERS_LEAST have enough of them: steps are the spread then */
    bool few_in_part;           /* ... of a part of them, not of the whole */
    double false_alarms, alpha; /* of the whole answer; of one measure */
    struct gmt_fleet_spread spread[GMT_FLEET_MEASURES];
};

struct gmt_fleet_clocks;

/* clocks: NULL, or what gmt_fleet_clocks_fill made of this fleet. Everything of result is the arena's. 0 or -ENOMEM. */
int gmt_fleet_detect(struct gmt_fleet_result *result, const struct gmt_fleet *fleet,
                     const struct gmt_fleet_clocks *clocks, struct gmt_arena *arena);

#endif
