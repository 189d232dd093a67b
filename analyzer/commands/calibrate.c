/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the quick calibration when it is asked for, or when it would help and may be done. */
#include "analyzer/commands/calibrate.h"

#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/model/paths.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/store/db/guard.h"

static bool file_names_gpu(const char *path, const char *uuid)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;

    if (file == NULL) {
        return false;
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = strncmp(line, "GPU UUID", 8) == 0 && strstr(line, uuid) != NULL;
    }
    fclose(file);
    return found;
}

bool gmt_calibrate_possible(const char *device_uuid)
{
    DIR *directory = device_uuid != NULL ? opendir("/proc/driver/nvidia/gpus") : NULL;
    const struct dirent *entry;
    bool found = false;

    if (directory == NULL) {
        return false;
    }
    /* The file says "GPU-<uuid>"; traces hold it with or without that prefix. */
    if (strncasecmp(device_uuid, "GPU-", 4) == 0) {
        device_uuid += 4;
    }
    while (!found && (entry = readdir(directory)) != NULL) {
        char path[512];

        snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s/information", entry->d_name);
        found = device_uuid[0] != '\0' && file_names_gpu(path, device_uuid);
    }
    closedir(directory);
    return found;
}

int gmt_calibrate_run(const char *device_uuid, char *message, size_t bytes)
{
    char path[4096], device[128];
    char name[] = "gmcalibrate", quick[] = "--quick", force[] = "--force";
    /* Without a UUID: device 0. A cached model that served would not have led here. */
    char *const arguments[] = {name, quick, force, device_uuid != NULL ? device : NULL, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;

    if (device_uuid != NULL) {
        snprintf(device, sizeof(device), "--device=%s%s",
                 strncasecmp(device_uuid, "GPU-", 4) == 0 ? "" : "GPU-", device_uuid);
    }
    if (gmt_path_program(name, path, sizeof(path)) == NULL) {
        snprintf(message, bytes, "gmcalibrate was not found next to gmanalyze or in PATH");
        return -ENOENT;
    }
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -ENOMEM;
    }
    /* Results go to stdout and nothing else does. */
    int rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    gmt_memory_limit_lift();
    if (rc == 0) {
        rc = posix_spawn(&child, path, &actions, NULL, arguments, environ);
    }
    gmt_memory_limit(gmt_guard_memory_bytes());
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0) {
        snprintf(message, bytes, "%s: %s", path, strerror(rc));
        return -rc;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(message, bytes, "%s failed (status %d)", path,
                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return -ECHILD;
    }
    return 0;
}
