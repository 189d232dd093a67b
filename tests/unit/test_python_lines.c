/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables that CPython 3.9 to 3.14 wrote, against the lines that the same interpreters say, and tables that none would write. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "preload/python/lines.h"

TestSuite(python_lines, .timeout = 60);

#define MOST_TABLE (1u << 16)

static enum gmt_python_table table_of(const char *name)
{
    return strcmp(name, "lnotab") == 0      ? GMT_PYTHON_LNOTAB
           : strcmp(name, "linetable") == 0 ? GMT_PYTHON_LINETABLE
                                            : GMT_PYTHON_LOCATIONS;
}

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
    size_t count = 0;
    unsigned byte;
    while (hex[0] != '-' && sscanf(hex + 2 * count, "%2x", &byte) == 1) {
        cr_assert_lt(count, MOST_TABLE);
        bytes[count++] = (uint8_t)byte;
    }
    return count;
}

/* Every line of a recording: of a code object, or of one of its instructions. */
static unsigned check_recording(const char *version)
{
    static char line[4 * MOST_TABLE], hex[4 * MOST_TABLE];
    static uint8_t bytes[MOST_TABLE];
    char path[256], format[16];
    enum gmt_python_table table = GMT_PYTHON_LNOTAB;
    size_t count = 0;
    int first = 0, offset, expected;
    unsigned checked = 0;
    (void)snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/data/python_lines/%s.txt.gz",
                   version);
    gzFile file = gzopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    while (gzgets(file, line, sizeof(line)) != NULL) {
        if (sscanf(line, "%d %d", &offset, &expected) == 2) {
            cr_expect_eq(gmt_python_line_of(table, bytes, count, first, offset), expected,
                         "%s: instruction at %d of a code object from line %d", version, offset,
                         first);
            checked++;
        } else if (sscanf(line, "%15[a-z] %d %s", format, &first, hex) == 3) {
            table = table_of(format);
            count = bytes_of(hex, bytes);
        }
    }
    (void)gzclose(file);
    return checked;
}

Test(python_lines, are_those_that_the_interpreters_say)
{
    static const char *const versions[] = {"3.9", "3.10", "3.11", "3.12", "3.13", "3.14"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        cr_expect_gt(check_recording(versions[i]), 400, "%s", versions[i]);
    }
}

Test(python_lines, before_the_first_instruction_are_the_first_line)
{
    for (int table = GMT_PYTHON_LNOTAB; table <= GMT_PYTHON_LOCATIONS; table++) {
        cr_expect_eq(gmt_python_line_of((enum gmt_python_table)table, NULL, 0, 7, -1), 7);
        cr_expect_eq(gmt_python_line_of((enum gmt_python_table)table, NULL, 0, -7, -1), 0);
    }
    cr_expect_eq(gmt_python_line_of(GMT_PYTHON_LNOTAB, NULL, 0, 7, 4), 7);
    cr_expect_eq(gmt_python_line_of(GMT_PYTHON_LINETABLE, NULL, 0, 7, 4), 0);
    cr_expect_eq(gmt_python_line_of(GMT_PYTHON_LOCATIONS, NULL, 0, 7, 4), 0);
}

/* Each table is a block of its own, so that sanitizers see what is read behind it. */
Test(python_lines, of_any_bytes_are_some_line_or_none)
{
    uint64_t random = 88172645463325252u;
    for (unsigned round = 0; round < 30000; round++) {
        size_t count = round % 41;
        uint8_t *bytes = malloc(count != 0 ? count : 1);
        cr_assert_not_null(bytes);
        for (size_t i = 0; i < count; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[i] = (uint8_t)(random >> (round % 3 == 0 ? 8 : 16));
        }
        for (int table = GMT_PYTHON_LNOTAB; table <= GMT_PYTHON_LOCATIONS; table++) {
            int32_t line = gmt_python_line_of((enum gmt_python_table)table, bytes, count,
                                              round % 2 == 0 ? 1 : INT32_MAX,
                                              (int32_t)(round % 97));
            cr_assert_geq(line, 0);
        }
        free(bytes);
    }
}
