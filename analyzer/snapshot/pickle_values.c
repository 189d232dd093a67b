/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the values of a pickle. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/snapshot/pickle.h"

void gmt_pickle_free(struct gmt_pickle *pickle)
{
    for (size_t i = 0; i < pickle->count; i++) {
        if (pickle->values[i].type >= GMT_PICKLE_LIST) {
            free(pickle->values[i].items);
        }
    }
    free(pickle->values);
    *pickle = (struct gmt_pickle){0};
}

size_t gmt_pickle_length(const struct gmt_pickle_value *value)
{
    return value != NULL && (value->type == GMT_PICKLE_LIST || value->type == GMT_PICKLE_TUPLE)
               ? value->count
               : 0;
}

bool gmt_pickle_is_text(const struct gmt_pickle_value *value, const char *text)
{
    size_t length = strlen(text);

    return value != NULL && value->type == GMT_PICKLE_TEXT && value->count == length &&
           memcmp(value->text, text, length) == 0;
}

const struct gmt_pickle_value *gmt_pickle_get(const struct gmt_pickle *pickle,
                                              const struct gmt_pickle_value *dict, const char *key)
{
    if (dict == NULL || dict->type != GMT_PICKLE_DICT) {
        return NULL;
    }
    size_t end = dict->count;

    /* Of a key that was set twice the last value counts. */
    for (size_t keys = 0; end >= 2 && keys < GMT_PICKLE_MOST_KEYS; keys++, end -= 2) {
        if (gmt_pickle_is_text(&pickle->values[dict->items[end - 2]], key)) {
            return &pickle->values[dict->items[end - 1]];
        }
    }
    return NULL;
}
