/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/self/maps into windows (windows.h). */
#include "preload/repeat/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "preload/state/allocmap.h"

#define LEAST (UINT64_C(1) << 32) /* of the addresses that count without being mapped */
#define NEAR (UINT64_C(1) << 36)  /* addresses around known device memory count, mapped or not */

/* Append, or widen the last one. False: no room. */
static bool append(struct gmt_window *list, size_t *count, uint64_t first, uint64_t end)
{
    if (*count != 0 && first <= list[*count - 1].end) {
        list[*count - 1].end = end > list[*count - 1].end ? end : list[*count - 1].end;
        return true;
    }
    if (*count == GMT_WINDOWS) {
        return false;
    }
    list[(*count)++] = (struct gmt_window){first, end};
    return true;
}

/* ---- /proc/self/maps ---------------------------------------------------------------------------- */

/* One line at a time; the rest of a long one is skipped. */
struct lines {
    int fd;
    bool failed;
    size_t used, filled, room;
    char *buffer;
};

static int next_char(struct lines *from)
{
    if (from->used == from->filled) {
        ssize_t got;
        do {
            got = read(from->fd, from->buffer, from->room);
        } while (got < 0 && errno == EINTR);
        if (got <= 0) {
            from->failed = got < 0;
            return -1;
        }
        from->used = 0;
        from->filled = (size_t)got;
    }
    return (unsigned char)from->buffer[from->used++];
}

static bool read_number(struct lines *from, uint64_t *number, char until)
{
    *number = 0;
    for (int c; (c = next_char(from)) != until;) {
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) {
            return false;
        }
        *number = *number << 4 | (unsigned)digit;
    }
    return true;
}

static bool read_rest(struct lines *from, char *rest, size_t room)
{
    size_t length = 0;
    for (int c; (c = next_char(from)) != '\n';) {
        if (c < 0) {
            return false;
        }
        if (length + 1 < room) {
            rest[length++] = (char)c;
        }
    }
    rest[length] = '\0';
    return true;
}

/* Device files of RDMA, GPUDirect Storage and gdrcopy, and libraries of the video engines and of ray tracing: these write
 * device memory without a call of the driver that hooks see. */
static bool is_of_other_device(const char *rest)
{
    static const char *const names[] = {"/dev/infiniband/",     "/dev/nvidia-fs",
                                        "/dev/gdrdrv",          "/libnvcuvid.so",
                                        "/libnvidia-encode.so", "/libnvidia-opticalflow.so",
                                        "/libnvoptix.so"};
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        found |= strstr(rest, names[i]) != NULL;
    }
    return found;
}

/* "first-end rwxp ..." */
static bool read_mappings(struct lines *from, struct gmt_windows *all)
{
    for (;;) {
        struct gmt_window here;
        if (!read_number(from, &here.first, '-')) {
            return from->used == from->filled && !from->failed; /* the end of the file */
        }
        if (!read_number(from, &here.end, ' ')) {
            return false;
        }
        char rest[512] = ""; /* a name begins within the first 60 characters of it */
        if (!read_rest(from, rest, sizeof(rest))) {
            return false;
        }
        bool private_code = strlen(rest) >= 4 && rest[1] == '-' && rest[2] == 'x' && rest[3] == 'p';
        bool data = (rest[0] == 'r' || rest[1] == 'w') && !private_code;
        all->shared_with_devices |= is_of_other_device(rest);
        if (!append(all->windows, &all->count, here.first, here.end) ||
            (data && !append(all->data, &all->data_count, here.first, here.end))) {
            return false;
        }
    }
}

/* ---- without what is known ---------------------------------------------------------------------- */

/* Add [first, end) to the ascending list. False: no room. */
static bool widen(struct gmt_windows *all, uint64_t first, uint64_t end)
{
    size_t at = 0, last;
    while (at < all->count && all->windows[at].end < first) {
        at++;
    }
    for (last = at; last < all->count && all->windows[last].first <= end; last++) {
        first = all->windows[last].first < first ? all->windows[last].first : first;
        end = all->windows[last].end > end ? all->windows[last].end : end;
    }
    if (last == at && all->count == GMT_WINDOWS) {
        return false;
    }
    memmove(&all->windows[at + 1], &all->windows[last],
            (all->count - last) * sizeof(all->windows[0]));
    all->windows[at] = (struct gmt_window){first, end};
    all->count = all->count + 1 - (last - at);
    return true;
}

/* Both ascending; the list grows by one at most for each extent. */
static bool take_out(struct gmt_windows *all, const struct gmt_reach *reach)
{
    struct gmt_window *left = all->scratch;
    size_t count = 0, extent = 0;
    for (size_t i = 0; i < all->count; i++) {
        uint64_t from = all->windows[i].first, end = all->windows[i].end;
        while (extent < reach->count &&
               reach->extents[extent].base + reach->extents[extent].bytes <= from) {
            extent++;
        }
        for (size_t e = extent; e < reach->count && reach->extents[e].base < end; e++) {
            uint64_t base = reach->extents[e].base;
            if (base > from && !append(left, &count, from, base)) {
                return false;
            }
            from = base + reach->extents[e].bytes > from ? base + reach->extents[e].bytes : from;
        }
        if (from < end && !append(left, &count, from, end)) {
            return false;
        }
    }
    memcpy(all->windows, left, count * sizeof(left[0]));
    all->count = count;
    return true;
}

/* Not small numbers, of which memory is full. */
static uint64_t near_begin(uint64_t base)
{
    uint64_t begin = base & ~(NEAR - 1);
    return begin >= LEAST ? begin : base < LEAST ? base : LEAST;
}

/* What is not restored, wherever it is. */
static bool add_left_out(void *data, const struct gmt_allocation *allocation)
{
    struct gmt_windows *all = data;
    bool counts = allocation->kind == GMT_ALLOC_MAPPED || allocation->kind == GMT_ALLOC_IPC ||
                  allocation->kind == GMT_ALLOC_EXTERNAL || allocation->shared;
    return !counts || allocation->bytes == 0 ||
           widen(all, allocation->base, allocation->base + allocation->bytes);
}

bool gmt_windows_find(struct gmt_windows *all, const struct gmt_reach *reach)
{
    struct lines from = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC),
                         .buffer = all->text,
                         .room = sizeof(all->text)};
    all->count = all->data_count = 0;
    all->shared_with_devices = false;
    bool done = from.fd >= 0 && read_mappings(&from, all) && all->count != 0;
    if (from.fd >= 0) {
        (void)close(from.fd);
    }
    uint64_t near_end = 0;
    for (size_t i = 0; done && i < reach->count; i++) {
        uint64_t end = reach->extents[i].base + reach->extents[i].bytes;
        if (end > near_end) {
            near_end = (end | (NEAR - 1)) + 1;
            done = widen(all, near_begin(reach->extents[i].base), near_end);
        }
    }
    done = done && gmt_allocmap_each(add_left_out, all);
    return done && take_out(all, reach);
}

static bool holds(const struct gmt_window *list, size_t count, uint64_t word)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].first <= word) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && word < list[low - 1].end;
}

bool gmt_windows_hold(const struct gmt_windows *all, uint64_t word)
{
    return holds(all->windows, all->count, word);
}

bool gmt_windows_hold_data(const struct gmt_windows *all, uint64_t word)
{
    return holds(all->data, all->data_count, word);
}
