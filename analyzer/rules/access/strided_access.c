/* SPDX-License-Identifier: Apache-2.0 */
/* GM301: loads, and stores beside them, whose lanes are far apart. */
#include "analyzer/rules/common/strided.h"

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    return gmt_strided_run(analysis, GMT_PATTERN_STRIDED);
}

extern const struct gmt_rule gmt_rule_strided_access;
const struct gmt_rule gmt_rule_strided_access = {.id = "GM301",
                                                 .slug = "strided-access",
                                                 .title = "Neighbouring threads read far apart",
                                                 .category = "global memory",
                                                 .about_code = true,
                                                 .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                 .touches = GMT_TOUCHES_LOADS,
                                                 .run = run};
