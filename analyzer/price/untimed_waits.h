/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in traces without device times: what of a call was waiting for kernels, as far as a model says. */
#ifndef GMT_ANALYZER_PRICE_UNTIMED_WAITS_H
#define GMT_ANALYZER_PRICE_UNTIMED_WAITS_H

#include "analyzer/model/device_model.h"
#include "analyzer/trace/timeline.h"

/*
 * In a trace without times of kernels, sets wait_ns of copies that came after a launch: what their call
 * took beyond what the model says of such a copy, and of its spread. Without it a read-back that drains the
 * queue would count as a slow copy. To be called before costs are asked for; nothing where the model knows
 * no such copies.
 */
void gmt_untimed_waits(struct gmt_timeline *timeline, const struct gmt_model *model);

/*
 * Whether what calls waited for kernels is not known: there were kernels, and none has a time. Those that
 * were measured have none in any trace, and were waited for by the tracer.
 */
bool gmt_waits_are_unknown(const struct gmt_timeline *timeline);

#endif
