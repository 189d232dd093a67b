/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the raw timings of several processes into one document. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/fit/rawfile.h"

/* The parts of a document that hold series. */
static const char *const parts[] = {"costs", "batches", "transfers", "families"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What distinguishes the items of a list of points or rows. */
static const char *const identities[] = {"variant", "bytes", "width", "rows", "device_pitch_bytes"};

/* Where the samples come from, and what they become a part of. */
struct origin {
    unsigned process;
    json_int_t first_pass;
};

static bool is_numbers(const json_t *array)
{
    size_t i;
    json_t *value;

    json_array_foreach((json_t *)array, i, value)
    {
        if (!json_is_number(value)) {
            return false;
        }
    }
    return true;
}

static bool is_sound(const json_t *node);

/* A series is as long as the passes beside it say, or was not taken in all of them. */
static bool is_sound_object(const json_t *object)
{
    const json_t *passes = json_object_get(object, GMT_RAW_PASS);
    const char *key;
    json_t *value;

    if (passes != NULL && (!json_is_array(passes) || !is_numbers(passes))) {
        return false;
    }
    json_object_foreach((json_t *)object, key, value)
    {
        bool is_series = passes != NULL && json_is_array(value) &&
                         !json_is_object(json_array_get(value, 0));

        if (is_series ? !is_numbers(value) || json_array_size(value) > json_array_size(passes)
                      : !is_sound(value)) {
            return false;
        }
    }
    return true;
}

static bool is_sound(const json_t *node)
{
    size_t i;
    json_t *item;

    if (json_is_object(node)) {
        return is_sound_object(node);
    }
    json_array_foreach((json_t *)node, i, item)
    {
        if (!json_is_object(item) || !is_sound_object(item)) {
            return false;
        }
    }
    return true;
}

static bool is_same(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < COUNT_OF(identities); i++) {
        const json_t *x = json_object_get(a, identities[i]), *y = json_object_get(b, identities[i]);

        if ((x != NULL || y != NULL) && !json_equal(x, y)) {
            return false;
        }
    }
    return true;
}

static json_t *counterpart(json_t *list, const json_t *item)
{
    size_t i;
    json_t *candidate;

    json_array_foreach(list, i, candidate)
    {
        if (is_same(candidate, item)) {
            return candidate;
        }
    }
    json_array_append_new(list, json_object());
    return json_array_get(list, json_array_size(list) - 1);
}

static void append_passes(json_t *object, const json_t *passes, const struct origin *origin)
{
    size_t i;
    json_t *pass;

    json_array_foreach((json_t *)passes, i, pass)
    {
        gmt_raw_pass(object, (unsigned)(origin->first_pass + json_integer_value(pass)));
        json_array_append_new(gmt_raw_array(object, GMT_RAW_PROCESS),
                              json_integer((json_int_t)origin->process));
    }
}

static void merge_object(json_t *all, const json_t *one, const struct origin *origin);

static void merge_list(json_t *all, const json_t *one, const struct origin *origin)
{
    size_t i;
    json_t *item;

    json_array_foreach((json_t *)one, i, item) merge_object(counterpart(all, item), item, origin);
}

static void merge_object(json_t *all, const json_t *one, const struct origin *origin)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)one, key, value)
    {
        if (strcmp(key, GMT_RAW_PASS) == 0) {
            append_passes(all, value, origin);
        } else if (json_is_array(value) && json_is_object(json_array_get(value, 0))) {
            merge_list(gmt_raw_array(all, key), value, origin);
        } else if (json_is_array(value)) {
            json_array_extend(gmt_raw_array(all, key), value);
        } else if (json_is_object(value)) {
            merge_object(gmt_raw_object(all, key), value, origin);
        } else if (json_object_get(all, key) == NULL) {
            json_object_set(all, key, value);
        }
    }
}

static void merge_passes(json_t *all, const json_t *passes, unsigned process)
{
    size_t i;
    json_t *pass;

    json_array_foreach((json_t *)passes, i, pass)
    {
        json_t *row = json_copy(pass);

        json_object_set_new(row, GMT_RAW_PROCESS, json_integer((json_int_t)process));
        json_array_append_new(gmt_raw_array(all, "passes"), row);
    }
}

int gmt_raw_merge(json_t *all, const json_t *one, unsigned process)
{
    const json_t *passes = json_object_get(one, "passes");
    struct origin origin = {
        .process = process,
        .first_pass = (json_int_t)json_array_size(json_object_get(all, "passes")),
    };
    size_t i;
    json_t *note;

    if (!json_is_object(one) || json_array_size(passes) == 0 || !is_sound(passes)) {
        return -EINVAL;
    }
    for (i = 0; i < COUNT_OF(parts); i++) {
        const json_t *part = json_object_get(one, parts[i]);

        if (part != NULL && (!json_is_object(part) || !is_sound(part))) {
            return -EINVAL;
        }
    }
    for (i = 0; i < COUNT_OF(parts); i++) {
        const json_t *part = json_object_get(one, parts[i]);

        if (part != NULL) {
            merge_object(gmt_raw_object(all, parts[i]), part, &origin);
        }
    }
    merge_passes(all, passes, process);
    json_array_foreach(json_object_get(one, "notes"), i, note)
    {
        if (json_is_string(note)) {
            gmt_raw_note(all, json_string_value(note));
        }
    }
    return 0;
}
