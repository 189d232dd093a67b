/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how a program was built, and how it is built for the software device (rebuild.h). */
#include "launcher/rebuild.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/program.h"

#define LEVELS 4 /* folders that are looked at: the program's own, and those above it */
#define PTX "-gencode arch=compute_90,code=compute_90"

static bool has(const char *folder, const char *file)
{
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, file);
    return access(path, R_OK) == 0;
}

/* The nearest folder from `folder` upward that has one of the files; false if none of LEVELS has. */
static bool find_above(const char *folder, const char *const *files, char found[static PATH_MAX])
{
    (void)snprintf(found, PATH_MAX, "%s", folder);
    for (int level = 0; level < LEVELS && found[0] != '\0'; level++) {
        for (const char *const *file = files; *file != NULL; file++) {
            if (has(found, *file)) {
                return true;
            }
        }
        *strrchr(found, '/') = '\0';
    }
    return false;
}

/* As the user would write it from where they are, quoted where a shell would take it apart. */
static void name_path(const char *path, char *text, size_t bytes)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof(here)) != NULL ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 &&
        (path[length] == '/' || path[length] == '\0')) {
        path = path[length] == '\0' ? "." : path + length + 1;
    }
    bool plain = path[0] != '-' && path[strcspn(path, " \t\n'\"\\$&|;<>()*?[]#~!`")] == '\0';
    size_t used = 0;
    const char *quote = plain ? "" : "'";
    used += (size_t)snprintf(text, bytes, "%s", quote);
    for (const char *at = path; *at != '\0' && used + 6 < bytes; at++) {
        if (*at == '\'') {
            used += (size_t)snprintf(text + used, bytes - used, "'\\''");
        } else {
            text[used++] = *at;
        }
    }
    (void)snprintf(text + used, bytes - used, "%s", quote);
}

static bool is_source(const char *name)
{
    static const char *const endings[] = {".cu", ".c", ".cc", ".cpp", ".cxx", ".C", NULL};
    const char *dot = strrchr(name, '.');
    for (const char *const *ending = endings; dot != NULL && *ending != NULL; ending++) {
        if (strcmp(dot, *ending) == 0) {
            return true;
        }
    }
    return false;
}

/* The one source in a folder, if it is for nvcc: "main.cu" of "a.out". */
static bool find_only_source(const char *folder, char source[static PATH_MAX])
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    size_t sources = 0;
    bool is_whole = false;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (is_source(entry->d_name)) {
            sources++;
            is_whole = snprintf(source, PATH_MAX, "%s/%s", folder, entry->d_name) < PATH_MAX;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return sources == 1 && is_whole && strcmp(strrchr(source, '.'), ".cu") == 0;
}

/* The source file of the program's name, "app.cu" beside "app", or the only one there. */
static bool find_source(const char *real, const char *folder, char source[static PATH_MAX])
{
    return (snprintf(source, PATH_MAX, "%s.cu", real) < PATH_MAX && access(source, R_OK) == 0) ||
           find_only_source(folder, source);
}

static bool lacks_ptx(const struct gmt_program_cuda *cuda)
{
    return cuda->has_code &&
           (cuda->ptx_target == 0 || cuda->ptx_target > GMT_SOFTWARE_DEVICE_CAPABILITY);
}

bool gmt_rebuild_command(const struct gmt_program *program, char *command, size_t bytes)
{
    static const char *const caches[] = {"CMakeCache.txt", NULL};
    static const char *const makefiles[] = {"GNUmakefile", "makefile", "Makefile", NULL};
    bool ptx = lacks_ptx(&program->cuda);
    char real[PATH_MAX], folder[PATH_MAX], found[PATH_MAX], name[PATH_MAX * 2],
        output[PATH_MAX * 2];
    if (realpath(program->path, real) == NULL) {
        real[0] = '\0';
    }
    (void)snprintf(folder, sizeof(folder), "%s", real);
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    if (find_above(folder, caches, found)) {
        name_path(found, name, sizeof(name));
        (void)snprintf(command, bytes,
                       "cmake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared %s%s && cmake --build %s",
                       ptx ? "-DCMAKE_CUDA_ARCHITECTURES=90-virtual " : "", name, name);
    } else if (find_above(folder, makefiles, found)) {
        name_path(found, name, sizeof(name));
        bool here = strcmp(name, ".") == 0;
        (void)snprintf(command, bytes, "NVCC_APPEND_FLAGS='-cudart shared%s' make -B%s%s",
                       ptx ? " " PTX : "", here ? "" : " -C ", here ? "" : name);
    } else if (find_source(real, folder, found)) {
        name_path(found, name, sizeof(name));
        name_path(real, output, sizeof(output));
        (void)snprintf(command, bytes, "nvcc -g -lineinfo -cudart shared%s -o %s %s",
                       ptx ? " " PTX : "", output, name);
    } else {
        (void)snprintf(command, bytes, "export NVCC_APPEND_FLAGS='-cudart shared%s'",
                       ptx ? " " PTX : "");
        return false;
    }
    return true;
}
