/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin on its way to a terminal. */
#include "libtrace/base/printable.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Bytes of the valid UTF-8 sequence at text, 0 when there is none. */
static size_t sequence_length(const unsigned char *text)
{
    size_t length;
    uint32_t code;

    if (text[0] < 0x80) {
        return 1;
    }
    if (text[0] >= 0xc2 && text[0] <= 0xdf) {
        length = 2;
        code = text[0] & 0x1fu;
    } else if ((text[0] & 0xf0) == 0xe0) {
        length = 3;
        code = text[0] & 0x0fu;
    } else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
        length = 4;
        code = text[0] & 0x07u;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff)) {
        return 0;
    }
    /* C1 controls, ends of lines and the marks that reorder text would let a kernel's name rewrite the
     * line. */
    if (code < 0xa0 || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
        code == 0x061c || code == 0x200e || code == 0x200f) {
        return 0;
    }
    return length;
}

size_t gmt_printable_next(const char *text, const char **bytes, size_t *length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t taken = sequence_length(at);

    *bytes = text;
    *length = taken;
    if (taken == 0) {
        *bytes = replacement;
        *length = 3;
        return 1;
    }
    if (*at < 0x20 || *at == 0x7f) {
        bool blank = *at == '\n' || *at == '\t' || *at == '\r';

        *bytes = blank ? " " : replacement;
        *length = blank ? 1 : 3;
    }
    return taken;
}

static locale_t utf8;

static void find_utf8(void)
{
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* wcwidth asks the locale of the thread, which is the program's own again afterwards. */
size_t gmt_columns_of(const char *bytes, size_t length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    wchar_t character;
    mbstate_t state = {0};
    int columns = 1;

    if (length == 1) {
        return 1;
    }
    (void)pthread_once(&once, find_utf8);
    if (utf8 != (locale_t)0) {
        locale_t own = uselocale(utf8);
        columns = mbrtowc(&character, bytes, length, &state) == length ? wcwidth(character) : -1;
        (void)uselocale(own);
    }
    return columns >= 0 ? (size_t)columns : 1;
}

/* One write(2) for a message, where it goes to an unbuffered stream: lines of processes that share a terminal
 * stay whole. Without memory a message is cut rather than left out. */
void gmt_say(FILE *out, const char *format, ...)
{
    char cut[512] = "", cut_printable[3 * sizeof(cut) + 1], *text = NULL;
    size_t length, taken = 0, most = strlen(format);
    const char *bytes;
    va_list arguments;

    va_start(arguments, format);
    int written = vasprintf(&text, format, arguments);
    va_end(arguments);
    char *printable = written < 0 ? NULL : malloc(3 * (size_t)written + 1);
    if (printable == NULL) {
        va_start(arguments, format);
        (void)vsnprintf(cut, sizeof(cut), format, arguments); // NOLINT: clang 14 misses va_start
        va_end(arguments);
    }
    char *message = printable != NULL ? text : cut;
    char *line = printable != NULL ? printable : cut_printable;
    bool ends = most > 0 && format[most - 1] == '\n';
    if (ends && message[0] != '\0' && message[strlen(message) - 1] == '\n') {
        message[strlen(message) - 1] = '\0';
    }
    for (const char *at = message; *at != '\0'; taken += length) {
        at += gmt_printable_next(at, &bytes, &length);
        memcpy(line + taken, bytes, length);
    }
    if (ends) {
        line[taken++] = '\n';
    }
    (void)fwrite(line, 1, taken, out);
    free(printable);
    if (written >= 0) {
        free(text);
    }
}
