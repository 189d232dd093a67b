/* SPDX-License-Identifier: Apache-2.0 */
/* Names that programs register with NVTX: each kept once, for good. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "libtrace/threads/mutex.h"
#include "preload/state/nvtx.h"
#include "preload/state/user_ranges.h"

#define BUCKETS 1024u
#define BLOCK_BYTES (UINT64_C(64) << 10)

struct kept {
    struct kept *next;
    char text[];
};

static struct {
    struct gmt_mutex mutex;
    struct kept *bucket[BUCKETS];
    char *block;
    size_t used; /* of the block */
} strings = {.mutex = GMT_MUTEX(RANGE_NAMES), .used = BLOCK_BYTES};

static unsigned bucket_of(const char *text, size_t length)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (uint8_t)text[i]) * UINT32_C(16777619);
    }
    return hash % BUCKETS;
}

static struct kept *add(const char *text, size_t length)
{
    size_t bytes = (sizeof(struct kept) + length + 1 + 7) & ~(size_t)7;
    if (BLOCK_BYTES - strings.used < bytes) {
        int saved_errno = errno;
        void *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
        errno = saved_errno;
        if (block == MAP_FAILED) {
            return NULL;
        }
        strings.block = block;
        strings.used = 0;
    }
    struct kept *kept = (void *)(strings.block + strings.used);
    memcpy(kept->text, text, length);
    kept->text[length] = '\0';
    strings.used += bytes;
    return kept;
}

void gmt_nvtx_forked(void)
{
    gmt_mutex_renew(&strings.mutex);
}

static void init(void)
{
    (void)pthread_atfork(NULL, NULL, gmt_nvtx_forked);
}

const char *gmt_nvtx_keep(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, init);
    size_t length = strnlen(text, GMT_RANGE_NAME_BYTES - 1);
    gmt_mutex_lock(&strings.mutex);
    struct kept **bucket = &strings.bucket[bucket_of(text, length)];
    struct kept *kept = *bucket;
    while (kept != NULL && (strncmp(kept->text, text, length) != 0 || kept->text[length] != '\0')) {
        kept = kept->next;
    }
    if (kept == NULL && (kept = add(text, length)) != NULL) {
        kept->next = *bucket;
        *bucket = kept;
    }
    gmt_mutex_unlock(&strings.mutex);
    return kept != NULL ? kept->text : NULL;
}

/* Bytes of one character; 0: it does not fit. */
static size_t encode(uint32_t c, char *to, size_t room)
{
    c = c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0xfffd : c;
    size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (bytes > room) {
        return 0;
    }
    for (size_t i = bytes; i-- > 1; c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)(lead[bytes] | c);
    return bytes;
}

const char *gmt_nvtx_from_wide(const wchar_t *wide, char *text, size_t bytes)
{
    size_t used = 0, more = 1;
    for (size_t i = 0; wide[i] != L'\0' && more != 0; i++) {
        more = encode((uint32_t)wide[i], text + used, bytes - 1 - used);
        used += more;
    }
    text[used] = '\0';
    return text;
}

const char *gmt_nvtx_message(uint32_t type, const void *message, char *text)
{
    if (message == NULL) {
        return "";
    }
    switch (type) {
    case GMT_NVTX_ASCII:
    case GMT_NVTX_REGISTERED: return message;
    case GMT_NVTX_UNICODE: return gmt_nvtx_from_wide(message, text, GMT_RANGE_NAME_BYTES);
    default: return "";
    }
}
