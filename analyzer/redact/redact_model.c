/* SPDX-License-Identifier: Apache-2.0 */
/* What a redacted report shows of a device model: numbers. */
#include <jansson.h>
#include <stdlib.h>

#include "analyzer/redact/public_names.h"
#include "analyzer/redact/redact.h"

/* A model also names its device, the command that made it, and whatever a hand-made one adds. */
static const char *const rates[] = {
    "dram_bytes_per_s", "l2_sectors_per_s",         "write_sectors_per_s",
    "l1_sectors_per_s", "l1_strided_sectors_per_s", "shared_wavefronts_per_s",
};

char *gmt_redact_model(struct gmt_arena *arena, const char *json)
{
    json_t *model = json_loads(json, 0, NULL), *shown = json_object();
    json_t *from = json_object_get(model, "rates");

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        json_t *median = json_object_get(json_object_get(from, rates[i]), "median");

        if (json_is_number(median)) {
            (void)json_object_set_new(shown, rates[i], json_pack("{sO}", "median", median));
        }
    }
    shown = json_pack("{so}", "rates", shown);
    char *text = json_dumps(shown, JSON_COMPACT);
    char *copy = gmt_arena_copy(arena, text);
    free(text);
    json_decref(shown);
    json_decref(model);
    return copy;
}

static const char *known(struct gmt_arena *arena, char *text, const char *otherwise)
{
    const char *copy = text != NULL ? gmt_arena_copy(arena, text) : otherwise;

    free(text);
    return copy;
}

void gmt_redact_model_names(struct gmt_arena *arena, const char **device, const char **created)
{
    if (*device != NULL) {
        *device = known(arena, gmt_public_device(*device), "a GPU");
    }
    if (*created != NULL) {
        *created = known(arena, gmt_public_number(*created), NULL);
    }
}
