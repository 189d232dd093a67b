/* SPDX-License-Identifier: Apache-2.0 */
/* Times and names as the page has them. */
#include "analyzer/page/page_parts.h"

#include <stdio.h>

#include "reports/json/json_values.h"

/* Within what the payload can hold. */
#define GMT_PAGE_LATEST ((INT64_C(1) << 51) - 1)

int64_t gmt_page_difference(int64_t a, int64_t b)
{
    int64_t difference;

    if (a == GMT_UNKNOWN || b == GMT_UNKNOWN || __builtin_sub_overflow(a, b, &difference)) {
        return GMT_UNKNOWN;
    }
    return difference;
}

int64_t gmt_page_duration(int64_t begin_ns, int64_t end_ns)
{
    int64_t duration = gmt_page_difference(end_ns, begin_ns);

    return duration >= 0 ? duration : GMT_UNKNOWN;
}

int64_t gmt_page_time(const struct gmt_page *page, int64_t at_ns)
{
    int64_t time;

    if (__builtin_sub_overflow(at_ns, page->timeline->start_ns, &time)) {
        time = at_ns < 0 ? INT64_MIN : INT64_MAX;
    }
    if (time > GMT_PAGE_LATEST) {
        return GMT_PAGE_LATEST;
    }
    return time < -GMT_PAGE_LATEST ? -GMT_PAGE_LATEST : time;
}

/* What the user called and what the driver was asked, as reports name a place. */
static json_t *api_name(const struct gmt_tl_api *api)
{
    char name[256];

    if (api->name != NULL && api->runtime_name != NULL) {
        snprintf(name, sizeof(name), "%s (%s)", api->runtime_name, api->name);
    } else {
        snprintf(name, sizeof(name), "%s", api->name != NULL ? api->name : "unknown call");
    }
    return gmt_json_text(name);
}

int32_t gmt_page_api(struct gmt_page *page, int64_t api_id)
{
    if (api_id < 0 || (size_t)api_id >= page->timeline->api_count) {
        return -1;
    }
    if (page->api_index[api_id] < 0) {
        page->api_index[api_id] = (int32_t)json_array_size(page->api_names);
        json_array_append_new(page->api_names, api_name(&page->timeline->apis[api_id]));
    }
    return page->api_index[api_id];
}
