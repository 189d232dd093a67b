/* SPDX-License-Identifier: Apache-2.0 */
/* Sums a generated job up by rank and step, as traces of it would be: what the detector is given. */
#ifndef TESTS_FLEET_SUMS_H
#define TESTS_FLEET_SUMS_H

#include "analyzer/fleet/fleet.h"
#include "tests/fleet/physics.h"

/* Runs the job. Free it. */
void sums_make(struct gmt_fleet *fleet, const struct physics *physics);
void sums_free(struct gmt_fleet *fleet);
/* Calls of the host that the last job had, per rank on average. */
double sums_calls_per_rank(void);

#endif
