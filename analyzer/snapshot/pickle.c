/* SPDX-License-Identifier: Apache-2.0 */
/* A machine for the opcodes of plain data, with a stack of its own: how deep values lie in each other costs no recursion. */
#include "analyzer/snapshot/pickle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"

struct reader {
    struct gmt_pickle *pickle;
    const unsigned char *data;
    size_t bytes, at, opcode_at;
    uint32_t *stack, *memo;
    size_t stack_count, stack_room, memo_count, memo_room;
    size_t *marks; /* depths of the stack */
    size_t mark_count, mark_room;
    size_t value_room, item_count;
    const char *name; /* of the opcode */
    char *message;
    size_t message_bytes;
    int rc; /* not 0: it failed; 1: the pickle has ended */
};

enum { STOPPED = 1 };

static void refuse(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(struct reader *r, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(r->message, r->message_bytes, "byte %zu: ", r->opcode_at);

    va_start(arguments, format);
    if (used >= 0 && (size_t)used < r->message_bytes) {
        vsnprintf(r->message + used, r->message_bytes - (size_t)used, format, arguments);
    }
    va_end(arguments);
    r->rc = -EINVAL;
}

static void too_much(struct reader *r, size_t most, const char *what)
{
    char count[GMT_FORMAT_BYTES];

    refuse(r, "more than %s %s", gmt_format_count(count, (double)most), what);
}

/* Room for `count` elements; false: it failed. */
static bool reserve(struct reader *r, void **array, size_t *room, size_t count, size_t bytes)
{
    if (count <= *room) {
        return true;
    }
    size_t more = *room < 16 ? 16 : 2 * *room;
    void *grown = realloc(*array, (more < count ? count : more) * bytes);

    if (grown == NULL) {
        r->rc = -ENOMEM;
        return false;
    }
    *array = grown;
    *room = more < count ? count : more;
    return true;
}

/* The next bytes of the file; NULL: it ends before. */
static const unsigned char *take(struct reader *r, uint64_t bytes)
{
    const unsigned char *at = r->data + r->at;

    if (bytes > r->bytes - r->at) {
        refuse(r, "the file ends within %s", r->name);
        return NULL;
    }
    r->at += (size_t)bytes;
    return at;
}

static uint64_t take_number(struct reader *r, size_t bytes)
{
    const unsigned char *at = take(r, bytes);
    uint64_t number = 0;

    for (size_t i = bytes; at != NULL && i-- > 0;) {
        number = number << 8 | at[i];
    }
    return number;
}

static void push_index(struct reader *r, uint32_t index)
{
    if (r->stack_count == GMT_PICKLE_MOST_STACK) {
        too_much(r, GMT_PICKLE_MOST_STACK, "values outside of a container");
        return;
    }
    if (reserve(r, (void **)&r->stack, &r->stack_room, r->stack_count + 1, sizeof(*r->stack))) {
        r->stack[r->stack_count++] = index;
    }
}

/* A new value on the stack. */
static void push(struct reader *r, struct gmt_pickle_value value)
{
    struct gmt_pickle *p = r->pickle;

    if (r->rc != 0) {
        return;
    }
    if (p->count == GMT_PICKLE_MOST_VALUES) {
        too_much(r, GMT_PICKLE_MOST_VALUES, "values");
        return;
    }
    if (reserve(r, (void **)&p->values, &r->value_room, p->count + 1, sizeof(value))) {
        p->values[p->count] = value;
        push_index(r, (uint32_t)p->count++);
    }
}

/* So many values above the innermost mark; false: there are fewer. */
static bool has(struct reader *r, size_t count)
{
    size_t below = r->mark_count > 0 ? r->marks[r->mark_count - 1] : 0;

    if (r->rc == 0 && r->stack_count - below < count) {
        refuse(r, "%s finds too few values", r->name);
    }
    return r->rc == 0;
}

/* How many values lie above the innermost mark, which it removes. */
static size_t unmark(struct reader *r)
{
    if (r->mark_count == 0) {
        refuse(r, "%s without MARK", r->name);
        return 0;
    }
    return r->stack_count - r->marks[--r->mark_count];
}

/* Moves the last values of the stack into a container. */
static void fill(struct reader *r, uint32_t index, size_t count)
{
    struct gmt_pickle_value *to = &r->pickle->values[index];

    if (r->rc != 0) {
        return;
    }
    if (r->item_count + count > GMT_PICKLE_MOST_ITEMS) {
        too_much(r, GMT_PICKLE_MOST_ITEMS, "items in lists, tuples and dicts");
        return;
    }
    const uint32_t *from = r->stack + r->stack_count - count;
    if (to->type == GMT_PICKLE_DICT && count % 2 != 0) {
        refuse(r, "%s finds a key without a value", r->name);
        return;
    }
    for (size_t i = 0; to->type == GMT_PICKLE_DICT && i < count; i += 2) {
        uint8_t key = r->pickle->values[from[i]].type;

        if (key == GMT_PICKLE_LIST || key == GMT_PICKLE_DICT) {
            refuse(r, "a key of a dict is a list or a dict");
            return;
        }
    }
    /* Most containers are filled at once. */
    size_t wanted = to->room == 0 ? count : 2 * (size_t)to->room;
    size_t needed = to->count + count;
    if (needed > to->room) {
        uint32_t *items = realloc(to->items, (wanted < needed ? needed : wanted) * sizeof(*items));
        if (items == NULL) {
            r->rc = -ENOMEM;
            return;
        }
        to->items = items;
        to->room = (uint32_t)(wanted < needed ? needed : wanted);
    }
    if (count > 0) {
        memcpy(to->items + to->count, from, count * sizeof(*from));
    }
    to->count += (uint32_t)count;
    r->item_count += count;
    r->stack_count -= count;
}

/* ---- opcodes: what each does with its bytes and the stack --------------------------------------- */

static void on_protocol(struct reader *r, unsigned code)
{
    uint64_t version = take_number(r, 1);

    (void)code;
    if (r->rc == 0 && (version < 2 || version > 5)) {
        refuse(r, "pickle protocol %" PRIu64 "; 2 to 5 can be read", version);
    } else if (r->rc == 0 && r->opcode_at != 0) {
        refuse(r, "PROTO within the pickle");
    }
}

static void on_frame(struct reader *r, unsigned code)
{
    uint64_t length = take_number(r, 8);

    (void)code;
    if (r->rc == 0 && length > r->bytes - r->at) {
        refuse(r, "the file ends within FRAME");
    }
}

static void on_mark(struct reader *r, unsigned code)
{
    (void)code;
    if (r->mark_count == GMT_PICKLE_MOST_MARKS) {
        too_much(r, GMT_PICKLE_MOST_MARKS, "containers within each other");
    } else if (reserve(r, (void **)&r->marks, &r->mark_room, r->mark_count + 1,
                       sizeof(*r->marks))) {
        r->marks[r->mark_count++] = r->stack_count;
    }
}

static void on_none(struct reader *r, unsigned code)
{
    (void)code;
    push(r, (struct gmt_pickle_value){.type = GMT_PICKLE_NONE});
}

static void on_bool(struct reader *r, unsigned code)
{
    push(r, (struct gmt_pickle_value){.type = GMT_PICKLE_BOOL, .integer = code == 0x88});
}

static void push_integer(struct reader *r, int64_t value)
{
    push(r, (struct gmt_pickle_value){.type = GMT_PICKLE_INTEGER, .integer = value});
}

static void on_integer(struct reader *r, unsigned code)
{
    if (code == 'J') {
        push_integer(r, (int32_t)(uint32_t)take_number(r, 4));
    } else {
        push_integer(r, (int64_t)take_number(r, code == 'K' ? 1 : 2));
    }
}

/* Two's complement of any length, lowest byte first. */
static void on_long(struct reader *r, unsigned code)
{
    uint64_t length = take_number(r, code == 0x8a ? 1 : 4);
    const unsigned char *at = r->rc == 0 ? take(r, length) : NULL;

    if (at == NULL || length == 0) {
        push_integer(r, 0);
        return;
    }
    bool negative = (at[length - 1] & 0x80) != 0;
    uint64_t value = negative ? UINT64_MAX : 0;
    bool fits = true;

    for (size_t i = (size_t)length; i-- > 0;) {
        if (i >= sizeof(value)) {
            fits &= at[i] == (negative ? 0xff : 0);
        } else {
            value = value << 8 | at[i];
        }
    }
    if (length > sizeof(value)) {
        fits &= (value >> 63 != 0) == negative;
    }
    if (fits) {
        push_integer(r, (int64_t)value);
    } else {
        push_integer(r, negative ? INT64_MIN : INT64_MAX);
    }
}

static void on_real(struct reader *r, unsigned code)
{
    const unsigned char *at = take(r, 8);
    uint64_t bits = 0;
    double value;

    (void)code;
    for (size_t i = 0; at != NULL && i < 8; i++) {
        bits = bits << 8 | at[i];
    }
    memcpy(&value, &bits, sizeof(value));
    push(r, (struct gmt_pickle_value){.type = GMT_PICKLE_REAL, .real = value});
}

static void on_text(struct reader *r, unsigned code)
{
    bool is_short = code == 0x8c || code == 'C', is_long = code == 0x8d || code == 0x8e;
    bool is_text = code == 0x8c || code == 'X' || code == 0x8d;
    uint64_t length = take_number(r, is_short ? 1 : (is_long ? 8 : 4));
    const unsigned char *at = r->rc == 0 ? take(r, length) : NULL;

    push(r, (struct gmt_pickle_value){.type = is_text ? GMT_PICKLE_TEXT : GMT_PICKLE_BYTES,
                                      .count = (uint32_t)length,
                                      .text = at});
}

static uint8_t container_of(unsigned code)
{
    if (code == ']' || code == 'l') {
        return GMT_PICKLE_LIST;
    }
    return code == '}' || code == 'd' ? GMT_PICKLE_DICT : GMT_PICKLE_TUPLE;
}

static void on_empty(struct reader *r, unsigned code)
{
    push(r, (struct gmt_pickle_value){.type = container_of(code)});
}

/* The last `count` values become one container of them. */
static void collect(struct reader *r, uint8_t type, size_t count)
{
    struct gmt_pickle *p = r->pickle;

    if (r->rc != 0 || !has(r, count)) {
        return;
    }
    /* Made above its items, then moved below them. */
    push(r, (struct gmt_pickle_value){.type = type});
    if (r->rc == 0) {
        r->stack_count--;
        fill(r, (uint32_t)(p->count - 1), count);
    }
    if (r->rc == 0) {
        push_index(r, (uint32_t)(p->count - 1));
    }
}

static void on_marked(struct reader *r, unsigned code)
{
    size_t count = unmark(r);

    collect(r, container_of(code), count);
}

static void on_tuple(struct reader *r, unsigned code)
{
    collect(r, GMT_PICKLE_TUPLE, code - 0x84);
}

/* Into the list or dict that lies below the values. */
static void on_add(struct reader *r, unsigned code)
{
    bool to_dict = code == 's' || code == 'u';
    size_t count = code == 'a' ? 1 : 2;

    if (code == 'e' || code == 'u') {
        count = unmark(r);
    }
    if (r->rc != 0 || !has(r, count + 1)) {
        return;
    }
    uint32_t to = r->stack[r->stack_count - count - 1];
    if (r->pickle->values[to].type != (to_dict ? GMT_PICKLE_DICT : GMT_PICKLE_LIST)) {
        refuse(r, "%s finds no %s", r->name, to_dict ? "dict" : "list");
        return;
    }
    fill(r, to, count);
}

static void on_get(struct reader *r, unsigned code)
{
    uint64_t index = take_number(r, code == 'h' ? 1 : 4);

    if (r->rc == 0 && (index >= r->memo_count || r->memo[index] == UINT32_MAX)) {
        refuse(r, "%s of memo %" PRIu64 ", which was not put", r->name, index);
    }
    if (r->rc == 0) {
        push_index(r, r->memo[index]);
    }
}

static void on_put(struct reader *r, unsigned code)
{
    uint64_t index = code == 0x94 ? r->memo_count : take_number(r, code == 'q' ? 1 : 4);

    if (r->rc != 0 || !has(r, 1)) {
        return;
    }
    /* Picklers number from 0 or 1 without gaps: a gap would only cost memory. */
    if (index > r->memo_count + 1) {
        refuse(r, "%s of memo %" PRIu64 " where the next is %zu", r->name, index, r->memo_count);
        return;
    }
    if (!reserve(r, (void **)&r->memo, &r->memo_room, (size_t)index + 1, sizeof(*r->memo))) {
        return;
    }
    while (r->memo_count <= index) {
        r->memo[r->memo_count++] = UINT32_MAX;
    }
    r->memo[index] = r->stack[r->stack_count - 1];
}

static void on_stop(struct reader *r, unsigned code)
{
    (void)code;
    if (!has(r, 1)) {
        return;
    }
    if (r->stack_count != 1 || r->mark_count != 0) {
        refuse(r, "STOP with %zu values left over", r->stack_count - 1);
        return;
    }
    r->pickle->root = r->stack[0];
    r->rc = STOPPED;
}

/* ---- the machine --------------------------------------------------------------------------------- */

struct opcode {
    const char *name; /* NULL: there is none of that code */
    void (*run)(struct reader *r, unsigned code);
};

static const struct opcode opcodes[256] = {
#define GMT_PICKLE_PLAIN(code, opcode, function) [code] = {#opcode, function},
#define GMT_PICKLE_REFUSED(code, opcode) [code] = {#opcode, NULL},
#include "analyzer/snapshot/pickle_opcodes.def"
};

static void step(struct reader *r)
{
    unsigned code = r->data[r->at];
    const struct opcode *opcode = &opcodes[code];

    r->opcode_at = r->at++;
    r->name = opcode->name;
    if (opcode->name == NULL) {
        refuse(r, "0x%02x is no opcode of a pickle", code);
    } else if (opcode->run == NULL) {
        refuse(r, "opcode %s makes more than plain data, which a snapshot is; it was not executed",
               opcode->name);
    } else {
        opcode->run(r, code);
    }
}

int gmt_pickle_read(struct gmt_pickle *pickle, const unsigned char *data, size_t bytes,
                    char *message, size_t message_bytes)
{
    struct reader r = {.pickle = pickle,
                       .data = data,
                       .bytes = bytes,
                       .message = message,
                       .message_bytes = message_bytes,
                       .name = "the pickle"};

    *pickle = (struct gmt_pickle){0};
    if (bytes > GMT_PICKLE_MOST_BYTES) {
        too_much(&r, GMT_PICKLE_MOST_BYTES, "bytes");
    } else if (bytes == 0 || data[0] != 0x80) {
        refuse(&r, "not a pickle of protocol 2 to 5");
    }
    while (r.rc == 0 && r.at < bytes) {
        step(&r);
    }
    if (r.rc == 0) {
        r.opcode_at = bytes;
        refuse(&r, "the file ends without STOP");
    } else if (r.rc == STOPPED && r.at != bytes) {
        r.opcode_at = r.at;
        refuse(&r, "the file goes on after STOP");
    }
    free(r.stack);
    free(r.memo);
    free(r.marks);
    return r.rc == STOPPED ? 0 : r.rc;
}
