/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprintf and __assertfail, the functions that nvcc calls for printf and assert.
 *
 * Arguments lie in a buffer in memory, each at a multiple of its size: 4 bytes for integers up to
 * int, 8 for long, pointers and floating point. A conversion that does not fit C's rules is printed
 * as it stands.
 * Source: CUDA C++ Programming Guide, "Formatted Output".
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/call.h"
#include "simgpu/exec/print.h"

enum { MAX_ARGUMENTS = 32, FORMAT_BYTES = 4096, TEXT_BYTES = 4096 };

struct output {
    const struct sim_warp *warp;
    unsigned lane;
    uint64_t arguments; /* address of the buffer */
    uint64_t offset;    /* of the next one */
    unsigned count;     /* taken */
    bool bad;           /* the buffer ends before the format */
    char text[TEXT_BYTES];
    size_t used;
};

static uint64_t next_argument(struct output *output, unsigned bytes)
{
    uint64_t value = 0;

    output->offset = (output->offset + bytes - 1) & ~(uint64_t)(bytes - 1);
    if (output->count >= MAX_ARGUMENTS ||
        !sim_peek_copy(output->warp, output->lane, output->arguments + output->offset, &value,
                       bytes)) {
        output->bad = true;
        return 0;
    }
    output->offset += bytes;
    output->count++;
    return value;
}

static void put(struct output *output, const char *text, size_t bytes)
{
    const size_t room = sizeof(output->text) - output->used;

    bytes = bytes < room ? bytes : room;
    memcpy(output->text + output->used, text, bytes);
    output->used += bytes;
}

/* One conversion of the format: %, flags, width, precision, length, letter. */
struct conversion {
    char spec[32]; /* for snprintf: without length modifiers, `*` to be given as int */
    unsigned stars;
    int star[2];
    bool is_long; /* 8-byte integer */
    char letter;
};

/* Returns the characters read, 0 if this is no conversion. */
static size_t parse(struct output *output, const char *format, struct conversion *conversion)
{
    size_t at = 1, used = 1;
    unsigned longs = 0;

    *conversion = (struct conversion){.spec = "%"};
    while (format[at] != '\0' && strchr("-+ #0123456789.*", format[at]) != NULL) {
        if (used + 4 >= sizeof(conversion->spec) || (format[at] == '*' && conversion->stars == 2)) {
            return 0;
        }
        if (format[at] == '*') {
            conversion->star[conversion->stars++] = (int)next_argument(output, 4);
        }
        conversion->spec[used++] = format[at++];
    }
    while (format[at] != '\0' && strchr("hlLjztq", format[at]) != NULL) {
        longs += format[at] != 'h' && format[at] != 'L';
        at++;
    }
    conversion->letter = format[at];
    conversion->is_long = longs != 0;
    if (conversion->letter == '\0' || strchr("diouxXcspfFeEgGaA", conversion->letter) == NULL) {
        return 0;
    }
    if (conversion->is_long && strchr("diouxX", conversion->letter) != NULL) {
        conversion->spec[used++] = 'l';
    }
    conversion->spec[used++] = conversion->letter;
    conversion->spec[used] = '\0';
    return at + 1;
}

/* snprintf with as many `*` arguments as the conversion has. */
#define PRINT(to, bytes, conversion, value) \
    ((conversion)->stars == 0 ? snprintf(to, bytes, (conversion)->spec, value) \
     : (conversion)->stars == 1 \
         ? snprintf(to, bytes, (conversion)->spec, (conversion)->star[0], value) \
         : snprintf(to, bytes, (conversion)->spec, (conversion)->star[0], (conversion)->star[1], \
                    value))

static const char *string_argument(const struct output *output, uint64_t address, char *buffer,
                                   size_t bytes)
{
    if (address == 0) {
        return "(null)";
    }
    return sim_peek_string(output->warp, output->lane, address, buffer, bytes) ? buffer
                                                                               : "(bad string)";
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void convert(struct output *output, const struct conversion *conversion)
{
    char string[TEXT_BYTES];
    char *to = output->text + output->used;
    const size_t room = sizeof(output->text) - output->used;
    int printed;

    switch (conversion->letter) {
    case 's':
        printed = PRINT(to, room, conversion,
                        string_argument(output, next_argument(output, 8), string, sizeof(string)));
        break;
    case 'p':
        printed = PRINT(to, room, conversion, (void *)(uintptr_t)next_argument(output, 8));
        break;
    case 'c': printed = PRINT(to, room, conversion, (int)next_argument(output, 4)); break;
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        printed = conversion->is_long
                      ? PRINT(to, room, conversion, (unsigned long)next_argument(output, 8))
                      : PRINT(to, room, conversion, (unsigned)next_argument(output, 4));
        break;
    default: {
        const uint64_t bits = next_argument(output, 8);
        double value;

        memcpy(&value, &bits, sizeof(value));
        printed = PRINT(to, room, conversion, value);
        break;
    }
    }
    if (printed > 0) {
        output->used += (size_t)printed < room ? (size_t)printed : room - (room != 0);
    }
}
#pragma GCC diagnostic pop

static void format_text(struct output *output, const char *format)
{
    while (*format != '\0' && output->used < sizeof(output->text) - 1) {
        const size_t plain = strcspn(format, "%");
        struct conversion conversion;

        put(output, format, plain);
        format += plain;
        if (*format == '\0') {
            break;
        }
        if (format[1] == '%') {
            put(output, "%", 1);
            format += 2;
            continue;
        }
        const size_t read = parse(output, format, &conversion);
        if (read == 0 || output->bad) {
            put(output, format, 1);
            format++;
            continue;
        }
        convert(output, &conversion);
        format += read;
    }
}

const struct sim_op *sim_builtin_vprintf(struct sim_warp *warp, const struct sim_op *op,
                                         uint32_t mask, const struct sim_ptx_call *call)
{
    struct sim_printer *printer = warp->worker->printer;
    char format[FORMAT_BYTES];

    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct output output = {.warp = warp, .lane = lane};
        const uint64_t text = sim_call_argument(warp, call, 0, lane);

        output.arguments = sim_call_argument(warp, call, 1, lane);
        if (!sim_peek_string(warp, lane, text, format, sizeof(format))) {
            return sim_warp_fault(warp, op, UINT32_C(1) << lane, SIM_ILLEGAL_ADDRESS,
                                  "the format of printf at 0x%llx is not in memory",
                                  (unsigned long long)text);
        }
        format_text(&output, format);
        const bool kept = sim_print_append(printer, warp->block->number, output.text,
                                           output.used) == 0;
        sim_call_result(warp, call, UINT32_C(1) << lane,
                        kept ? output.count : (uint64_t)UINT32_MAX);
    }
    return op + 1;
}

/* (message, file, line, function, bytes of a character) */
const struct sim_op *sim_builtin_assertfail(struct sim_warp *warp, const struct sim_op *op,
                                            uint32_t mask, const struct sim_ptx_call *call)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    char message[120], file[120], function[120];

    sim_peek_string(warp, lane, sim_call_argument(warp, call, 0, lane), message, sizeof(message));
    sim_peek_string(warp, lane, sim_call_argument(warp, call, 1, lane), file, sizeof(file));
    sim_peek_string(warp, lane, sim_call_argument(warp, call, 3, lane), function, sizeof(function));
    return sim_warp_fault(warp, op, mask, SIM_ASSERT, "%s:%u: %s: Assertion `%s` failed.", file,
                          (unsigned)sim_call_argument(warp, call, 2, lane), function, message);
}
