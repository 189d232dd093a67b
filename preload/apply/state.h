/* SPDX-License-Identifier: Apache-2.0 */
/* What fixes have in common: the driver's functions, the plan, and the counts of what they did. */
#ifndef GMT_PRELOAD_APPLY_STATE_H
#define GMT_PRELOAD_APPLY_STATE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/note.h"
#include "preload/apply/plan.h"
#include "preload/driver/hook_ids.h"

struct gmt_apply_driver {
#define GMT_APPLY_DRIVER(symbol, parameters) CUresult(*symbol) parameters;
#include "preload/apply/driver.def"
};
extern struct gmt_apply_driver gmt_apply_driver;

extern struct gmt_plan gmt_apply_plan;
extern bool gmt_apply_on[GMT_FIX_COUNT]; /* fixes that are applied */
extern bool gmt_apply_watches;           /* digests are wanted */

/* Is this a child of the process that started (where a fix must not touch what it inherited)? */
bool gmt_apply_is_forked(void);

/* Counts, for `gmtrace try`; lost where it does not run. */
void gmt_apply_count(enum gmt_fix fix, uint64_t bytes, uint64_t passed_bytes);
void gmt_apply_refuse(enum gmt_fix fix, enum gmt_refusal reason, uint64_t bytes);
void gmt_apply_note_unseen(uint32_t kind);
/* Number of this process among those of the run; GMT_TRY_PROCESSES: none. */
uint32_t gmt_apply_process(void);
struct gmt_try_note *gmt_apply_note(void);
/* Notes what this process runs, and the devices that it sees: identity.c. */
void gmt_apply_note_identity(void);

/* At the start, once. The driver's functions: false: one is missing. */
bool gmt_apply_load_driver(void);
/* This is the process that starts: false: its children could not be recognized. */
bool gmt_apply_begin_process(void);
/* Take part in a run of `gmtrace try`; false: there is none. */
bool gmt_apply_join_run(void);
/* Put a function in place of the driver's, which is kept in *before. Nothing where the driver has none. */
void gmt_apply_replace(enum gmt_hook_id id, void *function, void **before);

/* GMT_APPLY_MUTANT(NAME) is true where this one of the faults of tests/simgpu/order/apply.mutants is put in: in a library that
 * only tests build. */
#ifdef GMT_APPLY_MUTANTS
bool gmt_apply_is_mutant(const char *name);
#define GMT_APPLY_MUTANT(name) gmt_apply_is_mutant(#name)
#else
#define GMT_APPLY_MUTANT(name) false
#endif

#endif
