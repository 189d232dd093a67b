/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three formats of line tables (CPython: Objects/lnotab_notes.txt of 3.9 and 3.10, Objects/locations.md of 3.11,
 * InternalDocs/code_objects.md since). All are run-length coded differences, read from the front.
 */
#include "preload/python/lines.h"

#include <stdbool.h>

/* Pairs: bytes of code, and by how much the line is higher behind them. */
static int32_t line_of_lnotab(const uint8_t *bytes, size_t count, int32_t first_line,
                              int32_t offset)
{
    int64_t at = 0, line = first_line;
    for (size_t i = 0; i + 1 < count; i += 2) {
        at += bytes[i];
        if (at > offset) {
            break;
        }
        line += (int8_t)bytes[i + 1];
    }
    return line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
}

/* Pairs: bytes of code, and by how much their line is higher than that of the pair before; -128: they have none. */
static int32_t line_of_linetable(const uint8_t *bytes, size_t count, int32_t first_line,
                                 int32_t offset)
{
    int64_t at = 0, line = first_line;
    for (size_t i = 0; i + 1 < count; i += 2) {
        bool has_line = (int8_t)bytes[i + 1] != -128;
        line += has_line ? (int8_t)bytes[i + 1] : 0;
        at += bytes[i];
        if (at > offset) {
            return has_line && line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
        }
    }
    return 0;
}

/* A number in groups of six bits, the lowest first; odd ones are negative. */
static int64_t signed_number(const uint8_t *bytes, size_t count, size_t at)
{
    uint64_t number = 0;
    for (unsigned shift = 0; at < count && shift < 36; at++, shift += 6) {
        number |= (uint64_t)(bytes[at] & 0x3f) << shift;
        if ((bytes[at] & 0x40) == 0) {
            break;
        }
    }
    return (number & 1) != 0 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* Entries: a byte with its top bit set, that says the kind and the number of code units, and what the kind needs. */
static int32_t line_of_locations(const uint8_t *bytes, size_t count, int32_t first_line,
                                 int32_t offset)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };
    int64_t at = 0, line = first_line;
    size_t i = 0;
    while (i < count) {
        unsigned kind = bytes[i] >> 3 & 0xf;
        at += 2 * ((bytes[i] & 7) + 1);
        if (kind >= ONE_LINE && kind < NO_COLUMNS) {
            line += kind - ONE_LINE;
        } else if (kind == NO_COLUMNS || kind == LONG) {
            line += signed_number(bytes, count, i + 1);
        }
        if (at > offset) {
            return kind != NO_LINE && line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
        }
        do {
            i++;
        } while (i < count && (bytes[i] & 0x80) == 0);
    }
    return 0;
}

int32_t gmt_python_line_of(enum gmt_python_table table, const uint8_t *bytes, size_t count,
                           int32_t first_line, int32_t offset)
{
    if (offset < 0) {
        return first_line > 0 ? first_line : 0;
    }
    switch (table) {
    case GMT_PYTHON_LNOTAB: return line_of_lnotab(bytes, count, first_line, offset);
    case GMT_PYTHON_LINETABLE: return line_of_linetable(bytes, count, first_line, offset);
    default: return line_of_locations(bytes, count, first_line, offset);
    }
}
