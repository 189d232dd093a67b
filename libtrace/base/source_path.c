/* SPDX-License-Identifier: Apache-2.0 */
/* Names of source files as a repository has them: what the compiler wrote down, made relative. */
#include "libtrace/base/source_path.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name);

    return length > 0 && (size_t)length < sizeof(path) && access(path, F_OK) == 0;
}

char *gmt_source_root_find(void)
{
    char *folder = getcwd(NULL, 0), *root = folder != NULL ? strdup(folder) : NULL;

    while (root != NULL && root[0] != '\0') {
        if (exists(root, ".git")) {
            free(folder);
            return root;
        }
        *strrchr(root, '/') = '\0';
    }
    free(root);
    return folder;
}

/* "/../" in a name could lead out of the root again. */
static bool climbs(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) {
            return true;
        }
    }
    return false;
}

const char *gmt_source_relative(const char *root, const char *file)
{
    if (file[0] != '/') {
        while (strncmp(file, "./", 2) == 0) {
            file += 2;
        }
        return climbs(file) || file[0] == '\0' ? NULL : file;
    }
    if (root == NULL || climbs(file)) {
        return NULL;
    }
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/') {
        length--;
    }
    if (strncmp(file, root, length) == 0 && file[length] == '/') {
        return file + length + 1;
    }
    for (const char *at = file; at != NULL; at = strchr(at + 1, '/')) {
        if (at[1] != '\0' && exists(root, at + 1)) {
            return at + 1;
        }
    }
    return NULL;
}
