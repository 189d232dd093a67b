/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the JSON report: what is not known is null, and text of any bytes becomes valid. */
#include "reports/json/json_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"

static json_t *take(char *clean)
{
    json_t *json = clean != NULL ? json_string(clean) : json_null();

    free(clean);
    return json;
}

json_t *gmt_json_text(const char *value)
{
    return value != NULL ? take(gmt_clean_cut(value, GMT_JSON_MAX_TEXT)) : json_null();
}

json_t *gmt_json_code(const char *value)
{
    return value != NULL ? take(gmt_clean_lines(value)) : json_null();
}

json_t *gmt_json_number(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    /* Counts and bytes are no measurements. */
    if (value == floor(value) && fabs(value) < 9e15) {
        return json_integer((json_int_t)value);
    }
    return json_real(value);
}

json_t *gmt_json_ns(double value)
{
    /* Beyond, an integer could not hold it: the clock of that trace means nothing. */
    return isfinite(value) && fabs(value) < 9e18 ? json_integer((json_int_t)llround(value))
                                                 : json_null();
}

json_t *gmt_json_integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *gmt_json_line(int64_t line)
{
    return line > 0 ? json_integer((json_int_t)line) : json_null();
}

json_t *gmt_json_settings(const char *text)
{
    char *clean = text != NULL ? gmt_clean_cut(text, GMT_JSON_MAX_TEXT) : NULL, *rest = NULL;

    if (clean == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    for (char *part = strtok_r(clean, ";", &rest); part != NULL;
         part = strtok_r(NULL, ";", &rest)) {
        char *equals = strchr(part, '=');

        if (equals == NULL || equals == part) {
            continue;
        }
        *equals = '\0';
        json_object_set_new(object, part, json_string(equals + 1));
    }
    free(clean);
    return object;
}

json_t *gmt_json_chain(const struct gmt_inline_chain *chain)
{
    json_t *array = json_array();

    for (size_t i = 0; i < chain->call_count; i++) {
        const struct gmt_inline_call *call = &chain->calls[i];

        json_array_append_new(
            array, json_pack("{so, so, so, so}", "level", gmt_json_line(call->level), "function",
                             gmt_json_text(call->function), "file", gmt_json_text(call->file),
                             "line", gmt_json_line(call->line)));
    }
    return array;
}
