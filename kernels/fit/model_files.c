/* SPDX-License-Identifier: Apache-2.0 */
/* Cache path, atomic writing and driver version. */
#include "kernels/fit/model_files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Ratios keep six digits; times, sizes and rates are integers. */
#define JSON_STYLE (JSON_INDENT(1) | JSON_REAL_PRECISION(6))

int gmt_driver_version_parse(const char *text, char *version, size_t bytes)
{
    /* The first word after "Module" that is digits, a dot and more digits. */
    const char *at = strstr(text, "Module");

    while (at != NULL && (at = strpbrk(at, " \t")) != NULL) {
        at += strspn(at, " \t");
        size_t length = strspn(at, "0123456789.");

        if (length >= 3 && memchr(at, '.', length) != NULL && isdigit((unsigned char)at[0]) &&
            (at[length] == '\0' || isspace((unsigned char)at[length]))) {
            if (length >= bytes) {
                return -ENOSPC;
            }
            memcpy(version, at, length);
            version[length] = '\0';
            return 0;
        }
    }
    return -ENOENT;
}

int gmt_driver_version(char *version, size_t bytes)
{
    char text[512];
    FILE *file = fopen("/proc/driver/nvidia/version", "re");

    if (file == NULL) {
        return -ENOENT;
    }
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    return gmt_driver_version_parse(text, version, bytes);
}

void gmt_time_iso(char *text, size_t bytes)
{
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    if (strftime(text, bytes, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0 && bytes > 0) {
        text[0] = '\0';
    }
}

int gmt_model_cache_path(const char *uuid, const char *driver, const char *tool, char *path,
                         size_t bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *below = "";

    if (cache == NULL || cache[0] != '/') {
        cache = getenv("HOME");
        below = "/.cache";
    }
    if (cache == NULL || cache[0] != '/') {
        return -ENOENT;
    }
    int length = snprintf(path, bytes, "%s%s/gmtrace/models/%s-%s-%s.json", cache, below, uuid,
                          driver, tool);
    return length < 0 || (size_t)length >= bytes ? -ENAMETOOLONG : 0;
}

static int temporary_name(const char *path, char *name, size_t bytes)
{
    int length = snprintf(name, bytes, "%s.tmp.%ld", path, (long)getpid());

    return length < 0 || (size_t)length >= bytes ? -ENAMETOOLONG : 0;
}

int gmt_path_prepare(const char *path)
{
    char name[PATH_MAX];
    int rc = temporary_name(path, name, sizeof(name));

    if (rc != 0) {
        return rc;
    }
    for (char *slash = strchr(name + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        /* A folder that is there may lie on a read-only file system: only the last one counts. */
        if (mkdir(name, 0777) != 0 && errno != EEXIST && access(name, F_OK) != 0) {
            return -errno;
        }
        *slash = '/';
    }
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return -EISDIR;
    }
    FILE *probe = fopen(name, "we");
    if (probe == NULL) {
        return -errno;
    }
    fclose(probe);
    unlink(name);
    return 0;
}

static int dump(const json_t *document, FILE *file)
{
    errno = 0;
    if (json_dumpf(document, file, JSON_STYLE) == 0 && fputc('\n', file) != EOF &&
        fflush(file) == 0) {
        return 0;
    }
    return errno != 0 ? -errno : -EIO;
}

int gmt_json_write(const json_t *document, const char *path)
{
    char name[PATH_MAX];
    struct stat status;
    int rc = temporary_name(path, name, sizeof(name));

    if (strcmp(path, "-") == 0) {
        return dump(document, stdout);
    }
    if (rc != 0) {
        return rc;
    }
    /* Devices and pipes such as /dev/stdout cannot be replaced by a file. */
    bool in_place = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    FILE *file = fopen(in_place ? path : name, "we");
    if (file == NULL) {
        return -errno;
    }
    rc = dump(document, file);
    if (rc == 0 && !in_place && fsync(fileno(file)) != 0) {
        rc = -errno;
    }
    if (fclose(file) != 0 && rc == 0) {
        rc = -errno;
    }
    if (!in_place) {
        if (rc == 0 && rename(name, path) != 0) {
            rc = -errno;
        }
        if (rc != 0) {
            unlink(name);
        }
    }
    return rc;
}
