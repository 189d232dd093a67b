/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool that a recorder left, or that somebody made: finished into a trace, which is then analysed and
 * checked. An input is the files of a spool one after another, each behind a struct packed_file.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/commands/commands.h"
#include "libtrace/record/layout.h"
#include "tests/fuzz/fuzz.h"

struct packed_file {
    char name[16];
    uint64_t bytes;  /* size of the file */
    uint64_t stored; /* how many of them follow; the others are 0 */
};

enum { MOST_FILES = 16, MOST_BYTES = 8 << 20 };

/* The next file at *at, which is moved behind it; NULL: there is none. */
static const uint8_t *next_file(const uint8_t *data, size_t bytes, size_t *at,
                                struct packed_file *file)
{
    const uint8_t *content;

    if (bytes - *at < sizeof(*file)) {
        return NULL;
    }
    memcpy(file, data + *at, sizeof(*file));
    content = data + *at + sizeof(*file);
    if (file->stored > bytes - *at - sizeof(*file)) {
        file->stored = bytes - *at - sizeof(*file);
    }
    *at += sizeof(*file) + (size_t)file->stored;
    return content;
}

/* False: no name for a file in this folder. */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && memchr(name, '\0', 16) != NULL &&
           strchr(name, '/') == NULL;
}

static void unpack(const uint8_t *data, size_t bytes, const char *folder)
{
    struct packed_file file;
    const uint8_t *content;
    size_t at = 0;
    int directory;

    if (mkdir(folder, 0700) != 0 ||
        (directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
        exit(2);
    }
    for (int i = 0; i < MOST_FILES && (content = next_file(data, bytes, &at, &file)) != NULL; i++) {
        int fd = is_plain(file.name)
                     ? openat(directory, file.name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                     : -1;

        if (fd < 0) {
            continue;
        }
        if (write(fd, content, file.stored) != (ssize_t)file.stored ||
            ftruncate(fd, (off_t)(file.bytes < MOST_BYTES ? file.bytes : MOST_BYTES)) != 0) {
            exit(2);
        }
        /* An old file: what has just been made may still be filled in, and is waited for. */
        (void)futimens(fd, (struct timespec[]){{.tv_sec = 1000000000}, {.tv_sec = 1000000000}});
        close(fd);
    }
    close(directory);
}

/* A status of a command that reads or makes a trace */
static void require_made_or_refused(int status)
{
    GMT_FUZZ_REQUIRE(status == GMT_EXIT_OK || status == GMT_EXIT_UNREADABLE);
}

void gmt_fuzz_run(const uint8_t *data, size_t bytes)
{
    /* As its own user does it, and as somebody does whom it was mailed to. */
    static const char *const own[] = {"--calibrate", "never", "-o", "r.json", "t.db", NULL},
                             *const other[] = {"recover", "-o", "t.db", "mailed.db.spool", NULL},
                             *const check[] = {"validate", "t.db", NULL};
    bool is_own = bytes == 0 || data[bytes / 2] % 2 == 0;

    gmt_fuzz_sweep();
    unpack(data, bytes, gmt_fuzz_path(is_own ? "t.db.spool" : "mailed.db.spool"));
    if (!is_own) {
        require_made_or_refused(gmt_fuzz_command(other, GMT_FUZZ_TEXT));
    }
    require_made_or_refused(gmt_fuzz_command(own, GMT_FUZZ_TEXT));
    require_made_or_refused(gmt_fuzz_command(check, GMT_FUZZ_TEXT));
}

/* ---- changes of records ---------------------------------------------------------------------- */

/* The slots of a chunk, of which records are made */
struct slots {
    uint8_t *first;
    size_t count;
};

static uint32_t commit_of(const struct slots *slots, size_t slot)
{
    uint32_t word;

    memcpy(&word, slots->first + slot * GMT_SLOT_BYTES, sizeof(word));
    return word;
}

/* The slot that a random record begins in, its length in *length. */
static size_t pick_record(uint64_t *state, const struct slots *slots, size_t *length)
{
    size_t from = gmt_fuzz_below(state, slots->count);

    for (size_t i = 0; i < slots->count; i++) {
        size_t slot = (from + i) % slots->count;
        uint32_t word = commit_of(slots, slot);

        if (GMT_COMMIT_VALID(word) && GMT_COMMIT_SLOTS(word) <= slots->count - slot) {
            *length = GMT_COMMIT_SLOTS(word);
            return slot;
        }
    }
    *length = 1;
    return from;
}

static void set_commit(uint64_t *state, const struct slots *slots, size_t slot)
{
    uint32_t word = commit_of(slots, slot);

    switch (gmt_fuzz_below(state, 4)) {
    case 0: word = GMT_COMMIT(gmt_fuzz_below(state, 60), GMT_COMMIT_SLOTS(word)); break;
    case 1: word = GMT_COMMIT(GMT_COMMIT_TYPE(word), gmt_fuzz_below(state, 256)); break;
    case 2: word = GMT_COMMIT(GMT_COMMIT_TYPE(word), GMT_COMMIT_SLOTS(word) - 1); break;
    default: word = 0; break;
    }
    memcpy(slots->first + slot * GMT_SLOT_BYTES, &word, sizeof(word));
}

static void change_record(uint64_t *state, const struct slots *slots)
{
    size_t length, other_length, slot = pick_record(state, slots, &length);
    size_t other = pick_record(state, slots, &other_length);
    uint8_t *record = slots->first + slot * GMT_SLOT_BYTES;

    switch (gmt_fuzz_below(state, 16)) {
    case 0: set_commit(state, slots, slot); break;
    case 1: /* the content of another, of any type */
        memmove(record + 4, slots->first + other * GMT_SLOT_BYTES + 4, GMT_SLOT_BYTES - 4);
        break;
    case 2: /* another record whole */
        if (length >= other_length) {
            memmove(record, slots->first + other * GMT_SLOT_BYTES, other_length * GMT_SLOT_BYTES);
        }
        break;
    case 3: memset(record + 4, gmt_fuzz_below(state, 2) == 0 ? 0xff : 0, GMT_SLOT_BYTES - 4); break;
    default: /* its fields */
        (void)gmt_fuzz_mutate_bytes(state, record + 8, length * GMT_SLOT_BYTES - 8,
                                    length * GMT_SLOT_BYTES - 8);
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned int seed)
{
    uint64_t state = seed;
    struct packed_file file;
    const uint8_t *content;
    size_t at = 0, wanted = gmt_fuzz_below(&state, 8);

    if (gmt_fuzz_below(&state, 16) == 0) {
        return gmt_fuzz_mutate_bytes(&state, data, bytes, limit);
    }
    for (size_t i = 0; (content = next_file(data, bytes, &at, &file)) != NULL; i++) {
        bool is_chunk = strncmp(file.name, "chunk-", 6) == 0 &&
                        file.stored > sizeof(struct gmt_chunk_header) + GMT_SLOT_BYTES;
        uint8_t *start = data + (content - data);

        /* Chunks nearly always; the other files, and the heads of chunks, at times. */
        if (is_chunk && wanted > 0) {
            struct slots slots = {start + sizeof(struct gmt_chunk_header),
                                  (size_t)file.stored / GMT_SLOT_BYTES - 1};
            size_t rounds = (size_t)1 << gmt_fuzz_below(&state, 7);

            for (size_t round = 0; round < rounds; round++) {
                change_record(&state, &slots);
            }
        } else if (gmt_fuzz_below(&state, 8) == 0 && file.stored > 0) {
            (void)gmt_fuzz_mutate_bytes(&state, start, file.stored, file.stored);
        }
    }
    return bytes;
}
