/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a device model. */
#include "analyzer/model/device_model.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/device_model_parse.h"

enum { GMT_MODEL_VERSION_READ = 1 };

static const char *text_of(struct gmt_model *model, const json_t *object, const char *key)
{
    return gmt_arena_copy(&model->arena, gmt_model_text(model, object, key));
}

/* Bytes in flight per thread of the points of 16-byte loads, where 4-byte loads count as 1. */
#define WIDE_LOADS 4.0

static void read_occupancy(struct gmt_model *model, const json_t *root)
{
    const struct gmt_model_curve *narrow = &model->occupancy;
    struct gmt_model_curve wide, *joined = &model->in_flight;

    gmt_model_read_curve(model, gmt_model_list(model, root, "occupancy_curve"), "occupancy",
                         "bandwidth_bytes_per_s", "spread", &model->occupancy);
    gmt_model_read_curve(model, gmt_model_list(model, root, "occupancy_curve_vector"), "occupancy",
                         "bandwidth_bytes_per_s", "spread", &wide);
    joined->points = gmt_arena_alloc(&model->arena,
                                     (narrow->n + wide.n + 1) * sizeof(*joined->points));
    if (joined->points == NULL) {
        return;
    }
    for (size_t i = 0; i < narrow->n; i++) {
        joined->points[joined->n++] = narrow->points[i];
    }
    for (size_t i = 0; i < wide.n; i++) {
        struct gmt_model_point point = wide.points[i];
        const struct gmt_model_point *last = joined->n > 0 ? &joined->points[joined->n - 1] : NULL;

        point.x *= WIDE_LOADS;
        if (last == NULL || (point.x > last->x && point.y > last->y)) {
            joined->points[joined->n++] = point;
        }
    }
}

static double rate_of(struct gmt_model *model, const json_t *rates, const char *key)
{
    return gmt_model_number(model, gmt_model_part(model, rates, key), "median");
}

static void read_family(struct gmt_model *model, const json_t *rows,
                        struct gmt_model_family *family)
{
    size_t i;
    json_t *row;

    family->variants = gmt_arena_alloc(&model->arena,
                                       (json_array_size(rows) + 1) * sizeof(*family->variants));
    if (family->variants == NULL) {
        return;
    }
    json_array_foreach(rows, i, row)
    {
        struct gmt_model_variant *variant = &family->variants[family->n];

        variant->name = text_of(model, row, "variant");
        variant->reference = text_of(model, row, "reference");
        variant->parameter = gmt_model_number(model, row, "parameter");
        variant->sectors_per_request = gmt_model_number(model, row, "sectors_per_request");
        variant->ways = gmt_model_number(model, row, "ways");
        variant->median_ns = gmt_model_number(model, row, "median_ns");
        variant->spread_ns = gmt_model_number(model, row, "spread_ns");
        variant->bytes_asked = gmt_model_number(model, row, "bytes_asked");
        variant->sectors = gmt_model_number(model, row, "load_sectors");
        if (isnan(variant->sectors)) {
            variant->sectors = gmt_model_number(model, row, "sectors");
        }
        variant->wavefronts = gmt_model_number(model, row, "wavefronts");
        variant->load_requests = gmt_model_number(model, row, "load_requests");
        variant->store_requests = gmt_model_number(model, row, "store_requests");
        variant->store_sectors = gmt_model_number(model, row, "store_sectors");
        variant->shared_requests = gmt_model_number(model, row, "shared_load_requests");
        variant->occupancy = gmt_model_number(model, row, "occupancy");
        variant->relative_time = gmt_model_number(model, row, "relative_time");
        if (variant->name != NULL && variant->median_ns > 0) {
            family->n++;
        }
    }
}

static void read_rates(struct gmt_model *model, const json_t *rates)
{
#define READ(key) model->key = rate_of(model, rates, #key);
    READ(dram_bytes_per_s)
    READ(dram_copy_bytes_per_s)
    READ(dram_scattered_sectors_per_s)
    READ(l2_sectors_per_s)
    READ(l2_scattered_sectors_per_s)
    READ(l1_sectors_per_s)
    READ(l1_strided_sectors_per_s)
    READ(partial_sectors_per_s)
    READ(partial_pairs_per_s)
    READ(partial_lines_per_s)
    READ(write_sectors_per_s)
    READ(shared_wavefronts_per_s)
    READ(constant_words_per_s)
#undef READ
}

#define NUMBER_MOST 1e24
#define ENTRIES_MOST 100000 /* of one array */

/* What is wrong with the numbers of a model: no time, rate or size is below 0 or beyond all measure. `key`:
 * of the member that `value` is or lies in. */
static bool is_absurd(const char *key, const json_t *value, char *message, size_t bytes)
{
    const char *name;
    json_t *part;
    size_t i;

    if (json_is_number(value)) {
        double number = json_number_value(value);

        if (number >= 0 && number <= NUMBER_MOST) {
            return false;
        }
        snprintf(message, bytes, "\"%.64s\" is %g: no such time, rate or size", key, number);
        return true;
    }
    if (json_is_array(value) && json_array_size(value) > ENTRIES_MOST) {
        snprintf(message, bytes, "\"%.64s\" has %zu entries: at most %d are read", key,
                 json_array_size(value), ENTRIES_MOST);
        return true;
    }
    json_array_foreach(value, i, part)
    {
        if (is_absurd(key, part, message, bytes)) {
            return true;
        }
    }
    json_object_foreach((json_t *)(uintptr_t)value, name, part)
    {
        if (is_absurd(name, part, message, bytes)) {
            return true;
        }
    }
    return false;
}

static void read_limits(struct gmt_model *model, const json_t *device)
{
#define READ(key) model->limits.key = gmt_model_number(model, device, #key);
    READ(sm_count)
    READ(l2_bytes)
    READ(max_warps_per_sm)
    READ(max_blocks_per_sm)
    READ(shared_bytes_per_sm)
    READ(registers_per_sm)
#undef READ
}

static void read_everything(struct gmt_model *model, const json_t *root)
{
    const json_t *device = gmt_model_part(model, root, "device");
    const json_t *families = gmt_model_part(model, root, "families");

    model->device_name = text_of(model, device, "name");
    model->device_uuid = text_of(model, device, "uuid");
    model->compute_capability = text_of(model, device, "compute_capability");
    read_limits(model, device);
    model->created = text_of(model, root, "created");
    model->noisy = gmt_model_truth(model, root, "noisy");
    gmt_model_read_copies(model, root);
    read_rates(model, gmt_model_part(model, root, "rates"));
    model->dram_load_ns = rate_of(model, gmt_model_part(model, root, "latencies"), "dram_load_ns");
    read_occupancy(model, root);
    read_family(model, gmt_model_list(model, families, "offset"), &model->offset);
    read_family(model, gmt_model_list(model, families, "stride"), &model->stride);
    read_family(model, gmt_model_list(model, families, "bank"), &model->bank);
    read_family(model, gmt_model_list(model, families, "occupancy"), &model->occupancies);
    read_family(model, gmt_model_list(model, families, "launch_bound"), &model->launch_bound);
    read_family(model, gmt_model_list(model, families, "block_size"), &model->block_size);
    const json_t *queued = gmt_model_part(model, gmt_model_part(model, root, "costs"),
                                          "launch_queued_ns");
    model->launch_queued_ns = gmt_model_number(model, queued, "median");
    model->launch_queued_spread_ns = gmt_model_number(model, queued, "spread");
    read_family(model, gmt_model_list(model, families, "store"), &model->store);
    read_family(model, gmt_model_list(model, families, "stride_wide"), &model->stride_wide);
    read_family(model, gmt_model_list(model, families, "gather"), &model->gather);
    const json_t *access_costs = gmt_model_part(model, root, "access_costs");
    model->constant_word_ns = rate_of(model, access_costs, "constant_word_ns");
}

int gmt_model_parse(struct gmt_model *model, const char *json, size_t bytes, const char *origin,
                    char *message, size_t message_bytes)
{
    json_error_t error;
    json_t *root = json_loadb(json, bytes, 0, &error);
    int rc = -EINVAL;

    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
    if (root == NULL) {
        snprintf(message, message_bytes, "not JSON: %s (line %d)", error.text, error.line);
        return rc;
    }
    const char *format = gmt_model_text(model, root, "format");
    double version = gmt_model_number(model, root, "version");
    if (format == NULL || strcmp(format, "gmtrace-device-model") != 0) {
        snprintf(message, message_bytes, "not a gmtrace device model");
    } else if (!(version >= 1) || version > GMT_MODEL_VERSION_READ) {
        snprintf(message, message_bytes, "device model of version %.0f; this program reads %d",
                 version, GMT_MODEL_VERSION_READ);
    } else if (!is_absurd("", root, message, message_bytes)) {
        model->origin = gmt_arena_copy(&model->arena, origin);
        model->json = gmt_arena_text(&model->arena, "%.*s", (int)bytes, json);
        read_everything(model, root);
        rc = model->arena.failed ? -ENOMEM : model->wrong[0] != '\0' ? -EINVAL : 0;
        if (rc == -EINVAL) {
            snprintf(message, message_bytes, "%s", model->wrong);
        }
        model->provenance = GMT_MODEL_MODELLED;
    }
    json_decref(root);
    return rc;
}

void gmt_model_free(struct gmt_model *model)
{
    gmt_arena_free(&model->arena);
    *model = (struct gmt_model){.provenance = GMT_MODEL_NONE};
}

const struct gmt_model_variant *gmt_family_variant(const struct gmt_model_family *family,
                                                   const char *name)
{
    for (size_t i = 0; i < family->n; i++) {
        if (strcmp(family->variants[i].name, name) == 0) {
            return &family->variants[i];
        }
    }
    return NULL;
}

enum gmt_provenance gmt_model_judge(const struct gmt_model *model, const char *device_name,
                                    const char *device_uuid)
{
    if (model->device_uuid != NULL && device_uuid != NULL &&
        strcmp(model->device_uuid, device_uuid) == 0) {
        return GMT_MODEL_CALIBRATED;
    }
    if (model->device_name != NULL && device_name != NULL &&
        strcmp(model->device_name, device_name) == 0) {
        return GMT_MODEL_SAME_NAME;
    }
    return GMT_MODEL_MODELLED;
}
