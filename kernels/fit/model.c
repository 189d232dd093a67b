/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the raw timings of a calibration run into the device model that the analyzer reads. */
#include "kernels/fit/model.h"

#include <stdio.h>
#include <string.h>

#include "kernels/fit/model_parts.h"

json_t *gmt_model_from_raw(const json_t *raw, char *message, size_t message_bytes)
{
    const char *format = json_string_value(json_object_get(raw, "format"));
    json_int_t version = json_integer_value(json_object_get(raw, "version"));
    static const char *const copied[] = {"tool_version", "created",  "command", "quick",
                                         "device",       "settings", "notes"};
    struct gmt_noise noise = {.n = 0};

    if (format == NULL || strcmp(format, GMT_RAW_FORMAT) != 0) {
        snprintf(message, message_bytes, "not a file of raw calibration timings");
        return NULL;
    }
    if (version != GMT_MODEL_VERSION) {
        snprintf(message, message_bytes,
                 "raw timings have version %" JSON_INTEGER_FORMAT ", this program reads version %d",
                 version, GMT_MODEL_VERSION);
        return NULL;
    }

    json_t *model = json_object();
    gmt_json_put(model, "format", json_string(GMT_MODEL_FORMAT));
    gmt_json_put(model, "version", json_integer(GMT_MODEL_VERSION));
    for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
        json_object_set(model, copied[i], json_object_get(raw, copied[i]));
    }

    const json_t *raw_families = json_object_get(raw, "families");
    json_t *transfers = gmt_fit_point_sets(json_object_get(raw, "transfers"), true);
    json_t *batches = gmt_fit_batches(json_object_get(raw, "batches"));
    json_t *costs = gmt_fit_costs(json_object_get(raw, "costs"));
    message[0] = '\0';
    json_t *families = gmt_fit_families(raw_families, &noise, message, message_bytes);
    bool complete = transfers != NULL && batches != NULL && costs != NULL && families != NULL;

    gmt_fit_noise(model, &noise);
    gmt_json_put(model, "transfers", transfers);
    gmt_fit_copy_noise(model);
    gmt_json_put(model, "batches", batches);
    gmt_json_put(model, "costs", costs);
    gmt_fit_wait_noise(model);
    gmt_json_put(model, "rates", gmt_fit_rates(raw_families));
    gmt_json_put(model, "latencies", gmt_fit_latencies(raw_families));
    json_t *access_costs = gmt_fit_access_costs(raw_families);
    if (json_object_size(access_costs) > 0) { /* raw timings of earlier versions have none */
        json_object_set(model, "access_costs", access_costs);
    }
    json_decref(access_costs);
    gmt_json_put(model, "occupancy_curve",
                 gmt_fit_occupancy(raw_families, GMT_KERNEL_occupancy_stream));
    gmt_json_put(model, "occupancy_curve_vector",
                 gmt_fit_occupancy(raw_families, GMT_KERNEL_occupancy_vector));
    gmt_json_put(model, "occupancy_curve_latency",
                 gmt_fit_occupancy(raw_families, GMT_KERNEL_occupancy_latency));
    gmt_json_put(model, "families", families);
    if (!complete) {
        if (message[0] == '\0') {
            snprintf(message, message_bytes, "a series of samples is empty or not numbers");
        }
        json_decref(model);
        return NULL;
    }
    return model;
}
