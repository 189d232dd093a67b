/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and files of a fuzz target. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

uint64_t gmt_fuzz_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t gmt_fuzz_below(uint64_t *state, size_t limit)
{
    return limit != 0 ? (size_t)(gmt_fuzz_random(state) % limit) : 0;
}

static char folder[PATH_MAX];
static pid_t folder_owner;

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    /* But what was printed, which says why an input failed. */
    const char *name = path + walk->base;
    if (walk->level > 0 && strcmp(name, "log") != 0 && strcmp(name, "stdout") != 0 &&
        strcmp(name, "stderr") != 0) {
        (void)remove(path);
    }
    return 0;
}

void gmt_fuzz_sweep(void)
{
    (void)nftw(gmt_fuzz_folder(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    if (getpid() != folder_owner) {
        return; /* an input that ends a child of replay.c */
    }
    gmt_fuzz_sweep();
    (void)unlink(gmt_fuzz_path("log"));
    (void)unlink(gmt_fuzz_path("stdout"));
    (void)unlink(gmt_fuzz_path("stderr"));
    (void)rmdir(folder);
}

const char *gmt_fuzz_folder(void)
{
    /* That of tests/fuzz/libfuzzer.sh, which reads what was printed before a crash; else one in memory if possible. */
    const char *given = getenv("GMT_FUZZ_FOLDER"), *parent = getenv("TMPDIR");

    if (folder[0] != '\0') {
        return folder;
    }
    folder_owner = getpid();
    if (parent == NULL) {
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    if (given != NULL) {
        snprintf(folder, sizeof(folder), "%s", given);
    } else {
        snprintf(folder, sizeof(folder), "%s/gmtrace-fuzz.XXXXXX", parent);
    }
    if (given == NULL && (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)) {
        perror(folder);
        exit(2);
    }
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    (void)setenv("HOME", folder, 1);
    return folder;
}

const char *gmt_fuzz_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    if (snprintf(path, PATH_MAX, "%s/%s", gmt_fuzz_folder(), name) >= PATH_MAX) {
        abort();
    }
    return path;
}

void gmt_fuzz_write(const char *name, const void *data, size_t bytes)
{
    const char *path = gmt_fuzz_path(name);
    FILE *file = fopen(path, "we");

    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

uint8_t *gmt_fuzz_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    uint8_t *data = NULL;
    size_t capacity = 0, n = 1;

    *bytes = 0;
    while (file != NULL && n > 0) {
        if (*bytes == capacity) {
            capacity = capacity != 0 ? capacity * 2 : 65536;
            data = realloc(data, capacity);
            if (data == NULL) {
                exit(2);
            }
        }
        n = fread(data + *bytes, 1, capacity - *bytes, file);
        *bytes += n;
    }
    if (file != NULL) {
        fclose(file);
    }
    return data;
}
