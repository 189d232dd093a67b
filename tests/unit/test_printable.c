/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that name something foreign: shown as they may be, and each in one write. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/printable.h"

static struct {
    unsigned writes;
    char text[16384];
    size_t length;
} seen;

static ssize_t on_write(void *cookie, const char *bytes, size_t count)
{
    (void)cookie;
    seen.writes++;
    cr_assert_lt(seen.length + count, sizeof(seen.text));
    memcpy(seen.text + seen.length, bytes, count);
    seen.length += count;
    return (ssize_t)count;
}

/* As standard error is. */
static FILE *unbuffered(void)
{
    FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = on_write});
    cr_assert_not_null(out);
    cr_assert_eq(setvbuf(out, NULL, _IONBF, 0), 0);
    return out;
}

Test(printable, a_message_is_one_write)
{
    FILE *out = unbuffered();
    gmt_say(out, "gmtrace: wrote %s; next: gmanalyze %s\n", "/tmp/trace.db", "/tmp/trace.db");
    cr_expect_eq(seen.writes, 1, "%u writes", seen.writes);
    cr_expect_str_eq(seen.text, "gmtrace: wrote /tmp/trace.db; next: gmanalyze /tmp/trace.db\n");
    cr_assert_eq(fclose(out), 0);
}

Test(printable, what_is_not_printable_grows_and_fits)
{
    char bytes[4001];
    FILE *out = unbuffered();
    memset(bytes, 0xff, sizeof(bytes) - 1);
    bytes[sizeof(bytes) - 1] = '\0';
    gmt_say(out, "%s\n", bytes);
    cr_expect_eq(seen.writes, 1, "%u writes", seen.writes);
    cr_assert_eq(seen.length, 3 * (sizeof(bytes) - 1) + 1);
    for (size_t i = 0; i + 1 < seen.length; i += 3) {
        cr_assert_arr_eq(seen.text + i, "\xef\xbf\xbd", 3, "byte %zu", i);
    }
    cr_assert_eq(fclose(out), 0);
}

Test(printable, only_the_newline_of_the_format_stays)
{
    FILE *out = unbuffered();
    gmt_say(out, "a%sb\n", "\n\x1b[31m\n");
    cr_expect_str_eq(seen.text, "a \xef\xbf\xbd[31m b\n");
    cr_assert_eq(fclose(out), 0);
}
