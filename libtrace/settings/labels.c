/* SPDX-License-Identifier: Apache-2.0 */
/* Reads labels, and options of a recording. */
#include "libtrace/settings/labels.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_of_key(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static bool is_of_value(char c)
{
    return (unsigned char)c >= ' ' && c != 127 && c != ',' && c != ';';
}

int gmt_labels_check(const char *text)
{
    const char *at = text;
    if (strlen(text) >= GMT_LABELS_BYTES) {
        return -ENAMETOOLONG;
    }
    while (*at != '\0') {
        const char *key = at;
        while (is_of_key(*at)) {
            at++;
        }
        if (at == key || *at != '=' || !is_of_value(at[1])) {
            return -EINVAL;
        }
        at++;
        while (is_of_value(*at)) {
            at++;
        }
        if (*at != '\0' && (*at != ',' || at[1] == '\0')) {
            return -EINVAL;
        }
        at += *at == ',';
    }
    return 0;
}

/* Of "key=value" parts with `separator` between. */
static const char *find(const char *text, const char *key, char separator, size_t *length)
{
    const char ends[] = {separator, '\0'};
    size_t bytes = strlen(key);
    for (const char *at = text; at != NULL; at = strchr(at, separator)) {
        at += *at == separator;
        if (strncmp(at, key, bytes) == 0 && at[bytes] == '=') {
            *length = strcspn(at + bytes + 1, ends);
            return at + bytes + 1;
        }
    }
    return NULL;
}

const char *gmt_label_find(const char *labels, const char *key, size_t *length)
{
    return find(labels, key, ',', length);
}

const char *gmt_recorded_option(const char *options, const char *field, size_t *length)
{
    return find(options, field, ';', length);
}
