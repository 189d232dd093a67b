/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints: every byte counts where all are hashed, the blocks where not. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/hash/content_hash.h"

#define LIMIT ((size_t)1 << 20)
#define LARGE ((size_t)8 << 20)

static char *filled(size_t bytes)
{
    char *memory = malloc(bytes);
    cr_assert_not_null(memory);
    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (char)(i * 2654435761u >> 13);
    }
    return memory;
}

static struct gmt_hash hash_of(const void *start, size_t bytes)
{
    return gmt_hash_of(&(struct gmt_hash_range){.start = start, .width = bytes, .rows = 1}, LIMIT);
}

static bool equal(struct gmt_hash a, struct gmt_hash b)
{
    return a.low == b.low && a.high == b.high && a.whole == b.whole &&
           a.bytes_hashed == b.bytes_hashed;
}

Test(content_hash, is_that_of_xxh3)
{
    /* XXH3_128bits("", 0) is published with the algorithm; one byte distinguishes the halves. */
    struct gmt_hash hash = hash_of("a", 1);
    cr_expect_eq(hash.high, UINT64_C(0xa96faf705af16834), "%lx", (unsigned long)hash.high);
    cr_expect_eq(hash.low, UINT64_C(0xe6c632b61e964e1f), "%lx", (unsigned long)hash.low);
    cr_expect(hash.whole);
    cr_expect_eq(hash.bytes_hashed, 1);
}

Test(content_hash, sees_any_byte_of_what_is_hashed_whole)
{
    static const size_t sizes[] = {1, 63, 64, 4096, 262144, 262145, LIMIT};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *memory = filled(sizes[i]);
        struct gmt_hash before = hash_of(memory, sizes[i]);
        cr_expect(before.whole);
        cr_expect(equal(before, hash_of(memory, sizes[i])));
        size_t places[] = {0, sizes[i] / 3, sizes[i] - 1};
        for (size_t p = 0; p < 3; p++) {
            memory[places[p]] ^= 1;
            cr_expect(!equal(before, hash_of(memory, sizes[i])), "%zu of %zu", places[p], sizes[i]);
            memory[places[p]] ^= 1;
        }
        free(memory);
    }
}

Test(content_hash, samples_blocks_of_what_is_larger)
{
    char *memory = filled(LARGE);
    struct gmt_hash before = hash_of(memory, LARGE);
    cr_expect(!before.whole);
    cr_expect_eq(before.bytes_hashed, GMT_HASH_SAMPLED_BYTES);
    cr_expect_eq(gmt_hash_bytes(LARGE, LIMIT), GMT_HASH_SAMPLED_BYTES);
    size_t step = (LARGE - GMT_HASH_BLOCK_BYTES) / (GMT_HASH_BLOCKS - 1);
    size_t seen[] = {0, step, 17 * step + GMT_HASH_BLOCK_BYTES - 1, LARGE - 1};
    for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
        memory[seen[i]] ^= 1;
        cr_expect(!equal(before, hash_of(memory, LARGE)), "byte %zu", seen[i]);
        memory[seen[i]] ^= 1;
    }
    memory[GMT_HASH_BLOCK_BYTES] ^= 1; /* between two blocks: why such a hash verifies nothing */
    cr_expect(equal(before, hash_of(memory, LARGE)));
    free(memory);
}

Test(content_hash, does_not_depend_on_the_pitch)
{
    enum { ROWS = 300, WIDTH = 1000, PITCH = 1536 };
    char *packed = filled(ROWS * WIDTH), *pitched = filled(ROWS * PITCH);
    for (size_t row = 0; row < ROWS; row++) {
        memcpy(pitched + row * PITCH, packed + row * WIDTH, WIDTH);
    }
    struct gmt_hash_range rows = {.start = pitched, .width = WIDTH, .rows = ROWS, .pitch = PITCH};
    cr_expect(equal(hash_of(packed, ROWS * WIDTH), gmt_hash_of(&rows, LIMIT)));
    struct gmt_hash sampled = gmt_hash_of(&rows, 1);
    cr_expect_eq(sampled.bytes_hashed, GMT_HASH_SAMPLED_BYTES);
    struct gmt_hash_range flat = {.start = packed, .width = ROWS * WIDTH, .rows = 1};
    cr_expect(equal(sampled, gmt_hash_of(&flat, 1)));
    free(packed);
    free(pitched);
}

/* The byte behind the range is in a page that cannot be read. */
Test(content_hash, reads_nothing_beyond_the_range)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = LARGE;
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    cr_assert_neq(memory, MAP_FAILED);
    cr_assert_eq(mprotect(memory + bytes, page, PROT_NONE), 0);
    for (size_t size = 1; size <= bytes; size = size * 3 + 1) {
        cr_expect_eq(hash_of(memory + bytes - size, size).bytes_hashed,
                     gmt_hash_bytes(size, LIMIT));
    }
    struct gmt_hash_range rows = {
        .start = memory + bytes - 7 * page - 100, .width = 100, .rows = 8, .pitch = page};
    cr_expect(gmt_hash_of(&rows, LIMIT).whole);
}

Test(content_hash, carefully_reads_the_same_and_survives_what_cannot_be_read)
{
    if (getenv("GMT_EMULATED") != NULL) {
        cr_skip_test("qemu does not emulate process_vm_readv");
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 400 * page;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    memset(memory, 7, bytes / 2);
    struct gmt_hash_range range = {.start = memory + 1, .width = bytes - 1, .rows = 1};
    for (size_t limit = 1; limit <= LARGE; limit += LARGE - 1) {
        range.careful = false;
        struct gmt_hash direct = gmt_hash_of(&range, limit);
        range.careful = true;
        cr_expect(equal(direct, gmt_hash_of(&range, limit)));
    }
    cr_assert_eq(mprotect(memory + bytes / 2, page, PROT_NONE), 0);
    cr_expect_eq(gmt_hash_of(&range, LARGE).bytes_hashed, 0);
    cr_assert_eq(munmap(memory, bytes), 0);
    cr_expect_eq(gmt_hash_of(&range, 1).bytes_hashed, 0);
}
