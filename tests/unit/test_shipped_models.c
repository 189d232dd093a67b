/* SPDX-License-Identifier: Apache-2.0 */
/* Every model that is shipped follows from the raw timings that lie beside it. */
#include <criterion/criterion.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fit/model.h"
#include "tests/recordings.h"

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = gmt_recording_load(path, &error);

    cr_assert(document != NULL, "%s: %s", path, error.text);
    return document;
}

/* The raw file of x.json is x.raw.json.gz. */
static json_t *load_model_of(const char *raw_path)
{
    char path[4096];

    snprintf(path, sizeof(path), "%.*s.json", (int)(strlen(raw_path) - strlen(".raw.json.gz")),
             raw_path);
    return load(path);
}

static json_t *refit(json_t *raw)
{
    char message[256] = "";
    json_t *model = gmt_model_from_raw(raw, message, sizeof(message));

    cr_assert(model != NULL, "%s", message);
    return model;
}

Test(shipped_models, are_what_the_fit_makes_of_their_raw_timings)
{
    glob_t found;

    cr_assert(glob(GMT_SOURCE_DIR "/kernels/models/*.raw.json.gz", 0, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_t *raw = load(found.gl_pathv[i]), *model = load_model_of(found.gl_pathv[i]);
        json_t *refitted = refit(raw);

        cr_expect(gmt_model_compare(refitted, model, 1e-4, stderr) == 0,
                  "%s: fit it again with "
                  "gmcalibrate --fit RAW --output MODEL",
                  found.gl_pathv[i]);
        json_decref(refitted);
        json_decref(model);
        json_decref(raw);
    }
    globfree(&found);
}

/* The comparison sees a timing that is one per cent off. */
Test(shipped_models, do_not_follow_from_other_timings)
{
    json_t *raw = load(GMT_SOURCE_DIR "/kernels/models/nvidia-h200.raw.json.gz");
    json_t *model = load(GMT_SOURCE_DIR "/kernels/models/nvidia-h200.json");
    json_t *curve = json_object_get(json_object_get(raw, "transfers"), "h2d_pinned_async");
    json_t *point = json_array_get(curve, json_array_size(curve) - 1);
    json_t *samples = json_object_get(point, "samples_ns"), *value;
    size_t i;

    cr_assert(json_array_size(samples) > 0);
    json_array_foreach(samples, i, value)
        json_array_set_new(samples, i, json_integer(json_integer_value(value) * 101 / 100));
    json_t *refitted = refit(raw);
    cr_expect(gmt_model_compare(refitted, model, 1e-4, NULL) >= 2);
    json_decref(refitted);
    json_decref(model);
    json_decref(raw);
}
