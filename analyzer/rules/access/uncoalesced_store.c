/* SPDX-License-Identifier: Apache-2.0 */
/* GM310: stores whose lanes are far apart. */
#include "analyzer/rules/common/strided.h"

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    return gmt_strided_run(analysis, GMT_PATTERN_SCATTERED);
}

extern const struct gmt_rule gmt_rule_uncoalesced_store;
const struct gmt_rule gmt_rule_uncoalesced_store = {.id = "GM310",
                                                    .slug = "uncoalesced-store",
                                                    .title = "Neighbouring threads write far apart",
                                                    .category = "global memory",
                                                    .about_code = true,
                                                    .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED,
                                                    .touches = GMT_TOUCHES_STORES,
                                                    .run = run};
