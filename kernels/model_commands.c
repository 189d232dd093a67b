/* SPDX-License-Identifier: Apache-2.0 */
/* Models and raw timings in files: checked, fitted again, shown. */
#include "kernels/model_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fit/model.h"
#include "kernels/fit/model_files.h"
#include "libtrace/base/printable.h"

#define CHECK_TOLERANCE 1e-4 /* files keep six digits of ratios, whole ns of times */

int gmt_fail(int status, const char *text, const char *detail)
{
    gmt_say(stderr, "gmcalibrate: %s%s%s\n", text, detail != NULL ? ": " : "",
            detail != NULL ? detail : "");
    return status;
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (document == NULL) {
        gmt_fail(1, path, error.text);
    }
    return document;
}

/* NULL, and one line on stderr, when the file cannot be read or makes no model. */
static json_t *refit(const char *path, json_t **raw)
{
    char message[256];
    json_t *model;

    *raw = load(path);
    if (*raw == NULL) {
        return NULL;
    }
    model = gmt_model_from_raw(*raw, message, sizeof(message));
    if (model == NULL) {
        gmt_fail(1, path, message);
    }
    return model;
}

int gmt_cached_path(const json_t *document, char *path, size_t bytes)
{
    const json_t *device = json_object_get(document, "device");
    const char *uuid = json_string_value(json_object_get(device, "uuid"));
    const char *driver = json_string_value(json_object_get(device, "driver_version"));
    const char *tool = json_string_value(json_object_get(document, "tool_version"));

    if (uuid == NULL || driver == NULL || tool == NULL) {
        return -EINVAL;
    }
    return gmt_model_cache_path(uuid, driver, tool, path, bytes);
}

static bool is_model(const json_t *document)
{
    const char *format = json_string_value(json_object_get(document, "format"));

    return format != NULL && strcmp(format, GMT_MODEL_FORMAT) == 0 &&
           json_integer_value(json_object_get(document, "version")) == GMT_MODEL_VERSION;
}

bool gmt_cached_is_current(const char *path, bool quick_will_do)
{
    json_t *model = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    bool current = model != NULL && is_model(model) &&
                   (quick_will_do || !json_is_true(json_object_get(model, "quick")));

    json_decref(model);
    return current;
}

int gmt_model_check(const char *raw_path, const char *path)
{
    char cached[PATH_MAX];
    json_t *raw = NULL, *model = NULL;
    json_t *refitted = refit(raw_path, &raw);
    int status = 1;

    if (refitted == NULL) {
        goto out;
    }
    if (path == NULL) {
        if (gmt_cached_path(raw, cached, sizeof(cached)) != 0) {
            gmt_fail(1, "no model named, and none can be looked up", NULL);
            goto out;
        }
        path = cached;
    }
    model = load(path);
    if (model == NULL) {
        goto out;
    }
    size_t differences = gmt_model_compare(refitted, model, CHECK_TOLERANCE, stdout);
    if (differences == 0) {
        gmt_say(stdout, "%s agrees with %s\n", path, raw_path);
        status = 0;
    } else {
        gmt_say(stdout, "%zu differences between %s and %s\n", differences, path, raw_path);
    }
out:
    json_decref(model);
    json_decref(refitted);
    json_decref(raw);
    return status;
}

int gmt_model_fit(const char *raw_path, const char *output)
{
    json_t *raw = NULL;
    json_t *model = refit(raw_path, &raw);
    int rc = model != NULL ? gmt_json_write(model, output) : -EINVAL;

    if (model != NULL && rc != 0) {
        gmt_fail(1, output, strerror(-rc));
    }
    json_decref(model);
    json_decref(raw);
    return rc == 0 ? 0 : 1;
}

int gmt_model_show(const char *path)
{
    json_t *model = load(path);
    int status = 1;

    if (model == NULL) {
        return status;
    }
    if (is_model(model)) {
        gmt_say(stdout, "%s, measured %s\n", path,
                json_string_value(json_object_get(model, "created")) != NULL
                    ? json_string_value(json_object_get(model, "created"))
                    : "at an unknown time");
        gmt_model_summary(model, stdout);
        status = 0;
    } else {
        gmt_fail(1, path, "no device model, or of another version");
    }
    json_decref(model);
    return status;
}
