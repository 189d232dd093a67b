/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a spool as events of steps. */
#ifndef GMT_STORE_STEPS_STEPS_RECORDS_H
#define GMT_STORE_STEPS_STEPS_RECORDS_H

#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/store/spool/timebase.h"
#include "libtrace/store/steps/steps.h"

struct gmt_step_records;

/* Both stay the caller's. NULL: no memory. */
struct gmt_step_records *gmt_step_records_open(struct gmt_steps *steps, struct gmt_timebase *time);
void gmt_step_records_close(struct gmt_step_records *records);

/* Look at a record. 0 or negative errno. One that is too short is damaged, and left out. */
int gmt_step_records_add(struct gmt_step_records *records, const struct gmt_spool_record *record,
                         struct gmt_step_writer *writer);

#endif
