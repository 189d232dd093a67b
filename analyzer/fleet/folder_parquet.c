/* SPDX-License-Identifier: Apache-2.0 */
/* Has the program that speaks to DuckDB read the ranks of an exported folder. */
#include "analyzer/fleet/folder_parquet.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "analyzer/fleet/rank_stream.h"
#include "analyzer/model/paths.h"
#include "libtrace/base/printable.h"

bool gmt_fleet_is_parquet(const char *folder)
{
    char path[PATH_MAX];
    DIR *table = snprintf(path, sizeof(path), "%s/trace", folder) < (int)sizeof(path)
                     ? opendir(path)
                     : NULL;
    bool is_parquet = false;

    for (struct dirent *entry; table != NULL && (entry = readdir(table)) != NULL;) {
        is_parquet = is_parquet || strncmp(entry->d_name, "run=", 4) == 0;
    }
    if (table != NULL) {
        closedir(table);
    }
    return is_parquet;
}

/* The child's part: becomes the program, whose output goes to `to`. */
static void become(const char *program, const char *folder, int to, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        dup2(to, STDOUT_FILENO) < 0) {
        _exit(GMT_EXIT_UNREADABLE);
    }
    execl(program, program, "--fleet", folder, (char *)NULL);
    gmt_say(stderr, "gmanalyze: %s: %s\n", program, strerror(errno));
    _exit(GMT_EXIT_UNREADABLE);
}

static int receive_all(struct gmt_fleet *fleet, FILE *from, struct gmt_arena *arena)
{
    int rc = 0;

    for (int next; rc == 0 && (next = fgetc(from)) != EOF;) {
        struct gmt_fleet_rank *rank = GMT_PUSH(arena, fleet->ranks, fleet->count);

        if (rank == NULL) {
            return -ENOMEM;
        }
        ungetc(next, from);
        *rank = (struct gmt_fleet_rank){0};
        rc = gmt_fleet_rank_receive(rank, from, arena);
    }
    return rc;
}

int gmt_fleet_read_parquet(struct gmt_fleet *fleet, const char *folder, struct gmt_arena *arena)
{
    char program[PATH_MAX];
    pid_t parent = getpid(), child;
    int ends[2], status = 0;

    if (gmt_path_program("gmtrace-parquet", program, sizeof(program)) == NULL) {
        gmt_say(stderr, "gmanalyze: libexec/gmtrace/gmtrace-parquet of this installation is "
                        "missing\n");
        return -ECANCELED;
    }
    if (pipe(ends) != 0) {
        return -errno;
    }
    fflush(NULL);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        become(program, folder, ends[1], parent);
    }
    close(ends[1]);
    FILE *from = child > 0 ? fdopen(ends[0], "r") : NULL;
    int rc = from != NULL ? receive_all(fleet, from, arena) : -EIO;
    if (from != NULL) {
        fclose(from); /* if it still writes, it ends */
    } else {
        close(ends[0]);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (rc == -ENOMEM) {
        return rc;
    }
    if (child > 0 && WIFSIGNALED(status)) {
        gmt_say(stderr, "gmanalyze: %s: reading it ended with: %s\n", folder,
                strsignal(WTERMSIG(status)));
        return -ECANCELED;
    }
    return child > 0 && WEXITSTATUS(status) != GMT_EXIT_OK ? -ECANCELED : rc;
}
