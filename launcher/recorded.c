/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is being recorded has the control page of its spool mapped: its mappings name the spool. */
#include "launcher/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/base/printable.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/record/spool_lock.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/spool/spool_files.h"

#define CONTROL "/control"
#define DEEPEST 64 /* generations of processes */

bool gmt_recorded_read_pid(const char *text, pid_t *pid)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *pid = (pid_t)value;
    return end != text && *end == '\0' && errno == 0 && value > 0 && value <= INT_MAX;
}

/* Is this the folder of the spool that the process writes? */
static bool is_spool_of(struct gmt_recorded *recorded)
{
    int folder = gmt_spool_folder_open(recorded->spool);
    bool is_it = folder >= 0 && gmt_spool_control_read(folder, &recorded->control) == 0 &&
                 recorded->control.pid == (uint32_t)recorded->pid;
    if (folder >= 0) {
        close(folder);
    }
    return is_it;
}

/* A line of /proc/PID/maps -> the folder of the control page that is mapped there. False: it is none. */
static bool name_folder(char *line, char folder[static PATH_MAX])
{
    const char *path = strchr(line, '/');
    size_t length = path != NULL ? strcspn(path, "\n") : 0;
    const size_t end = sizeof(CONTROL) - 1;
    if (length <= end || length >= PATH_MAX || memcmp(path + length - end, CONTROL, end) != 0) {
        return false;
    }
    (void)snprintf(folder, PATH_MAX, "%.*s", (int)(length - end), path);
    return true;
}

/* As gmt_recorded_find, of the process itself. */
static int look_at(pid_t pid, struct gmt_recorded *recorded)
{
    char path[48], *line = NULL;
    size_t bytes = 0;
    bool found = false;
    *recorded = (struct gmt_recorded){.pid = pid};
    if (kill(pid, 0) != 0) {
        return errno == EPERM ? -EACCES : -errno;
    }
    (void)snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) {
        return errno == ENOENT ? -ESRCH : errno == EACCES ? -EPERM : -errno;
    }
    while (!found && getline(&line, &bytes, maps) > 0) {
        found = name_folder(line, recorded->spool) && is_spool_of(recorded);
    }
    free(line);
    (void)fclose(maps);
    return found ? 0 : -ENOENT;
}

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
    char path[48], text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    size_t got = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
    text[got] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
    const char *name_end = strrchr(text, ')');
    long parent = 0;
    return name_end != NULL && sscanf(name_end, ") %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

static bool is_started_by(pid_t pid, pid_t ancestor)
{
    for (int depth = 0; pid > 1 && depth < DEEPEST; depth++) {
        pid = parent_of(pid);
        if (pid == ancestor) {
            return true;
        }
    }
    return false;
}

void gmt_recorded_each(void (*visit)(const struct gmt_recorded *recorded, void *context),
                       void *context)
{
    struct gmt_recorded recorded;
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        pid_t pid;
        struct stat info;
        if (gmt_recorded_read_pid(entry->d_name, &pid) &&
            fstatat(dirfd(processes), entry->d_name, &info, 0) == 0 && info.st_uid == geteuid() &&
            look_at(pid, &recorded) == 0) {
            visit(&recorded, context);
        }
    }
    if (processes != NULL) {
        (void)closedir(processes);
    }
}

struct search {
    pid_t ancestor;
    unsigned found;
    struct gmt_recorded *recorded;
};

static void note_descendant(const struct gmt_recorded *recorded, void *context)
{
    struct search *search = context;
    if (is_started_by(recorded->pid, search->ancestor)) {
        *search->recorded = *recorded;
        search->found++;
    }
}

int gmt_recorded_find(pid_t pid, struct gmt_recorded *recorded)
{
    struct search search = {.ancestor = pid, .recorded = recorded};
    int error = look_at(pid, recorded);
    if (error != -ENOENT && error != -EPERM) {
        return error;
    }
    gmt_recorded_each(note_descendant, &search);
    return search.found == 1 ? 0 : search.found == 0 ? error : -EMLINK;
}

int gmt_recorded_find_named(const char *text, struct gmt_recorded *recorded)
{
    pid_t pid;
    if (!gmt_recorded_read_pid(text, &pid)) {
        gmt_say(stderr, "gmtrace: '%s' is no process id\n", text);
        return -EINVAL;
    }
    int error = gmt_recorded_find(pid, recorded);
    if (error != 0) {
        gmt_say(stderr, "gmtrace: process %ld: %s\n", (long)pid,
                error == -ESRCH    ? "there is no such process"
                : error == -EACCES ? "it is not yours, so its recording is not either"
                : error == -EPERM
                    ? "its memory may not be read, so it is not known whether it is recorded"
                : error == -ENOENT
                    ? "neither it nor a process that it has started is being recorded by gmtrace"
                : error == -EMLINK
                    ? "several processes that it has started are being recorded: name one of them"
                    : gmt_recording_explain(error));
    }
    return error;
}

bool gmt_recorded_has_recorder(const struct gmt_recorded *recorded)
{
    int folder = gmt_spool_folder_open(recorded->spool);
    bool has = folder >= 0 && gmt_spool_lock_held(folder) == 1;
    if (folder >= 0) {
        (void)close(folder);
    }
    return has;
}
