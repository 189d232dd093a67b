/* SPDX-License-Identifier: Apache-2.0 */
/* Where files and programs that belong to gmtrace are found. */
#include "analyzer/model/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *fitted(const char *path, int length, size_t bytes)
{
    return length > 0 && (size_t)length < bytes ? path : NULL;
}

/* The directory of this executable, without the slash. */
static const char *own_directory(char *path, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", path, bytes - 1);

    if (n <= 0 || (size_t)n >= bytes - 1) {
        return NULL;
    }
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return NULL;
    }
    *slash = '\0';
    return path;
}

const char *gmt_path_cache(char *path, size_t bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    /* Relative values are to be ignored (XDG Base Directory Specification). */
    if (cache != NULL && cache[0] == '/') {
        return fitted(path, snprintf(path, bytes, "%s/gmtrace/models", cache), bytes);
    }
    if (home != NULL && home[0] == '/') {
        return fitted(path, snprintf(path, bytes, "%s/.cache/gmtrace/models", home), bytes);
    }
    return NULL;
}

const char *gmt_path_shipped(char *path, size_t bytes)
{
    char directory[4096];

    if (own_directory(directory, sizeof(directory)) == NULL) {
        return NULL;
    }
    return fitted(path, snprintf(path, bytes, "%s/../share/gmtrace/models", directory), bytes);
}

const char *gmt_path_program(const char *name, char *path, size_t bytes)
{
    static const char *const beside[] = {"", "../libexec/gmtrace/"};
    char directory[4096];
    const char *search = getenv("PATH");

    if (own_directory(directory, sizeof(directory)) != NULL) {
        for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
            int length = snprintf(path, bytes, "%s/%s%s", directory, beside[i], name);

            if (fitted(path, length, bytes) != NULL && access(path, X_OK) == 0) {
                return path;
            }
        }
    }
    while (search != NULL && *search != '\0') {
        size_t n = strcspn(search, ":");
        int length = snprintf(path, bytes, "%.*s/%s", (int)n, search, name);

        /* An empty entry means the current directory: nothing is started from there. */
        if (n > 0 && fitted(path, length, bytes) != NULL && access(path, X_OK) == 0) {
            return path;
        }
        search += n;
        search += *search == ':';
    }
    return NULL;
}
