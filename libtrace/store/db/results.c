/* SPDX-License-Identifier: Apache-2.0 */
/* Results of calls by their number, of the one table that lists them. */
#include "libtrace/store/db/results.h"

#include <stddef.h>

static const struct gmt_result_row results[] = {
#define GMT_RESULT(number, name, runtime_name, kind, words) \
    {number, GMT_RESULT_##kind, name, runtime_name, words},
#include "libtrace/store/db/results.def"
#undef GMT_RESULT
};

const struct gmt_result_row *gmt_result_of(int number)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].number == number) {
            return &results[i];
        }
    }
    return NULL;
}
