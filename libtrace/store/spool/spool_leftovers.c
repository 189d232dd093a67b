/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of spools that never got their names, since their processes were killed in between. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/spool_claim.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/record/spool_names.h"
#include "libtrace/store/spool/spool_files.h"

#define OLD_S 60 /* a folder gets its name within a millisecond */

/* A process id, '-', a time. */
static bool is_claim(const char *name)
{
    const size_t prefix = sizeof(GMT_SPOOL_CLAIM_PREFIX) - 1;
    if (strncmp(name, GMT_SPOOL_CLAIM_PREFIX, prefix) != 0) {
        return false;
    }
    size_t pid = strspn(name + prefix, "0123456789");
    const char *rest = name + prefix + pid;
    return pid > 0 && rest[0] == '-' && isxdigit((unsigned char)rest[1]) &&
           rest[1 + strspn(rest + 1, "0123456789abcdef")] == '\0';
}

static void remove_one(int parent, const char *name)
{
    struct stat info;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return;
    }
    if (gmt_spool_folder_is_own(folder) && fstat(folder, &info) == 0 &&
        time(NULL) - info.st_mtime > OLD_S && !gmt_spool_is_written(folder)) {
        (void)gmt_spool_folder_unlink(folder, gmt_spool_name_is_ours);
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(folder);
}

void gmt_spool_leftovers_remove(const char *output)
{
    char path[PATH_MAX];
    const char *slash = strrchr(output, '/');
    (void)snprintf(path, sizeof(path), "%.*s", slash != NULL ? (int)(slash + 1 - output) : 1,
                   slash != NULL ? output : ".");
    DIR *entries = opendir(path);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (is_claim(entry->d_name)) {
            remove_one(dirfd(entries), entry->d_name);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
}
