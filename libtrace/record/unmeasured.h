/* SPDX-License-Identifier: Apache-2.0 */
/* Why a kernel class lacks counters (unmeasured.def). */
#ifndef GMT_RECORD_UNMEASURED_H
#define GMT_RECORD_UNMEASURED_H

#include <stddef.h>

enum gmt_unmeasured {
#define GMT_UNMEASURED(id, reason, remedy) GMT_UNMEASURED_##id,
#include "libtrace/record/unmeasured.def"
#undef GMT_UNMEASURED
    GMT_UNMEASURED_COUNT,
    GMT_MEASURABLE = GMT_UNMEASURED_COUNT /* none of these holds */
};

struct gmt_unmeasured_text {
    const char *reason, *remedy; /* remedy: NULL where there is none */
};

static const struct gmt_unmeasured_text gmt_unmeasured_texts[GMT_UNMEASURED_COUNT] = {
#define GMT_UNMEASURED(id, reason, remedy) {reason, remedy},
#include "libtrace/record/unmeasured.def"
#undef GMT_UNMEASURED
};

#endif
