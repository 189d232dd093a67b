/* SPDX-License-Identifier: Apache-2.0 */
/* How the allocator was set up: the record "allocator_settings". */
#include <stdio.h>
#include <string.h>

#include "analyzer/snapshot/pickle.h"
#include "analyzer/snapshot/snapshot.h"

enum { MOST_CONF = 1024, MOST_DIVISIONS = 1 << 16 };

static const char *conf_of(struct gmt_snapshot_reader *reader,
                           const struct gmt_pickle_value *settings)
{
    static const char *const keys[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct gmt_pickle_value *value = gmt_pickle_get(reader->pickle, settings, keys[i]);

        if (value != NULL && value->type == GMT_PICKLE_TEXT && value->count > 0) {
            int length = value->count < MOST_CONF ? (int)value->count : MOST_CONF;

            return gmt_arena_text(&reader->snapshot->arena, "%.*s", length,
                                  (const char *)value->text);
        }
    }
    return NULL;
}

/* {"1": divisions of sizes from 1 MiB on, "2": from 2 MiB on, ...} */
static void read_divisions(struct gmt_snapshot_reader *reader,
                           const struct gmt_pickle_value *divisions)
{
    struct gmt_allocator_settings *settings = &reader->snapshot->settings;
    size_t most = sizeof(settings->roundup_divisions) / sizeof(settings->roundup_divisions[0]);

    for (size_t i = 0; i < most; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%u", 1u << i);
        const struct gmt_pickle_value *value = gmt_pickle_get(reader->pickle, divisions, key);

        if (value != NULL && value->type == GMT_PICKLE_INTEGER && value->integer >= 0 &&
            value->integer <= MOST_DIVISIONS) {
            settings->roundup_divisions[i] = (unsigned)value->integer;
        }
    }
}

void gmt_snapshot_settings(struct gmt_snapshot_reader *reader,
                           const struct gmt_pickle_value *record)
{
    struct gmt_torch_snapshot *snapshot = reader->snapshot;
    const struct gmt_pickle *pickle = reader->pickle;
    const struct gmt_pickle_value *split = gmt_pickle_get(pickle, record, "max_split_size");
    const struct gmt_pickle_value *collect = gmt_pickle_get(pickle, record,
                                                            "garbage_collection_threshold");
    const struct gmt_pickle_value *expandable = gmt_pickle_get(pickle, record,
                                                               "expandable_segments");

    snapshot->settings = (struct gmt_allocator_settings){.max_split_bytes = UINT64_MAX};
    if (record == NULL || record->type != GMT_PICKLE_DICT) {
        return;
    }
    snapshot->has_settings = true;
    snapshot->conf = conf_of(reader, record);
    /* -1: SIZE_MAX, the default. */
    if (split != NULL && split->type == GMT_PICKLE_INTEGER && split->integer > 0 &&
        split->integer != INT64_MAX) {
        snapshot->settings.max_split_bytes = (uint64_t)split->integer;
    }
    if (collect != NULL && collect->type == GMT_PICKLE_REAL && collect->real > 0) {
        snapshot->settings.garbage_collection = collect->real;
    }
    snapshot->settings.expandable = expandable != NULL && expandable->type == GMT_PICKLE_BOOL &&
                                    expandable->integer != 0;
    read_divisions(reader, gmt_pickle_get(pickle, record, "roundup_power2_divisions"));
}
