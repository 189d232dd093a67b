/* SPDX-License-Identifier: Apache-2.0 */
/* What changes and fates are called. */
#include "reports/model/comparison.h"

const char *gmt_change_name(enum gmt_change change)
{
    static const char *const names[GMT_CHANGES] = {
        [GMT_CHANGE_SAME] = "same",     [GMT_CHANGE_FASTER] = "faster",
        [GMT_CHANGE_SLOWER] = "slower", [GMT_CHANGE_LESS] = "less",
        [GMT_CHANGE_MORE] = "more",     [GMT_CHANGE_UNCLEAR] = "unclear"};

    return names[change];
}

const char *gmt_fate_name(enum gmt_fate fate)
{
    static const char *const names[GMT_FATES] = {
        [GMT_FATE_FIXED] = "fixed", [GMT_FATE_NEW] = "new",   [GMT_FATE_BETTER] = "better",
        [GMT_FATE_WORSE] = "worse", [GMT_FATE_SAME] = "same", [GMT_FATE_UNCHECKED] = "not checked"};

    return names[fate];
}
