/* SPDX-License-Identifier: Apache-2.0 */
/* Where blocks were allocated: one place of each stack, and equal places once. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/snapshot/pickle.h"
#include "analyzer/snapshot/snapshot.h"

/* Longer names are cut. */
enum { MOST_NAME = 1024 };

/* Text in the pickle: without an end. */
struct name {
    const char *text;
    size_t length;
};

static struct name name_of(const struct gmt_pickle *pickle, const struct gmt_pickle_value *frame,
                           const char *key)
{
    const struct gmt_pickle_value *value = gmt_pickle_get(pickle, frame, key);

    if (value == NULL || value->type != GMT_PICKLE_TEXT) {
        return (struct name){"", 0};
    }
    return (struct name){(const char *)value->text,
                         value->count < MOST_NAME ? value->count : MOST_NAME};
}

static bool ends_with(struct name name, const char *end)
{
    size_t length = strlen(end);

    return name.length >= length && memcmp(name.text + name.length - length, end, length) == 0;
}

static bool begins_with(struct name name, const char *begin)
{
    size_t length = strlen(begin);

    return name.length >= length && memcmp(name.text, begin, length) == 0;
}

static bool contains(struct name name, const char *part)
{
    return memmem(name.text, name.length, part, strlen(part)) != NULL;
}

/* Of Python's source: a file, or what a prompt or exec() made. */
static bool is_python(struct name file)
{
    return ends_with(file, ".py") || (begins_with(file, "<") && !begins_with(file, "<frozen"));
}

/* PyTorch's own Python, wherever it is installed. */
static bool is_torch(struct name file)
{
    return contains(file, "site-packages/torch/") || contains(file, "dist-packages/torch/");
}

/* The innermost Python frame outside of PyTorch; else the innermost one of Python; else the innermost. NULL: no frame. */
static const struct gmt_pickle_value *choose(const struct gmt_pickle *pickle,
                                             const struct gmt_pickle_value *frames)
{
    const struct gmt_pickle_value *python = NULL;
    size_t count = gmt_pickle_length(frames);

    for (size_t i = 0; i < count && i < GMT_SNAPSHOT_MOST_FRAMES; i++) {
        const struct gmt_pickle_value *frame = gmt_pickle_item(pickle, frames, i);
        struct name file = name_of(pickle, frame, "filename");

        if (!is_python(file)) {
            continue;
        }
        if (!is_torch(file)) {
            return frame;
        }
        python = python == NULL ? frame : python;
    }
    if (python != NULL) {
        return python;
    }
    return count > 0 ? gmt_pickle_item(pickle, frames, 0) : NULL;
}

/* FNV-1a; source: RFC 9923. */
static uint64_t hash_bytes(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    }
    return hash;
}

static uint64_t hash_place(struct name file, struct name function, int64_t line)
{
    uint64_t hash = hash_bytes(0xcbf29ce484222325, file.text, file.length);

    hash = hash_bytes(hash * 31, function.text, function.length);
    return hash_bytes(hash, (const char *)&line, sizeof(line));
}

static struct name name_of_text(const char *text)
{
    return text != NULL ? (struct name){text, strlen(text)} : (struct name){"", 0};
}

static bool is_same(const char *text, struct name name)
{
    struct name other = name_of_text(text);

    return other.length == name.length && memcmp(other.text, name.text, name.length) == 0;
}

static bool grow_table(struct gmt_snapshot_reader *reader)
{
    const struct gmt_torch_snapshot *snapshot = reader->snapshot;
    size_t size = reader->table_size == 0 ? 256 : 2 * reader->table_size;
    uint32_t *table = calloc(size, sizeof(*table));

    if (table == NULL) {
        reader->snapshot->arena.failed = true;
        return false;
    }
    for (size_t i = 0; i < snapshot->place_count; i++) {
        const struct gmt_snapshot_place *place = &snapshot->places[i];
        size_t at = hash_place(name_of_text(place->file), name_of_text(place->function),
                               place->line) &
                    (size - 1);

        while (table[at] != 0) {
            at = (at + 1) & (size - 1);
        }
        table[at] = (uint32_t)i + 1;
    }
    free(reader->place_table);
    reader->place_table = table;
    reader->table_size = size;
    return true;
}

static const char *keep(struct gmt_arena *arena, struct name name)
{
    char *text = name.length > 0 ? gmt_arena_alloc(arena, name.length + 1) : NULL;

    if (text != NULL) {
        memcpy(text, name.text, name.length);
    }
    return text;
}

/* Names end at their first zero byte, as texts do in C. */
static struct name cut(struct name name)
{
    name.length = strnlen(name.text, name.length);
    return name;
}

/* The index of the place, a new one where there is none. */
static uint32_t intern(struct gmt_snapshot_reader *reader, struct name file, struct name function,
                       int64_t line)
{
    struct gmt_torch_snapshot *snapshot = reader->snapshot;

    if (2 * snapshot->place_count >= reader->table_size && !grow_table(reader)) {
        return GMT_SNAPSHOT_NO_PLACE;
    }
    size_t at = hash_place(file, function, line) & (reader->table_size - 1);

    for (; reader->place_table[at] != 0; at = (at + 1) & (reader->table_size - 1)) {
        uint32_t index = reader->place_table[at] - 1;
        const struct gmt_snapshot_place *place = &snapshot->places[index];

        if (place->line == line && is_same(place->file, file) &&
            is_same(place->function, function)) {
            return index;
        }
    }
    if (snapshot->place_count == GMT_SNAPSHOT_MOST_PLACES) {
        return GMT_SNAPSHOT_NO_PLACE;
    }
    struct gmt_snapshot_place *place = GMT_PUSH(&snapshot->arena, snapshot->places,
                                                snapshot->place_count);

    if (place == NULL) {
        return GMT_SNAPSHOT_NO_PLACE;
    }
    *place = (struct gmt_snapshot_place){keep(&snapshot->arena, file),
                                         keep(&snapshot->arena, function), line};
    reader->place_table[at] = (uint32_t)snapshot->place_count;
    return (uint32_t)snapshot->place_count - 1;
}

uint32_t gmt_snapshot_place(struct gmt_snapshot_reader *reader,
                            const struct gmt_pickle_value *record)
{
    const struct gmt_pickle *pickle = reader->pickle;
    const struct gmt_pickle_value *frames = gmt_pickle_get(pickle, record, "frames");

    if (gmt_pickle_length(frames) == 0) {
        return GMT_SNAPSHOT_NO_PLACE;
    }
    uint32_t *known = &reader->place_of[frames - pickle->values];

    if (*known == 0) {
        const struct gmt_pickle_value *frame = choose(pickle, frames);
        const struct gmt_pickle_value *line = gmt_pickle_get(pickle, frame, "line");
        struct name file = cut(name_of(pickle, frame, "filename"));
        struct name function = cut(name_of(pickle, frame, "name"));
        bool is_line = line != NULL && line->type == GMT_PICKLE_INTEGER && line->integer > 0;

        *known = file.length + function.length == 0
                     ? GMT_SNAPSHOT_NO_PLACE
                     : intern(reader, file, function, is_line ? line->integer : 0);
        *known += *known != GMT_SNAPSHOT_NO_PLACE;
    }
    return *known == GMT_SNAPSHOT_NO_PLACE ? GMT_SNAPSHOT_NO_PLACE : *known - 1;
}
