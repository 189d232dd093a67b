/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as pprof reads it: a message of protocol buffers (proto/profile.proto of github.com/google/pprof),
 * compressed as gzip does. Numbers of fields are those of that file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/commands/profile.h"
#include "libtrace/base/format.h"

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_INLINE_FRAMES = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING_ID = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
};
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static const struct {
    const char *name, *unit;
} values[] = {
#define GMT_PROFILE_ROW(NAME, name, unit, unit_of_speedscope, title) {name, unit},
    GMT_PROFILE_VALUE_ROWS(GMT_PROFILE_ROW)
#undef GMT_PROFILE_ROW
};

/* A message that is being written. */
struct message {
    FILE *out;
    char *text;
    size_t bytes;
};

/* The strings of the table are put in the order of their numbers, at the end. */
struct strings {
    const char **texts;
    size_t count;
};

static void put_varint(FILE *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        fputc((int)(value & 0x7f) | 0x80, out);
    }
    fputc((int)value, out);
}

/* 0 is what a field that is left out has. */
static void put_number(FILE *out, unsigned field, uint64_t value)
{
    if (value != 0) {
        put_varint(out, field << 3 | WIRE_VARINT);
        put_varint(out, value);
    }
}

static void put_bytes(FILE *out, unsigned field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | WIRE_BYTES);
    put_varint(out, length);
    (void)fwrite(bytes, 1, length, out);
}

static int open_message(struct message *m)
{
    *m = (struct message){0};
    m->out = open_memstream(&m->text, &m->bytes);
    return m->out != NULL ? 0 : -ENOMEM;
}

/* Puts it into `out` as a field, and frees it. */
static int close_message(struct message *m, FILE *out, unsigned field)
{
    int rc = fclose(m->out) == 0 ? 0 : -ENOMEM;

    if (rc == 0) {
        put_bytes(out, field, m->text, m->bytes);
    }
    free(m->text);
    return rc;
}

static uint64_t number_of(struct gmt_profile *p, struct strings *strings, const char *text)
{
    const char **slot = GMT_PUSH(&p->arena, strings->texts, strings->count);

    if (slot == NULL) {
        return 0;
    }
    *slot = text;
    return strings->count - 1;
}

static int put_types(FILE *out, struct gmt_profile *p, struct strings *strings)
{
    uint64_t first = 0;
    int rc = 0;

    for (int i = 0; rc == 0 && i < GMT_PROFILE_VALUES; i++) {
        struct message type;

        if (!p->known[i]) {
            continue;
        }
        rc = open_message(&type);
        if (rc == 0) {
            uint64_t name = number_of(p, strings, values[i].name);

            put_number(type.out, VALUE_TYPE_TYPE, name);
            put_number(type.out, VALUE_TYPE_UNIT, number_of(p, strings, values[i].unit));
            first = first != 0 ? first : name;
            rc = close_message(&type, out, PROFILE_SAMPLE_TYPE);
        }
    }
    put_number(out, PROFILE_DEFAULT_SAMPLE_TYPE, first);
    return rc;
}

/* Locations are frames, numbered from 1; innermost first. */
static int put_sample(FILE *out, const struct gmt_profile *p,
                      const struct gmt_profile_sample *sample)
{
    struct message message, packed;
    int rc = open_message(&message);

    if (rc != 0) {
        return rc;
    }
    rc = open_message(&packed);
    if (rc == 0) {
        put_varint(packed.out, sample->leaf + 1);
        for (size_t i = 0; i < sample->depth; i++) {
            put_varint(packed.out, (uint64_t)sample->frames[i] + 1);
        }
        rc = close_message(&packed, message.out, SAMPLE_LOCATION_ID);
    }
    if (rc == 0) {
        rc = open_message(&packed);
    }
    if (rc == 0) {
        for (int i = 0; i < GMT_PROFILE_VALUES; i++) {
            if (p->known[i]) {
                put_varint(packed.out, (uint64_t)sample->values[i]);
            }
        }
        rc = close_message(&packed, message.out, SAMPLE_VALUE);
    }
    int closed = close_message(&message, out, PROFILE_SAMPLE);
    return rc != 0 ? rc : closed;
}

/* One mapping that says that there is nothing left to be named. */
static int put_mapping(FILE *out, struct gmt_profile *p, struct strings *strings)
{
    struct message mapping;
    int rc = open_message(&mapping);

    if (rc != 0) {
        return rc;
    }
    put_number(mapping.out, MAPPING_ID, 1);
    put_number(mapping.out, MAPPING_FILENAME,
               number_of(p, strings, p->program != NULL ? p->program : p->trace));
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES; field++) {
        put_number(mapping.out, field, 1);
    }
    return close_message(&mapping, out, PROFILE_MAPPING);
}

/* A location and a function for each frame, of the same number. */
static int put_frame(FILE *out, struct gmt_profile *p, struct strings *strings, size_t index)
{
    const struct gmt_profile_frame *frame = &p->frames[index];
    struct message location, line, function;
    int rc = open_message(&location);

    if (rc != 0) {
        return rc;
    }
    put_number(location.out, LOCATION_ID, index + 1);
    put_number(location.out, LOCATION_MAPPING_ID, 1);
    rc = open_message(&line);
    if (rc == 0) {
        put_number(line.out, LINE_FUNCTION_ID, index + 1);
        put_number(line.out, LINE_LINE, (uint64_t)frame->line);
        rc = close_message(&line, location.out, LOCATION_LINE);
    }
    int closed = close_message(&location, out, PROFILE_LOCATION);
    rc = rc != 0 ? rc : closed;
    if (rc == 0) {
        rc = open_message(&function);
    }
    if (rc == 0) {
        uint64_t name = number_of(p, strings, frame->name);

        put_number(function.out, FUNCTION_ID, index + 1);
        put_number(function.out, FUNCTION_NAME, name);
        put_number(function.out, FUNCTION_SYSTEM_NAME, name);
        if (frame->file != NULL) {
            put_number(function.out, FUNCTION_FILENAME, number_of(p, strings, frame->file));
        }
        rc = close_message(&function, out, PROFILE_FUNCTION);
    }
    return rc;
}

static int put_profile(FILE *out, struct gmt_profile *p)
{
    struct strings strings = {0};
    int rc = 0;

    (void)number_of(p, &strings, ""); /* number 0 is the empty string */
    rc = put_types(out, p, &strings);
    for (size_t i = 0; rc == 0 && i < p->sample_count; i++) {
        rc = put_sample(out, p, &p->samples[i]);
    }
    rc = rc == 0 ? put_mapping(out, p, &strings) : rc;
    for (size_t i = 0; rc == 0 && i < p->frame_count; i++) {
        rc = put_frame(out, p, &strings, i);
    }
    put_number(out, PROFILE_DURATION_NANOS, (uint64_t)p->wall_ns);
    put_number(out, PROFILE_COMMENT, number_of(p, &strings, "made by gmtrace " GMT_VERSION));
    for (size_t i = 0; rc == 0 && i < strings.count; i++) {
        char *clean = gmt_clean_copy(strings.texts[i]);

        rc = clean != NULL ? 0 : -ENOMEM;
        if (rc == 0) {
            put_bytes(out, PROFILE_STRING_TABLE, clean, strlen(clean));
        }
        free(clean);
    }
    return rc != 0 ? rc : p->arena.failed ? -ENOMEM : 0;
}

static int compress_into(FILE *out, char *text, size_t bytes)
{
    enum { GZIP = 16 + MAX_WBITS, MEMORY = 8, MOST_INPUT = 1 << 30 };
    z_stream z = {0};
    unsigned char buffer[16384];
    int code = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
                            Z_DEFAULT_STRATEGY);

    if (code != Z_OK) {
        return -ENOMEM;
    }
    do {
        if (z.avail_in == 0) {
            z.next_in = (unsigned char *)text;
            z.avail_in = bytes < MOST_INPUT ? (unsigned)bytes : MOST_INPUT;
            text += z.avail_in;
            bytes -= z.avail_in;
        }
        z.next_out = buffer;
        z.avail_out = sizeof(buffer);
        code = deflate(&z, bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
        (void)fwrite(buffer, 1, sizeof(buffer) - z.avail_out, out);
    } while (code == Z_OK);
    (void)deflateEnd(&z);
    return code == Z_STREAM_END ? 0 : -EIO;
}

int gmt_profile_write_pprof(void *profile, FILE *out)
{
    struct message whole;
    int rc = open_message(&whole);

    if (rc != 0) {
        return rc;
    }
    rc = put_profile(whole.out, profile);
    if (fclose(whole.out) != 0 && rc == 0) {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        rc = compress_into(out, whole.text, whole.bytes);
    }
    free(whole.text);
    return rc != 0 ? rc : ferror(out) ? -EIO : 0;
}
