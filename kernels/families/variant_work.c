/* SPDX-License-Identifier: Apache-2.0 */
/* What one launch of a variant does, as the raw results have it. */
#include "kernels/families/variant_work.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

json_t *gmt_variant_work_json(const struct gmt_variant_work *work)
{
    json_t *object = json_object();
    /*
     * The sum is what stands under "sectors"; zero means none, and is left out of the optional
     * ones.
     */
    const struct {
        const char *key;
        double value;
        bool always;
    } rows[] = {
        {"bytes_asked", work->bytes_asked, true},
        {"sectors", work->load_sectors + work->store_sectors, true},
        {"wavefronts", work->wavefronts, true},
        {"load_requests", work->load_requests, false},
        {"load_sectors", work->load_sectors, false},
        {"store_requests", work->store_requests, false},
        {"store_sectors", work->store_sectors, false},
        {"shared_load_requests", work->shared_load_requests, false},
        {"shared_load_bytes", work->shared_load_bytes, false},
        {"ideal_wavefronts", work->ideal_wavefronts, false},
        {"local_load_requests", work->local_load_requests, false},
        {"constant_requests", work->constant_requests, false},
        {"constant_addresses", work->constant_addresses, false},
        {"spilled_words", work->spilled_words, false},
        {"blocks_per_sm", work->blocks_per_sm, false},
        {"warps_per_sm", work->warps_per_sm, false},
        {"dependent_loads", work->dependent_loads, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].always || rows[i].value > 0) {
            json_object_set_new(object, rows[i].key, json_integer(llround(rows[i].value)));
        }
    }
    if (work->occupancy > 0) {
        json_object_set_new(object, "occupancy", json_real(work->occupancy));
    }
    return object;
}
