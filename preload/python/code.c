/* SPDX-License-Identifier: Apache-2.0 */
/* Reads code objects and the texts that they hold. */
#include "preload/python/code.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/python/lines.h"
#include "preload/python/memory.h"

#define KNOWN 1024u           /* a power of two */
#define MOST_LINES (1u << 20) /* bytes of a line table */
#define MOST_TEXT 4096u       /* characters of a name or path that are looked at */

#define PRIME UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * PRIME;
    return hash ^ hash >> 29;
}

/* Both halves of a product, of which every bit depends on all bits of the factors. */
static inline uint64_t fold(uint64_t left, uint64_t right)
{
    __extension__ unsigned __int128 product = (unsigned __int128)left * right;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Bytes [at, at + count), 8 at most, as a number. */
__attribute__((no_sanitize("address"))) static inline uint64_t few_bytes(uintptr_t at, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)gmt_python_load_byte(at + i) << (8 * i);
    }
    return word;
}

/* A line table is read at every call: two words with one multiplication, twice side by side. */
static uint64_t hash_bytes(uint64_t hash, uintptr_t at, size_t count)
{
    const uint64_t first = UINT64_C(0xa0761d6478bd642f), second = UINT64_C(0xe7037ed1a0b428db);
    uint64_t left = hash ^ first, right = hash ^ second;
    size_t rest = count;
    for (; rest >= 32; at += 32, rest -= 32) {
        left = fold(gmt_python_load(at) ^ first, gmt_python_load(at + 8) ^ left);
        right = fold(gmt_python_load(at + 16) ^ second, gmt_python_load(at + 24) ^ right);
    }
    if (rest >= 16) {
        left = fold(gmt_python_load(at) ^ first, gmt_python_load(at + 8) ^ left);
        at += 16;
        rest -= 16;
    }
    /* What is left, with some of what was read before where there is that. */
    if (count >= 16) {
        right = fold(gmt_python_load(at + rest - 16) ^ second,
                     gmt_python_load(at + rest - 8) ^ right);
    } else if (rest >= 8) {
        right = fold(gmt_python_load(at) ^ second, gmt_python_load(at + rest - 8) ^ right);
    } else {
        right = fold(few_bytes(at, rest) ^ second, right);
    }
    left = fold(count ^ first, left);
    return mix(mix(hash, left), right);
}

/* ... and can so many bytes of it be read? */
static inline bool is_of(const struct gmt_python *python, uintptr_t at, uintptr_t type,
                         size_t bytes)
{
    return (at & 7) == 0 && gmt_python_readable(at, bytes) &&
           gmt_python_load(at + python->layout.type) == type;
}

bool gmt_python_is(const struct gmt_python *python, uintptr_t at, uintptr_t type)
{
    return is_of(python, at, type, python->layout.type + sizeof(type));
}

static bool has_size(const struct gmt_python *python, uintptr_t type, uintptr_t type_type,
                     uint16_t size)
{
    uintptr_t at = type + python->layout.type_basicsize;
    return gmt_python_is(python, type, type_type) && gmt_python_readable(at, sizeof(uint64_t)) &&
           gmt_python_load(at) == size;
}

bool gmt_python_fits(const struct gmt_python *python, uintptr_t type_type, uintptr_t frame_type)
{
    return python->text_type != 0 && python->bytes_type != 0 &&
           has_size(python, python->code_type, type_type, python->layout.code_basicsize) &&
           has_size(python, frame_type, type_type, python->layout.frame_basicsize);
}

/* ---- texts ------------------------------------------------------------------------------------- */

struct text {
    uintptr_t data;
    size_t length; /* characters */
    unsigned character_bytes;
};

static bool text_at(const struct gmt_python *python, uintptr_t at, struct text *text)
{
    const struct gmt_python_layout *layout = &python->layout;
    if (!is_of(python, at, python->text_type, layout->text_compact)) {
        return false;
    }
    uint32_t state = (uint32_t)gmt_python_load_int(at + layout->text_state) >> layout->kind_shift;
    bool is_compact = (state & 8) != 0, is_ascii = (state & 16) != 0;
    text->character_bytes = state & 7;
    text->length = gmt_python_load(at + layout->text_length);
    text->data = at + (is_ascii ? layout->text_ascii : layout->text_compact);
    return is_compact &&
           (text->character_bytes == 1 || text->character_bytes == 2 || text->character_bytes == 4);
}

/* Its own hash, which a str has once it was a key of a dict (all names of code were), else one of its characters. */
static bool hash_text(const struct gmt_python *python, uintptr_t at, uint64_t *hash)
{
    struct text text;
    if (!is_of(python, at, python->text_type, python->layout.text_compact)) {
        return false;
    }
    uint64_t known = gmt_python_load(at + python->layout.text_hash);
    if (known != UINT64_MAX) {
        *hash = mix(*hash, known);
        return true;
    }
    if (!text_at(python, at, &text)) {
        return false;
    }
    size_t bytes = text.length * text.character_bytes;
    if (text.length > MOST_TEXT || (bytes != 0 && !gmt_python_readable(text.data, bytes))) {
        return false;
    }
    *hash = hash_bytes(*hash, text.data, bytes);
    return true;
}

__attribute__((no_sanitize("address"))) static uint32_t character(const struct text *text, size_t i)
{
    uintptr_t at = text->data + i * text->character_bytes;
    switch (text->character_bytes) {
    case 1: return *(const uint8_t *)at;   // NOLINT(performance-no-int-to-ptr)
    case 2: return *(const uint16_t *)at;  // NOLINT(performance-no-int-to-ptr)
    default: return *(const uint32_t *)at; // NOLINT(performance-no-int-to-ptr)
    }
}

/* One character in UTF-8; surrogates, which stand for bytes of no encoding, become '?'. */
static size_t encode(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)(code != 0 ? code : '?');
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        to[0] = '?';
        return 1;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static bool copy_text(const struct gmt_python *python, uintptr_t at, char *to, size_t room)
{
    struct text text;
    to[0] = '\0';
    if (!text_at(python, at, &text)) {
        return false;
    }
    size_t length = text.length < MOST_TEXT ? text.length : MOST_TEXT, used = 0;
    if (length != 0 && !gmt_python_readable(text.data, length * text.character_bytes)) {
        return false;
    }
    for (size_t i = 0; i < length && used + 5 <= room; i++) {
        used += encode(character(&text, i), to + used);
    }
    to[used] = '\0';
    return true;
}

/* ---- code objects ------------------------------------------------------------------------------ */

/* Its line table, a bytes object. */
static bool lines_of(const struct gmt_python *python, uintptr_t code, uintptr_t *data,
                     size_t *count)
{
    const struct gmt_python_layout *layout = &python->layout;
    uintptr_t lines = gmt_python_load(code + layout->code_lines);
    if (!is_of(python, lines, python->bytes_type, layout->bytes_data)) {
        return false;
    }
    *data = lines + layout->bytes_data;
    *count = gmt_python_load(lines + layout->var_size);
    return *count <= MOST_LINES && (*count == 0 || gmt_python_readable(*data, *count));
}

static bool is_code(const struct gmt_python *python, uintptr_t code)
{
    return is_of(python, code, python->code_type, python->layout.code_basicsize);
}

static uint64_t identity_by_content(const struct gmt_python *python, uintptr_t code)
{
    const struct gmt_python_layout *layout = &python->layout;
    uint64_t hash = PRIME;
    uintptr_t data;
    size_t count;
    if (!lines_of(python, code, &data, &count) ||
        !hash_text(python, gmt_python_load(code + layout->code_file), &hash) ||
        !hash_text(python, gmt_python_load(code + layout->code_name), &hash)) {
        return 0;
    }
    hash = mix(hash, (uint32_t)gmt_python_load_int(code + layout->code_first_line));
    return hash_bytes(hash, data, count) | 1;
}

/* Identities of code objects that have a version of their own. What is compared is stored xored with the identity: an entry that two
 * threads write at once matches neither. */
static struct known {
    _Atomic uint64_t code, version, identity;
} known[KNOWN];

uint64_t gmt_python_code_identity(const struct gmt_python *python, uintptr_t code)
{
    const struct gmt_python_layout *layout = &python->layout;
    uint64_t version = layout->code_version != 0
                           ? (uint32_t)gmt_python_load_int(code + layout->code_version)
                           : 0;
    if (version == 0) {
        return identity_by_content(python, code);
    }
    /* An interpreter that is started again in the process counts from the start. */
    version |= (uint64_t)gmt_python_load_int(code + layout->code_first_line) << 32;
    struct known *entry = &known[(code >> 5 ^ version) % KNOWN];
    uint64_t identity = atomic_load_explicit(&entry->identity, memory_order_relaxed);
    if ((atomic_load_explicit(&entry->code, memory_order_relaxed) ^ identity) == code &&
        (atomic_load_explicit(&entry->version, memory_order_relaxed) ^ identity) == version) {
        return identity;
    }
    identity = identity_by_content(python, code);
    if (identity == 0) {
        return 0;
    }
    atomic_store_explicit(&entry->identity, identity, memory_order_relaxed);
    atomic_store_explicit(&entry->code, code ^ identity, memory_order_relaxed);
    atomic_store_explicit(&entry->version, version ^ identity, memory_order_relaxed);
    return identity;
}

size_t gmt_python_code_bytes(const struct gmt_python *python, uintptr_t code, uintptr_t *start)
{
    const struct gmt_python_layout *layout = &python->layout;
    if (!is_code(python, code)) {
        return 0;
    }
    if (layout->table == GMT_PYTHON_LOCATIONS) {
        *start = code + layout->code_bytes;
        return 2 * (size_t)gmt_python_load(code + layout->var_size);
    }
    uintptr_t bytes = gmt_python_load(code + layout->code_bytes);
    if (!is_of(python, bytes, python->bytes_type, layout->bytes_data)) {
        return 0;
    }
    *start = bytes + layout->bytes_data;
    return (size_t)gmt_python_load(bytes + layout->var_size);
}

bool gmt_python_code_place(const struct gmt_python *python, uintptr_t code, int32_t offset,
                           struct gmt_python_place *place)
{
    const struct gmt_python_layout *layout = &python->layout;
    uintptr_t data;
    size_t count;
    if (!is_code(python, code) || !lines_of(python, code, &data, &count) ||
        !copy_text(python, gmt_python_load(code + layout->code_name), place->function,
                   sizeof(place->function)) ||
        !copy_text(python, gmt_python_load(code + layout->code_file), place->file,
                   sizeof(place->file))) {
        return false;
    }
    place->line = gmt_python_line_of(layout->table, (const uint8_t *)data, count, // NOLINT
                                     gmt_python_load_int(code + layout->code_first_line), offset);
    return true;
}
