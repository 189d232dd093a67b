/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace-parquet [--run NAME] DIR TRACE...: what gmanalyze export --to parquet starts, which has checked the line; --fleet DIR: what
 * gmanalyze fleet starts for such a folder. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"
#include "analyzer/parquet/place.h"
#include "analyzer/parquet/read_ranks.h"
#include "analyzer/parquet/trace_files.h"
#include "libtrace/base/printable.h"

/* A damaged trace may cost the process that reads it its life, or its allowance of time; the others are exported. */
static int export_apart(const struct gmt_duckdb *duckdb, const char *trace, const char *folder,
                        const char *run)
{
    pid_t parent = getpid(), child = fork();
    int status = 0;

    if (child == 0) {
        /* Nobody goes on writing when this process was killed. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
            _exit(GMT_EXIT_UNREADABLE);
        }
        int code = gmt_parquet_trace(duckdb, trace, folder, run);
        fflush(NULL);
        _exit(code);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    gmt_parquet_place_clean(folder);
    if (child > 0 && WIFEXITED(status)) {
        return WEXITSTATUS(status);
    }
    gmt_say(stderr, "gmanalyze: %s: not exported: %s\n", trace,
            child > 0 ? strsignal(WTERMSIG(status)) : strerror(errno));
    return GMT_EXIT_UNREADABLE;
}

/* The ranks of a folder, for gmanalyze, which reads standard output. */
static int send_ranks(const char *folder)
{
    struct gmt_duckdb duckdb;
    char message[1024];
    int rc = gmt_duckdb_load(&duckdb, message, sizeof(message));

    if (rc == 0) {
        rc = gmt_parquet_read_ranks(&duckdb, folder, stdout, message, sizeof(message));
    }
    if (rc != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", folder, message);
    }
    return rc == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

int main(int argc, char **argv)
{
    const char *run = NULL;
    struct gmt_duckdb duckdb;
    char message[1024];
    int at = 1, worst = GMT_EXIT_OK;

    /* A file that would exceed the limit (ulimit -f) is a failure to be explained, not an end. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "--fleet") == 0) {
        return send_ranks(argv[2]);
    }
    if (argc > 2 && strcmp(argv[1], "--run") == 0) {
        run = argv[2];
        at = 3;
    }
    if (argc < at + 2) {
        gmt_say(stderr, "gmtrace-parquet: use gmanalyze export --to parquet DIR TRACE...\n");
        return GMT_EXIT_USAGE;
    }
    const char *folder = argv[at++];
    if (gmt_duckdb_load(&duckdb, message, sizeof(message)) != 0) {
        gmt_say(stderr, "gmanalyze: %s\n", message);
        return GMT_EXIT_UNREADABLE;
    }
    struct stat about;
    bool is_made = mkdir(folder, 0777) == 0;
    if (!is_made && (errno != EEXIST || stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", folder, strerror(errno == EEXIST ? ENOTDIR : errno));
        return GMT_EXIT_UNREADABLE;
    }
    gmt_parquet_place_clean(folder);
    for (; at < argc; at++) {
        int status = export_apart(&duckdb, argv[at], folder, run);

        worst = status > worst ? status : worst;
    }
    return worst;
}
