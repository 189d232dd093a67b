/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people, and text of unknown origin made printable. */
#include "libtrace/base/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/printable.h"

static const char dash[] = "–";
static const char *unknown(char *text)
{
    memcpy(text, dash, sizeof(dash));
    return text;
}

/* Three significant digits, as far as the integer part leaves room. */
static int digits_for(double value)
{
    if (value < 9.995) {
        return 2;
    }
    return value < 99.95 ? 1 : 0;
}

static const char *scaled(char *text, double value, const char *const *units, size_t n, double step)
{
    size_t unit = 0;

    if (!isfinite(value)) {
        return unknown(text);
    }
    double magnitude = fabs(value);
    while (unit + 1 < n && magnitude >= step * 0.9995) {
        magnitude /= step;
        unit++;
    }
    bool whole = unit == 0 && magnitude == floor(magnitude);
    snprintf(text, GMT_FORMAT_BYTES, "%s%.*f %s", value < 0 ? "-" : "",
             whole ? 0 : digits_for(magnitude), magnitude, units[unit]);
    return text;
}

const char *gmt_format_ns(char *text, double ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};

    return scaled(text, ns, units, 4, 1000.0);
}

const char *gmt_format_bytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};

    return scaled(text, bytes, units, 5, 1024.0);
}

const char *gmt_format_rate(char *text, double bytes_per_s)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};

    return scaled(text, bytes_per_s, units, 5, 1000.0);
}

const char *gmt_format_count(char *text, double count)
{
    char plain[GMT_FORMAT_BYTES];
    size_t out = 0;

    if (!isfinite(count) || fabs(count) > 1e15) {
        return unknown(text);
    }
    int length = snprintf(plain, sizeof(plain), "%.0f", count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && plain[i - 1] != '-') {
            text[out++] = ',';
        }
        text[out++] = plain[i];
    }
    text[out] = '\0';
    return text;
}

const char *gmt_format_decimal(char *text, double value, int decimals)
{
    if (!isfinite(value)) {
        return unknown(text);
    }
    snprintf(text, GMT_FORMAT_BYTES, "%.*f", decimals, value);
    return text;
}

const char *gmt_format_percent(char *text, double percent)
{
    if (!isfinite(percent)) {
        return unknown(text);
    }
    if (percent > 0 && percent < 0.095) {
        snprintf(text, GMT_FORMAT_BYTES, "<0.1 %%");
    } else {
        snprintf(text, GMT_FORMAT_BYTES, "%.*f %%", fabs(percent) >= 99.95 ? 0 : 1, percent);
    }
    return text;
}

size_t gmt_clean_length(const char *text)
{
    const char *bytes;
    size_t length, columns = 0;

    while (*text != '\0') {
        text += gmt_printable_next(text, &bytes, &length);
        columns += gmt_columns_of(bytes, length);
    }
    return columns;
}

/* What is cut is as wide as it may be: a blank stands for half of a wide character. */
static size_t end_cut(FILE *out, size_t columns, size_t max_columns)
{
    fprintf(out, "…%*s", (int)(max_columns - columns - 1), "");
    return max_columns;
}

size_t gmt_print_clean(FILE *out, const char *text, size_t max_columns)
{
    bool cut = max_columns > 0 && gmt_clean_length(text) > max_columns;
    const char *bytes;
    size_t length, columns = 0;

    while (*text != '\0') {
        text += gmt_printable_next(text, &bytes, &length);
        size_t width = gmt_columns_of(bytes, length);
        if (cut && columns + width >= max_columns) {
            return end_cut(out, columns, max_columns);
        }
        fwrite(bytes, 1, length, out);
        columns += width;
    }
    return columns;
}

/* At most n characters; where text has more, the last is an ellipsis. */
static char *clean_copy(const char *text, size_t n, bool lines)
{
    static const char ellipsis[] = "…";
    const char *bytes;
    size_t length, used = 0, count = 0, last = 0;
    size_t most = strlen(text);

    most = n < SIZE_MAX / 4 && most > 4 * n ? 4 * n : 3 * most;
    char *clean = malloc(most + sizeof(ellipsis));
    if (clean == NULL) {
        return NULL;
    }
    while (*text != '\0' && count++ < n) {
        bool keep = lines && (*text == '\n' || *text == '\t');

        last = used;
        if (keep) {
            clean[used++] = *text++;
            continue;
        }
        text += gmt_printable_next(text, &bytes, &length);
        memcpy(clean + used, bytes, length);
        used += length;
    }
    if (*text != '\0') {
        memcpy(clean + last, ellipsis, sizeof(ellipsis) - 1);
        used = last + sizeof(ellipsis) - 1;
    }
    clean[used] = '\0';
    return clean;
}

char *gmt_clean_copy(const char *text)
{
    return clean_copy(text, SIZE_MAX, false);
}

char *gmt_clean_cut(const char *text, size_t max_characters)
{
    return clean_copy(text, max_characters, false);
}

char *gmt_clean_lines(const char *text)
{
    return clean_copy(text, SIZE_MAX, true);
}
