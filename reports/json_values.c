/* SPDX-License-Identifier: Apache-2.0 */
/* Values of reports as JSON: what is unknown becomes null, and text of traces valid UTF-8. */
#include "reports/json_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/format.h"

json_t *gmt_json_text(const char *text)
{
    char *clean = text != NULL ? gmt_clean_copy(text) : NULL;
    json_t *json = clean != NULL ? json_string(clean) : json_null();

    free(clean);
    return json;
}

json_t *gmt_json_lines(const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL, *rest = copy, *line, *all = NULL;
    size_t bytes = 0;
    FILE *out = copy != NULL ? open_memstream(&all, &bytes) : NULL;
    json_t *json = NULL;

    if (out != NULL) {
        while ((line = strsep(&rest, "\n")) != NULL) {
            gmt_print_clean(out, line, 0);
            if (rest != NULL)
                fputc('\n', out);
        }
        if (fclose(out) == 0)
            json = json_string(all);
    }
    free(all);
    free(copy);
    return json != NULL ? json : json_null();
}

json_t *gmt_json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *gmt_json_ns(double ns)
{
    return isfinite(ns) && fabs(ns) < 9e18 ? json_integer((json_int_t)llround(ns)) : json_null();
}
