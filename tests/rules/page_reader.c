/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a page as a browser does, with code of its own: base64, gzip, head and columns. */
#include "tests/rules/page_reader.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/page/page.h"
#include "reports/writers.h"

static const char opening[] = "<script id=\"payload\" type=\"application/octet-stream\">";

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t from_base64(const char *text, size_t n, unsigned char *bytes)
{
    size_t used = 0;
    unsigned bits = 0, held = 0;

    cr_assert_eq(n % 4, 0, "base64 of %zu characters", n);
    for (size_t i = 0; i < n; i++) {
        int digit = digit_of(text[i]);

        if (digit < 0) {
            cr_assert(text[i] == '=' && i + 2 >= n, "'%c' in base64", text[i]);
            continue;
        }
        bits = bits << 6 | (unsigned)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes[used++] = (unsigned char)(bits >> held);
        }
    }
    return used;
}

static void unzip(struct gmt_page_read *page, unsigned char *packed, size_t bytes)
{
    z_stream stream = {.next_in = packed, .avail_in = (uInt)bytes};
    int code = Z_OK;

    cr_assert_eq(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    for (size_t capacity = 65536; code == Z_OK; capacity *= 2) {
        page->raw = realloc(page->raw, capacity);
        stream.next_out = page->raw + stream.total_out;
        stream.avail_out = (uInt)(capacity - stream.total_out);
        code = inflate(&stream, Z_NO_FLUSH);
    }
    cr_assert_eq(code, Z_STREAM_END, "gzip: %d", code);
    cr_assert_eq(stream.avail_in, 0, "something behind the payload");
    page->raw_bytes = stream.total_out;
    inflateEnd(&stream);
}

void gmt_page_unpack(struct gmt_page_read *page, char *html)
{
    json_error_t error;
    size_t length;

    *page = (struct gmt_page_read){.html = html};
    const char *start = strstr(html, opening);
    cr_assert_not_null(start, "no payload in the page");
    start += strlen(opening);
    length = strcspn(start, "<");
    unsigned char *packed = malloc(length + 4);
    size_t bytes = from_base64(start, length, packed);
    unzip(page, packed, bytes);
    free(packed);
    const unsigned char *raw = page->raw;
    cr_assert(page->raw_bytes >= 8 && memcmp(raw, "GMTP", 4) == 0);
    size_t head = (size_t)raw[4] | (size_t)raw[5] << 8 | (size_t)raw[6] << 16 |
                  (size_t)raw[7] << 24;
    cr_assert_leq(8 + head, page->raw_bytes);
    page->head = json_loadb((const char *)raw + 8, head, 0, &error);
    cr_assert_not_null(page->head, "head: %s", error.text);
    page->body = 8 + head;
}

void gmt_page_of_fixture(struct gmt_fixture *fixture, struct gmt_page_read *page)
{
    const struct gmt_writer_options options = {.top = 0};
    struct gmt_payload payload;
    char *html = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&html, &bytes);

    cr_assert_eq(gmt_page_fill(&payload, &fixture->timeline, &fixture->model, &fixture->report,
                               "gmanalyze trace.db"),
                 0);
    fixture->report.page = &payload;
    cr_assert_eq(gmt_writer_find("html")->write(&fixture->report, &options, out), 0);
    fixture->report.page = NULL;
    fclose(out);
    gmt_payload_free(&payload);
    gmt_page_unpack(page, html);
}

void gmt_page_read_free(struct gmt_page_read *page)
{
    json_decref(page->head);
    free(page->raw);
    free(page->html);
}

static json_t *named(const json_t *array, const char *name)
{
    size_t i;
    json_t *entry;

    json_array_foreach((json_t *)array, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0) {
            return entry;
        }
    }
    cr_assert_fail("no table or column %s", name);
    return NULL;
}

size_t gmt_page_rows(const struct gmt_page_read *page, const char *table)
{
    json_t *entry = named(json_object_get(page->head, "tables"), table);

    return (size_t)json_integer_value(json_object_get(entry, "rows"));
}

/* Value v is zigzag(v) + 1 in 7 bits a byte; 0 is "not known". */
static const unsigned char *varint(const unsigned char *at, const unsigned char *end, double *value)
{
    unsigned long long raw = 0;
    unsigned shift = 0;

    do {
        cr_assert(at < end && shift < 63, "a column ends within a number");
        raw |= (unsigned long long)(*at & 0x7f) << shift;
        shift += 7;
    } while ((*at++ & 0x80) != 0);
    const unsigned long long half = raw > 0 ? (raw - 1) / 2 : 0, less = raw / 2;
    *value = NAN;
    if (raw > 0) {
        *value = (raw - 1) % 2 == 0 ? (double)half : -(double)less;
    }
    return at;
}

double *gmt_page_column(const struct gmt_page_read *page, const char *table, const char *column)
{
    json_t *entry = named(json_object_get(page->head, "tables"), table);
    size_t rows = gmt_page_rows(page, table);
    json_t *head = named(json_object_get(entry, "columns"), column);
    const char *encoding = json_string_value(json_object_get(head, "encoding"));
    size_t offset = (size_t)json_integer_value(json_object_get(head, "offset"));
    size_t bytes = (size_t)json_integer_value(json_object_get(head, "bytes"));
    const unsigned char *at = page->raw + page->body + offset, *end = at + bytes;
    double *values = calloc(rows + 1, sizeof(*values)), last = 0;

    cr_assert_leq(page->body + offset + bytes, page->raw_bytes);
    for (size_t i = 0; i < rows; i++) {
        if (strcmp(encoding, "u8") == 0) {
            values[i] = *at++;
            continue;
        }
        at = varint(at, end, &values[i]);
        if (strcmp(encoding, "delta") == 0 && !isnan(values[i])) {
            values[i] = last += values[i];
        }
    }
    cr_assert_eq(at, end, "%s.%s: bytes are left", table, column);
    return values;
}
