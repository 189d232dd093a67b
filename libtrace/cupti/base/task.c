/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/self/task (task.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/task.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "/proc/self/task"
#define ENTRIES_BYTES 2048u
#define STATUS_BYTES 2048u
#define LINE_BYTES 512u
#define LINE_KEPT 64u /* of what was read: more than the line that is looked for */

/* What getdents64(2) writes; glibc has no declaration of it. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static size_t add_entries(const char *entries, size_t bytes, uint32_t *tids, size_t room,
                          size_t count)
{
    struct entry head;
    for (size_t at = 0; at < bytes; at += head.length) {
        memcpy(&head, entries + at, sizeof(head));
        char *end;
        const char *name = entries + at + offsetof(struct entry, name);
        unsigned long tid = strtoul(name, &end, 10);
        if (*end == '\0' && tid != 0) { /* no "." or ".." */
            if (count < room) {
                tids[count] = (uint32_t)tid;
            }
            count++;
        }
    }
    return count;
}

size_t gmt_task_list(uint32_t *tids, size_t room)
{
    _Alignas(struct entry) char entries[ENTRIES_BYTES];
    size_t count = 0;
    long bytes;
    int folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return 0;
    }
    while ((bytes = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0) {
        count = add_entries(entries, (size_t)bytes, tids, room, count);
    }
    (void)close(folder);
    return bytes < 0 ? 0 : count;
}

static int open_file(uint32_t tid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof(path), FOLDER "/%" PRIu32 "/%s", tid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The text of that file of a thread, as far as there is room, ended by '\0'. */
static bool read_text(uint32_t tid, const char *file, char *text, size_t room)
{
    int descriptor = open_file(tid, file);
    if (descriptor < 0) {
        return false;
    }
    ssize_t bytes = read(descriptor, text, room - 1);
    (void)close(descriptor);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0;
}

/* The line is one of the last, behind lists that are long on large machines and for members of many groups. */
bool gmt_task_sleeps_made(uint32_t tid, uint64_t *count)
{
    static const char field[] = "\nvoluntary_ctxt_switches:";
    char text[STATUS_BYTES];
    size_t kept = 0;
    ssize_t bytes;
    bool found = false;
    int descriptor = open_file(tid, "status");
    if (descriptor < 0) {
        return false;
    }
    while (!found && (bytes = read(descriptor, text + kept, sizeof(text) - 1 - kept)) > 0) {
        size_t length = kept + (size_t)bytes;
        text[length] = '\0';
        const char *line = strstr(text, field);
        const char *value = line != NULL ? line + sizeof(field) - 1 : NULL;
        found = value != NULL && strchr(value, '\n') != NULL; /* all of it */
        if (found) {
            *count = strtoull(value, NULL, 10);
        }
        kept = length < LINE_KEPT ? length : LINE_KEPT;
        memmove(text, text + length - kept, kept);
    }
    (void)close(descriptor);
    return found;
}

/* The letter behind the name, which may have brackets of its own. */
static bool state_is_sleeping(uint32_t tid)
{
    char text[LINE_BYTES];
    const char *name_end = read_text(tid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'S';
}

bool gmt_task_is_asleep(uint32_t tid, struct gmt_task_place *place)
{
    char text[LINE_BYTES];
    /* In this order: `syscall` has a place for one that was woken and does not run yet, too. */
    if (!state_is_sleeping(tid) || !read_text(tid, "syscall", text, sizeof(text))) {
        return false;
    }
    /* The number of the call, six arguments, the stack pointer and the address; or the word "running". */
    const char *code = strrchr(text, ' ');
    const char *stack = code;
    while (stack > text && stack[-1] != ' ') {
        stack--;
    }
    if (code == NULL || stack == text) {
        return false;
    }
    place->stack = strtoull(stack, NULL, 16);
    place->code = strtoull(code, NULL, 16);
    return place->stack != 0 && place->code != 0;
}
