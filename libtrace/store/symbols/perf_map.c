/* SPDX-License-Identifier: Apache-2.0 */
/* Reads perf maps once, looking each line up among the addresses that want a name. */
#include "libtrace/store/symbols/perf_map.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON_PREFIX "py::"
#define MAX_MAP_BYTES ((off_t)256 << 20)

struct map {
    char *text;
    size_t bytes;
};

/* /tmp is everybody's: a map counts only if the user of this process, or root, wrote it. */
static int open_map(const char *path, struct map *map)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    int error = fstat(fd, &status) != 0 ? -errno : 0;
    if (error == 0 && !S_ISREG(status.st_mode)) {
        error = -EINVAL;
    } else if (error == 0 && status.st_uid != geteuid() && status.st_uid != 0) {
        error = -EPERM;
    } else if (error == 0 && status.st_size > MAX_MAP_BYTES) {
        error = -EFBIG;
    }
    *map = (struct map){.bytes = error == 0 ? (size_t)status.st_size : 0};
    /* A copy: a file that is cut short while it is mapped would end the process that reads it. */
    char *text = error == 0 ? malloc(map->bytes + 1) : NULL;
    size_t got = 0;
    ssize_t more = 1;
    while (text != NULL && got < map->bytes && more > 0) {
        more = read(fd, text + got, map->bytes - got);
        got += more > 0 ? (size_t)more : 0;
    }
    close(fd);
    if (error == 0 && text == NULL) {
        error = -ENOMEM;
    }
    if (text != NULL) {
        text[got] = '\0';
    }
    map->text = text;
    map->bytes = got;
    return error;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* "py::Loader.batch:/home/me/train.py": no name of Python's has a colon. */
static const char *python_file(const char *text, const char **function, size_t *length)
{
    if (strncmp(text, PYTHON_PREFIX, strlen(PYTHON_PREFIX)) != 0) {
        return NULL;
    }
    *function = text + strlen(PYTHON_PREFIX);
    *length = strcspn(*function, ":");
    return (*function)[*length] == ':' ? *function + *length + 1 : NULL;
}

/* "JS:*upload /home/me/app.js:10:5": a kind, a mark of the compiler, the name, which may be missing,
 * and where it is defined. */
static const char *script_file(const char *text, const char **function, size_t *length)
{
    static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) {
            *function = text + strlen(kinds[i]);
            *function += **function != '\0' && strchr("~*^+'", **function) != NULL;
            *length = strcspn(*function, " ");
            return (*function)[*length] == ' ' ? *function + *length + 1 : NULL;
        }
    }
    return NULL;
}

/* Length of "/home/me/app.js:10:5" without the numbers. */
static size_t without_place(const char *file)
{
    size_t length = strlen(file);
    for (int i = 0; i < 2; i++) {
        size_t at = length;
        while (at > 0 && isdigit((unsigned char)file[at - 1])) {
            at--;
        }
        if (at == 0 || at == length || file[at - 1] != ':') {
            break;
        }
        length = at - 1;
    }
    return length;
}

int gmt_perf_map_split(const char *text, char **function, char **file)
{
    const char *name = text;
    size_t length = strlen(text);
    const char *source = python_file(text, &name, &length);
    *function = *file = NULL;
    if (source == NULL && (source = script_file(text, &name, &length)) != NULL) {
        size_t path = without_place(source);
        *file = strndup(source, path);
        /* Functions without a name are identified by their start address. */
        if (length == 0) {
            return asprintf(function, "(anonymous%s)", source + path) < 0 || *file == NULL ? -ENOMEM
                                                                                           : 0;
        }
    } else if (source != NULL) {
        *file = strdup(source);
    } else {
        name = text;
        length = strlen(text);
    }
    *function = strndup(name, length);
    return *function == NULL || (source != NULL && *file == NULL) ? -ENOMEM : 0;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static size_t first_behind(const struct gmt_made_frame *frames, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frames[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where each frame's name begins in the map; the last line that holds it wins. */
static void read_line(const char *line, const struct gmt_made_frame *frames, size_t count,
                      const char **names)
{
    char *at;
    uint64_t start = strtoull(line, &at, 16);
    if (at == line || *at != ' ') {
        return;
    }
    const char *size = at + 1;
    uint64_t bytes = strtoull(size, &at, 16);
    if (at == size || *at != ' ') {
        return;
    }
    /* A return address lies behind its call: in (start, start + bytes]. */
    for (size_t i = first_behind(frames, count, start);
         i < count && frames[i].address - start <= bytes; i++) {
        names[i] = at + 1;
    }
}

static int take_name(struct gmt_made_frame *frame, const char *name)
{
    char *text = strndup(name, strcspn(name, "\n"));
    frame->is_python = text != NULL && strncmp(text, PYTHON_PREFIX, strlen(PYTHON_PREFIX)) == 0;
    int error = text != NULL ? gmt_perf_map_split(text, &frame->function, &frame->file) : -ENOMEM;
    free(text);
    return error;
}

ssize_t gmt_perf_map_name(const char *path, struct gmt_made_frame *frames, size_t count)
{
    struct map map = {0};
    const char **names = calloc(count + 1, sizeof(*names));
    ssize_t named = names != NULL ? open_map(path, &map) : -ENOMEM;
    if (named != 0 || map.text == NULL) {
        free(names);
        return named;
    }
    for (const char *line = map.text; *line != '\0'; line += *line == '\n') {
        read_line(line, frames, count, names);
        line += strcspn(line, "\n");
    }
    for (size_t i = 0; named >= 0 && i < count; i++) {
        if (names[i] != NULL && frames[i].function == NULL) {
            int error = take_name(&frames[i], names[i]);
            named = error == 0 ? named + 1 : error;
        }
    }
    free(names);
    free(map.text);
    return named;
}
