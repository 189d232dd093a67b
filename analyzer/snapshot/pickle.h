/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain data out of a pickle: None, bool, int, float, str, bytes, list, tuple and dict. Nothing is ever unpickled: no name is
 * looked up and nothing is called; an opcode that would do so is refused by its name.
 */
#ifndef GMT_ANALYZER_SNAPSHOT_PICKLE_H
#define GMT_ANALYZER_SNAPSHOT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_pickle_type {
    GMT_PICKLE_NONE,
    GMT_PICKLE_BOOL,
    GMT_PICKLE_INTEGER,
    GMT_PICKLE_REAL,
    GMT_PICKLE_TEXT,
    GMT_PICKLE_BYTES,
    GMT_PICKLE_LIST,
    GMT_PICKLE_TUPLE,
    GMT_PICKLE_DICT,
};

/*
 * What is read at most. A value takes 24 bytes of memory and an item of a container 4, so that a file takes at most some 3 GiB
 * beside its own bytes.
 */
enum {
    GMT_PICKLE_MOST_BYTES = 1 << 30,
    GMT_PICKLE_MOST_VALUES = 1 << 25,
    GMT_PICKLE_MOST_ITEMS = 1 << 28, /* of all containers together */
    GMT_PICKLE_MOST_STACK = 1 << 24, /* values that are in no container yet */
    GMT_PICKLE_MOST_MARKS = 1 << 10, /* containers that are being filled, one within another */
    GMT_PICKLE_MOST_KEYS = 64,       /* of a dict in which a key is looked for: the last ones */
};

struct gmt_pickle_value {
    uint8_t type;
    uint32_t count; /* bytes of text; items; of a dict keys and values */
    uint32_t room;  /* items allocated */
    union {
        int64_t integer; /* also bool; beyond 64 bits the nearest */
        double real;
        const unsigned char *text; /* in the file's bytes, without an end */
        uint32_t
            *items; /* indices of values; a value may be in several containers, and in itself */
    };
};

struct gmt_pickle {
    struct gmt_pickle_value *values;
    size_t count;
    uint32_t root;
};

/*
 * `data` must live as long. 0; -EINVAL: it is no such pickle, or more than the limits, with one line in message; -ENOMEM. To
 * be given to gmt_pickle_free in any case.
 */
int gmt_pickle_read(struct gmt_pickle *pickle, const unsigned char *data, size_t bytes,
                    char *message, size_t message_bytes);
void gmt_pickle_free(struct gmt_pickle *pickle);

static inline const struct gmt_pickle_value *gmt_pickle_root(const struct gmt_pickle *pickle)
{
    return &pickle->values[pickle->root];
}

/* Item i of a list or tuple. */
static inline const struct gmt_pickle_value *
gmt_pickle_item(const struct gmt_pickle *pickle, const struct gmt_pickle_value *list, size_t i)
{
    return &pickle->values[list->items[i]];
}

/* How many items: 0 of what is neither list nor tuple. NULL is allowed. */
size_t gmt_pickle_length(const struct gmt_pickle_value *value);

/* The value of a key; NULL: there is none, or it is no dict. NULL is allowed. */
const struct gmt_pickle_value *gmt_pickle_get(const struct gmt_pickle *pickle,
                                              const struct gmt_pickle_value *dict, const char *key);

/* Is it this text? NULL is allowed. */
bool gmt_pickle_is_text(const struct gmt_pickle_value *value, const char *text);

#endif
