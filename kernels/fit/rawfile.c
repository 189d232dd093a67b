/* SPDX-License-Identifier: Apache-2.0 */
/* Building the document of raw timings. */
#include "kernels/fit/rawfile.h"

#include <math.h>
#include <string.h>

json_t *gmt_raw_object(json_t *parent, const char *key)
{
    if (json_object_get(parent, key) == NULL) {
        json_object_set_new(parent, key, json_object());
    }
    return json_object_get(parent, key);
}

json_t *gmt_raw_array(json_t *parent, const char *key)
{
    if (json_object_get(parent, key) == NULL) {
        json_object_set_new(parent, key, json_array());
    }
    return json_object_get(parent, key);
}

json_t *gmt_raw_point(json_t *points, size_t bytes)
{
    size_t i;
    json_t *point;

    json_array_foreach(points, i, point)
    {
        if (json_integer_value(json_object_get(point, "bytes")) == (json_int_t)bytes) {
            return point;
        }
    }
    point = json_object();
    json_object_set_new(point, "bytes", json_integer((json_int_t)bytes));
    json_array_append_new(points, point);
    return point;
}

void gmt_raw_pass(json_t *object, unsigned pass)
{
    json_array_append_new(gmt_raw_array(object, GMT_RAW_PASS), json_integer((json_int_t)pass));
}

void gmt_raw_sample(json_t *object, const char *series, double time_ns)
{
    json_array_append_new(gmt_raw_array(object, series), json_integer(llround(time_ns)));
}

void gmt_raw_note(json_t *raw, const char *text)
{
    json_t *notes = gmt_raw_array(raw, "notes");
    size_t i;
    json_t *note;

    json_array_foreach(notes, i, note)
    {
        if (strcmp(json_string_value(note), text) == 0) {
            return;
        }
    }
    json_array_append_new(notes, json_string(text));
}
