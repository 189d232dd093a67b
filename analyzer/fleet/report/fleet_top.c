/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of which --top shows a part. */
#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/printable.h"

size_t gmt_fleet_shown(const struct gmt_fleet_view *view, size_t count)
{
    return view->top > 0 && view->top < count ? view->top : count;
}

void gmt_fleet_text_more(size_t count, size_t shown)
{
    if (shown < count) {
        gmt_say(stdout, "  and %zu more: --top 0\n", count - shown);
    }
}
