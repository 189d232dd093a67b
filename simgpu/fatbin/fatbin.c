/* SPDX-License-Identifier: Apache-2.0 */
/* Reads images: finds the best PTX and unpacks it. Every length is checked before it is used. */
#include "simgpu/fatbin/fatbin.h"

#include <limits.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* PTX larger than this is taken for an attempt to use up the memory. */
#define MAX_PTX_BYTES ((uint64_t)256 << 20)

enum {
    CONTAINER_BYTES = 16,
    ENTRY_BYTES = 64, /* of an entry's header at least */
    KIND_PTX = 1,
    CONTAINER_VERSION = 1,
};

#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
#define FLAG_ARCHITECTURE UINT64_C(0x100000) /* compute_90a */
#define FLAG_FAMILY UINT64_C(0x200000)       /* compute_100f */

struct fatbin_entry {
    unsigned kind, target;
    uint64_t flags, text_bytes;
    size_t header_bytes, payload_bytes, packed_bytes;
    const unsigned char *payload;
};

static uint16_t read16(const unsigned char *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t read32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t read64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static enum fatbin_result read_entry(const unsigned char *at, size_t left,
                                     struct fatbin_entry *entry)
{
    uint64_t payload;

    if (left < ENTRY_BYTES) {
        return FATBIN_DAMAGED;
    }
    payload = read64(at + 8);
    *entry = (struct fatbin_entry){.kind = read16(at),
                                   .header_bytes = read32(at + 4),
                                   .packed_bytes = read32(at + 16),
                                   .target = read32(at + 28),
                                   .flags = read64(at + 40),
                                   .text_bytes = read64(at + 56)};
    if (entry->header_bytes < ENTRY_BYTES || entry->header_bytes > left ||
        payload > left - entry->header_bytes || entry->packed_bytes > payload) {
        return FATBIN_DAMAGED;
    }
    entry->payload_bytes = (size_t)payload;
    entry->payload = at + entry->header_bytes;
    return FATBIN_OK;
}

/* How well an entry fits device `sm`; 0 = not at all. */
static unsigned fitness(const struct fatbin_entry *entry, unsigned sm)
{
    bool is_specific = (entry->flags & (FLAG_ARCHITECTURE | FLAG_FAMILY)) != 0;

    if (entry->kind != KIND_PTX || entry->target > sm || (is_specific && entry->target != sm)) {
        return 0;
    }
    return 1 + entry->target * 2 + !is_specific;
}

/* ---- text ------------------------------------------------------------------------------------ */

static enum fatbin_result hand_out(char *text, size_t bytes, char **ptx, size_t *ptx_bytes)
{
    while (bytes > 0 && text[bytes - 1] == '\0') {
        bytes--;
    }
    text[bytes] = '\0';
    *ptx = text;
    *ptx_bytes = bytes;
    return FATBIN_OK;
}

static enum fatbin_result copy_text(const void *from, size_t bytes, char **ptx, size_t *ptx_bytes)
{
    char *text;

    if (bytes > MAX_PTX_BYTES) {
        return FATBIN_DAMAGED;
    }
    text = malloc(bytes + 1);
    if (text == NULL) {
        return FATBIN_NO_MEMORY;
    }
    memcpy(text, from, bytes);
    return hand_out(text, bytes, ptx, ptx_bytes);
}

static bool unpack(const struct fatbin_entry *entry, char *text, size_t bytes)
{
    if ((entry->flags & FLAG_ZSTD) != 0) {
        return ZSTD_decompress(text, bytes, entry->payload, entry->packed_bytes) == bytes;
    }
    return entry->packed_bytes <= INT_MAX &&
           LZ4_decompress_safe((const char *)entry->payload, text, (int)entry->packed_bytes,
                               (int)bytes) == (int)bytes;
}

static enum fatbin_result entry_text(const struct fatbin_entry *entry, char **ptx,
                                     size_t *ptx_bytes)
{
    size_t bytes = (size_t)entry->text_bytes;
    char *text;

    if ((entry->flags & (FLAG_ZSTD | FLAG_LZ4)) == 0) {
        return copy_text(entry->payload, entry->payload_bytes, ptx, ptx_bytes);
    }
    if (entry->text_bytes == 0 || entry->text_bytes > MAX_PTX_BYTES) {
        return FATBIN_DAMAGED;
    }
    text = malloc(bytes + 1);
    if (text == NULL) {
        return FATBIN_NO_MEMORY;
    }
    if (!unpack(entry, text, bytes)) {
        free(text);
        return FATBIN_DAMAGED;
    }
    return hand_out(text, bytes, ptx, ptx_bytes);
}

/* ---- images ---------------------------------------------------------------------------------- */

static enum fatbin_result read_container(const unsigned char *at, size_t bytes, unsigned sm,
                                         char **ptx, size_t *ptx_bytes)
{
    struct fatbin_entry best = {0}, entry;
    unsigned best_fitness = 0;
    bool any_ptx = false;
    size_t header;
    uint64_t left;

    if (bytes < CONTAINER_BYTES) {
        return FATBIN_DAMAGED;
    }
    header = read16(at + 6);
    left = read64(at + 8);
    if (read16(at + 4) != CONTAINER_VERSION || header < CONTAINER_BYTES || header > bytes ||
        left > bytes - header) {
        return FATBIN_DAMAGED;
    }
    at += header;
    while (left > 0) {
        enum fatbin_result result = read_entry(at, (size_t)left, &entry);

        if (result != FATBIN_OK) {
            return result;
        }
        any_ptx = any_ptx || entry.kind == KIND_PTX;
        if (fitness(&entry, sm) > best_fitness) {
            best = entry;
            best_fitness = fitness(&entry, sm);
        }
        at += entry.header_bytes + entry.payload_bytes;
        left -= entry.header_bytes + entry.payload_bytes;
    }
    if (best_fitness != 0) {
        return entry_text(&best, ptx, ptx_bytes);
    }
    return any_ptx ? FATBIN_LATER_PTX : FATBIN_NO_PTX;
}

/* PTX begins with a directive or a comment, after blanks. */
static bool looks_like_ptx(const unsigned char *at, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && (at[i] == ' ' || (at[i] >= '\t' && at[i] <= '\r'))) {
        i++;
    }
    return i < bytes && (at[i] == '.' || at[i] == '/');
}

/* What can be read at `image`, of the four bytes that say what it is. */
static uint32_t magic_of(const unsigned char *image, size_t bytes)
{
    unsigned char start[4] = {0};

    /* One after the other: a text that is shorter ends with a NUL, and may end its page. */
    for (size_t i = 0; i < sizeof(start) && i < bytes; i++) {
        start[i] = image[i];
        if (start[i] == 0) {
            break;
        }
    }
    return read32(start);
}

enum fatbin_result fatbin_ptx(const void *image, size_t bytes, unsigned sm, char **ptx,
                              size_t *ptx_bytes)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    const unsigned char *at = image;
    uint32_t magic = image != NULL ? magic_of(image, bytes) : 0;

    *ptx = NULL;
    *ptx_bytes = 0;
    if (magic == FATBIN_WRAPPER_MAGIC && bytes == SIZE_MAX) {
        /* A pointer is believed only in memory, where a program's start-up code has put it. */
        const void *container;

        memcpy(&container, at + 8, sizeof(container));
        at = container;
        magic = at != NULL ? magic_of(at, bytes) : 0;
    }
    if (magic == FATBIN_MAGIC) {
        return read_container(at, bytes, sm, ptx, ptx_bytes);
    }
    if (magic == read32(elf)) {
        return FATBIN_NO_PTX;
    }
    if (magic == 0 || !looks_like_ptx(at, bytes)) {
        return FATBIN_NOT_AN_IMAGE;
    }
    return copy_text(
        at, bytes == SIZE_MAX ? strlen((const char *)at) : strnlen((const char *)at, bytes), ptx,
        ptx_bytes);
}
