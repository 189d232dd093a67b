/* SPDX-License-Identifier: Apache-2.0 */
/* Processes with a pipe to this one. */
#include "analyzer/base/process_each.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/exit_codes.h"

struct helper_process {
    pid_t pid;
    FILE *from; /* NULL: was not started */
};

static void start(struct helper_process *process, const struct gmt_process_each *each, size_t i)
{
    pid_t parent = getpid();
    int ends[2];

    *process = (struct helper_process){0};
    if (pipe(ends) != 0) {
        return;
    }
    fflush(NULL);
    process->pid = fork();
    if (process->pid == 0) {
        close(ends[0]);
        FILE *to = fdopen(ends[1], "w");
        bool orphan = prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent;

        _exit(to == NULL || orphan ? GMT_EXIT_UNREADABLE : each->answer(each->context, i, to));
    }
    close(ends[1]);
    process->from = process->pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (process->from == NULL) {
        close(ends[0]);
    }
}

static int finish(struct helper_process *process, const struct gmt_process_each *each, size_t i)
{
    int status = 0;
    int rc = process->from != NULL ? each->take(each->context, i, process->from) : -EIO;

    if (process->from != NULL) {
        fclose(process->from);
    }
    while (process->pid > 0 && waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (rc != 0) {
        bool killed = process->pid > 0 && WIFSIGNALED(status);
        int failed = each->fail(each->context, i, killed ? WTERMSIG(status) : 0);

        return rc == -ENOMEM ? rc : failed;
    }
    return 0;
}

int gmt_process_each(size_t count, const struct gmt_process_each *each)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t ahead = processors > 0 ? (size_t)processors : 1;
    struct helper_process *processes = calloc(count + 1, sizeof(*processes));
    int rc = processes != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; i < count + ahead && processes != NULL; i++) {
        if (i < count) {
            start(&processes[i], each, i);
        }
        if (i >= ahead) {
            int result = finish(&processes[i - ahead], each, i - ahead);

            rc = rc != 0 ? rc : result;
        }
    }
    free(processes);
    return rc;
}
