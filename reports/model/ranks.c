/* SPDX-License-Identifier: Apache-2.0 */
/* Which trace of several is the odd one out. */
#include "reports/model/ranks.h"

/* Of two, neither is odd. */
enum { ODD_FROM = 3 };

bool gmt_rank_is_odd(const struct gmt_rank_figure *figure, size_t trace)
{
    return figure->known >= ODD_FROM && figure->scores[trace] > GMT_ODD_SCORE;
}
