/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the source files that a trace names, and keeps their text. */
#include "libtrace/store/symbols/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libtrace/record/clock.h"
#include "libtrace/store/db/database.h"

/* Why a file was not kept; the words of source_file.state. */
#define EMBEDDED "embedded"
#define NOT_FOUND "not found"
#define UNREADABLE "unreadable"
#define NOT_TEXT "not text"
#define TOO_LARGE "too large"
#define NO_ROOM "no room"

struct source_text {
    const char *state;
    char *text; /* malloc'ed; NULL unless embedded */
    int64_t bytes;
    char hash[33];
};

/* Of the instructions that were counted, and of the user's own frames. What lies below /usr is nobody's
 * to fix, and the same everywhere. */
static const char wanted_sql[] =
    "SELECT s.id, s.text FROM string s WHERE s.text LIKE '/%' AND s.text NOT LIKE '/usr/%' AND "
    "s.text NOT LIKE '%/targets/%/include/%' AND s.id IN "
    "(SELECT file_id FROM instruction UNION SELECT caller_file_id FROM instruction UNION "
    "SELECT file_id FROM frame WHERE runtime = 0) "
    "AND s.id NOT IN (SELECT file_id FROM source_file) ORDER BY s.id";

static const char is_off_sql[] =
    "SELECT 1 FROM process WHERE ';' || coalesce(options, '') || ';' LIKE '%;source=off;%'";

/* Bytes of the UTF-8 character at `at`; 0: there is none. */
static size_t character(const unsigned char *at, size_t left)
{
    unsigned char lead = at[0], low = 0x80, high = 0xbf;
    size_t bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead > 0xf4 || bytes > left) {
        return 0;
    }
    if (bytes > 2) { /* no overlong forms, no surrogates, nothing beyond U+10FFFF */
        low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : low;
        high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : high;
    }
    for (size_t i = 1; i < bytes; i++) {
        if (at[i] < (i == 1 ? low : 0x80) || at[i] > (i == 1 ? high : 0xbf)) {
            return 0;
        }
    }
    return bytes;
}

/* Old sources have comments in other encodings: what is no UTF-8 becomes a question mark. */
static void make_valid(unsigned char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        size_t length = character(text + i, bytes - i);
        if (length == 0) {
            text[i] = '?';
        }
        i += length != 0 ? length : 1;
    }
}

static void hash(struct source_text *source)
{
    XXH128_hash_t value = XXH3_128bits(source->text, (size_t)source->bytes);
    (void)snprintf(source->hash, sizeof(source->hash), "%016llx%016llx",
                   (unsigned long long)value.high64, (unsigned long long)value.low64);
}

/* The whole file, or why not. A file that changes while it is read is cut or short, no more. */
static void read_all(int fd, struct source_text *source)
{
    int64_t have = 0;
    source->text = malloc((size_t)source->bytes + 1);
    while (source->text != NULL && have < source->bytes) {
        ssize_t got = read(fd, source->text + have, (size_t)(source->bytes - have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        have += got;
    }
    if (source->text == NULL || have != source->bytes) {
        source->state = UNREADABLE;
    } else if (memchr(source->text, '\0', (size_t)have) != NULL) {
        source->state = NOT_TEXT;
    } else {
        source->state = EMBEDDED;
        hash(source);
        make_valid((unsigned char *)source->text, (size_t)have);
        return;
    }
    free(source->text);
    source->text = NULL;
}

/* `path`, absolute, with each ".." taken out together with the folder before it. */
static void without_parents(const char *path, char *to)
{
    size_t used = 0;
    while (*path != '\0') {
        size_t slashes = strspn(path, "/"), length = strcspn(path + slashes, "/");
        const char *name = path + slashes;
        path = name + length;
        if (length == 2 && name[0] == '.' && name[1] == '.') {
            while (used > 0 && to[--used] != '/') {
            }
        } else if (length > 0 && !(length == 1 && name[0] == '.')) {
            to[used++] = '/';
            memcpy(to + used, name, length);
            used += length;
        }
    }
    to[used] = '\0';
}

int gmt_sources_open_file(const char *path)
{
    /* A pipe or a device under a name of a source file must not be waited for. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char other[PATH_MAX];
    int fd = open(path, flags);
    if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR) || path[0] != '/' ||
        strstr(path, "/../") == NULL || strlen(path) >= sizeof(other)) {
        return fd;
    }
    without_parents(path, other);
    return open(other, flags);
}

static void look_at(const char *path, int64_t room, struct source_text *source)
{
    struct stat info;
    int fd = gmt_sources_open_file(path);
    *source = (struct source_text){.state = UNREADABLE};
    if (fd < 0) {
        source->state = errno == ENOENT || errno == ENOTDIR ? NOT_FOUND : UNREADABLE;
        return;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        source->bytes = info.st_size;
        if (source->bytes > GMT_SOURCE_FILE_BYTES) {
            source->state = TOO_LARGE;
        } else if (source->bytes > room) {
            source->state = NO_ROOM;
        } else {
            read_all(fd, source);
        }
    }
    (void)close(fd);
}

static int keep(sqlite3_stmt *insert, int64_t file_id, const struct source_text *source)
{
    sqlite3_bind_int64(insert, 1, file_id);
    sqlite3_bind_text(insert, 2, source->state, -1, SQLITE_STATIC);
    if (source->text != NULL) {
        sqlite3_bind_int64(insert, 3, source->bytes);
        sqlite3_bind_text(insert, 4, source->hash, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 5, source->text, (int)source->bytes, SQLITE_STATIC);
    }
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    return code;
}

int gmt_sources_embed(sqlite3 *db, uint64_t budget_ns)
{
    sqlite3_stmt *wanted = NULL, *insert = NULL;
    int64_t is_off = 0, room = GMT_SOURCE_TOTAL_BYTES;
    uint64_t until_ns = gmt_clock_monotonic_ns() + budget_ns;
    int code = SQLITE_DONE, error = gmt_database_integer(db, is_off_sql, 0, &is_off);
    if (error != 0 || is_off != 0) {
        return error;
    }
    if (sqlite3_prepare_v2(db, wanted_sql, -1, &wanted, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO source_file VALUES(?,?,?,?,?)", -1, &insert, NULL) !=
            SQLITE_OK) {
        code = SQLITE_ERROR;
    } else {
        while ((code = sqlite3_step(wanted)) == SQLITE_ROW) {
            struct source_text source = {.state = NO_ROOM};
            if (gmt_clock_monotonic_ns() < until_ns) {
                look_at((const char *)sqlite3_column_text(wanted, 1), room, &source);
            }
            room -= source.text != NULL ? source.bytes : 0;
            code = keep(insert, sqlite3_column_int64(wanted, 0), &source);
            free(source.text);
            if (code != SQLITE_DONE) {
                break;
            }
        }
    }
    error = code == SQLITE_DONE ? 0 : gmt_database_error(db);
    sqlite3_finalize(wanted);
    sqlite3_finalize(insert);
    return error;
}
