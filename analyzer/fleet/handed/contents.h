/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank copied between its host and its devices, by fingerprint: equal ones of two ranks show that both had the same bytes. */
#ifndef GMT_ANALYZER_FLEET_HANDED_CONTENTS_H
#define GMT_ANALYZER_FLEET_HANDED_CONTENTS_H

#include "analyzer/findings/rule.h"
#include "analyzer/fleet/fleet.h"

/*
 * Fills rank->contents, places and copied from an analysed trace (timeline, model and report of analysis are used). Copies of
 * several rows count as those without a fingerprint. Everything is the arena's. 0, -ENOMEM or -EIO.
 */
int gmt_fleet_contents_read(struct gmt_fleet_rank *rank, struct gmt_analysis *analysis,
                            struct gmt_arena *arena);

/* Order of contents; 0: they are equal. Copies do not count. */
int gmt_fleet_compare_contents(const struct gmt_fleet_content *a,
                               const struct gmt_fleet_content *b);

#endif
