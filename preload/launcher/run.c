/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the program with the library preloaded and passes its end on. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/launcher/launcher.h"
#include "preload/launcher/program.h"
#include "preload/launcher/python.h"
#include "preload/options.h"
#include "preload/output.h"

static volatile sig_atomic_t child;

static void pass_on(int number)
{
    if (child > 0) {
        (void)kill((pid_t)child, number);
    }
}

/* Refuse before the program has done its work, not after. */
static int check_output(const char *pattern)
{
    char path[PATH_MAX], folder[PATH_MAX];
    int error = gmt_output_expand(pattern, path, sizeof(path));
    if (error != 0) {
        (void)fprintf(stderr,
                      "gmtrace: output pattern '%s' is not valid: use %%p, %%h, %%r, %%e, "
                      "%%t, %%q{VAR} or %%%%\n",
                      pattern);
        return error;
    }
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        (void)fprintf(stderr, "gmtrace: '%s' is a directory; name a file with -o\n", path);
        return -EISDIR;
    }
    const char *slash = strrchr(path, '/');
    (void)snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
                   slash != NULL ? path : ".");
    if (access(folder, W_OK | X_OK) != 0) {
        error = -errno;
        (void)fprintf(stderr,
                      "gmtrace: cannot write the trace into '%s': %s; name another place "
                      "with -o\n",
                      folder, strerror(-error));
    }
    return error;
}

/* Nothing can be preloaded into it; the driver loads what this variable names. Another tool's place is
 * not taken. Other programs do not get it: it would go to all that they start. */
static int enter_static_program(const char *program, const char *library)
{
    const char *tool = getenv("CUDA_INJECTION64_PATH");
    bool is_taken = tool != NULL && tool[0] != '\0';
    (void)fprintf(
        stderr,
        is_taken ? "gmtrace: %s is linked statically, so nothing can be preloaded into it, and "
                   "CUDA_INJECTION64_PATH names another tool: there will be no trace\n"
                 : "gmtrace: %s is linked statically, so nothing can be preloaded into it: "
                   "its calls are recorded without stacks, through CUPTI, if there is one\n",
        program);
    return is_taken ? 0 : setenv("CUDA_INJECTION64_PATH", library, 1);
}

static int prepare_environment(const char *program, uint64_t now_ns)
{
    char library[PATH_MAX], preload[PATH_MAX * 5], device[PATH_MAX * 2 + 64] = "", run[32];
    if (gmt_launcher_part("../lib/libgmtrace.so", library, sizeof(library)) != 0) {
        (void)fprintf(stderr, "gmtrace: libgmtrace.so is missing: it belongs into ../lib beside "
                              "gmtrace; install again\n");
        return -ENOENT;
    }
    struct gmt_program traits = gmt_program_look(program);
    if (traits.is_musl) {
        (void)fprintf(
            stderr,
            "gmtrace: %s is linked with musl, which no driver works with and whose loader "
            "refuses libgmtrace.so: it runs untraced, and all that it starts\n",
            program);
        return 0;
    }
    if (traits.is_static && enter_static_program(program, library) != 0) {
        return -ENOMEM;
    }
    int error = gmt_launcher_wants_software_device()
                    ? gmt_launcher_use_software_device(program, &traits, device, sizeof(device))
                    : 0;
    if (error != 0) {
        return error;
    }
    gmt_launcher_name_python(traits.path);
    const char *before = getenv("LD_PRELOAD");
    (void)snprintf(preload, sizeof(preload), "%s%s%s%s%s%s%s", traits.asan,
                   traits.asan[0] != '\0' ? ":" : "", library, device[0] != '\0' ? ":" : "", device,
                   before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
    (void)snprintf(run, sizeof(run), "%llu", (unsigned long long)now_ns);
    /* NVTX looks nowhere else for who is to be told of ranges; another tool's place is not taken. */
    return setenv("LD_PRELOAD", preload, 1) != 0 || setenv("GMTRACE_RUN", run, 1) != 0 ||
                   setenv("NVTX_INJECTION64_PATH", library, 0) != 0
               ? -errno
               : 0;
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? GMT_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What the launcher does with signals while the program runs. The program gets back what the
 * launcher was started with. */
static const struct {
    int number;
    void (*handler)(int);
} signals[] = {
    /* The terminal sends these to the program, too; the launcher stays to tell how it ended. */
    {SIGINT, SIG_IGN},
    {SIGQUIT, SIG_IGN},
    {SIGTERM, pass_on},
    {SIGHUP, pass_on},
    /* Ignored, it would make the kernel drop the program's status. */
    {SIGCHLD, SIG_DFL},
};
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

/* Once: what the launcher itself has set is nothing to be given back. */
static void take_signals(struct sigaction before[static SIGNAL_COUNT])
{
    static bool taken;
    if (taken) {
        return;
    }
    taken = true;
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = signals[i].handler};
        (void)sigaction(signals[i].number, NULL, &before[i]);
        /* Under nohup neither of the two is to end. */
        if (action.sa_handler != pass_on || before[i].sa_handler != SIG_IGN) {
            (void)sigaction(signals[i].number, &action, NULL);
        }
    }
}

static void give_signals_back(const struct sigaction before[static SIGNAL_COUNT])
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        (void)sigaction(signals[i].number, &before[i], NULL);
    }
}

/* In the child: become the program, or report an errno, or -1 when gmtrace failed. */
static _Noreturn void become(char *const argv[], uint64_t now_ns, const char *second_output,
                             int report)
{
    int error = -1;
    if ((second_output == NULL || gmt_launcher_enter_second_run(second_output) == 0) &&
        prepare_environment(argv[0], now_ns) == 0) {
        execvp(argv[0], argv);
        error = errno;
        (void)fprintf(stderr, "gmtrace: cannot run '%s': %s\n", argv[0], strerror(error));
    }
    ssize_t written = write(report, &error, sizeof(error));
    (void)written;
    _exit(GMT_EXIT_FAILED);
}

/* Why the child could not become the program; 0 once it has. */
static int failure_of(int report)
{
    int failure = 0;
    ssize_t got;
    do {
        got = read(report, &failure, sizeof(failure));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(failure) ? failure : 0;
}

int gmt_launcher_execute(char *const argv[], uint64_t now_ns, const char *second_output,
                         int *status)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        (void)fprintf(stderr, "gmtrace: %s\n", strerror(errno));
        return GMT_EXIT_FAILED;
    }
    /* A signal to be passed on waits until there is somebody to pass it to. */
    sigset_t all, mask;
    static struct sigaction before[SIGNAL_COUNT];
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &mask);
    take_signals(before);
    pid_t pid = fork();
    if (pid == 0) {
        give_signals_back(before);
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        become(argv, now_ns, second_output, report[1]);
    }
    child = pid;
    int error = errno;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        (void)fprintf(stderr, "gmtrace: cannot start a process: %s\n", strerror(error));
        return GMT_EXIT_FAILED;
    }
    int failure = failure_of(report[0]);
    pid_t waited;
    close(report[0]);
    do {
        waited = waitpid(pid, status, 0);
    } while (waited < 0 && errno == EINTR);
    child = 0;
    if (failure != 0) {
        return failure == ENOENT ? GMT_EXIT_NOT_FOUND
               : failure > 0     ? GMT_EXIT_CANNOT_RUN
                                 : GMT_EXIT_FAILED;
    }
    if (waited < 0) {
        (void)fprintf(stderr, "gmtrace: cannot tell how '%s' ended: %s\n", argv[0],
                      strerror(errno));
    }
    return waited < 0 ? -1 : 0;
}

int gmt_launcher_run(char *const argv[])
{
    /* Compared with the times of files, which the kernel takes from this clock. */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    int status = 0;
    gmt_options_load();
    if (check_output(gmt_options.output) != 0) {
        return GMT_EXIT_FAILED;
    }
    int failure = gmt_launcher_execute(argv, now_ns, NULL, &status);
    if (failure > 0) {
        return failure;
    }
    if (failure == 0 && !WIFSIGNALED(status) && gmt_options.collect == GMT_COLLECT_DEEP &&
        gmt_options.deep != GMT_DEEP_PHASE) {
        gmt_launcher_second_run(gmt_options.output, now_ns, argv);
    }
    gmt_launcher_report(gmt_options.output, now_ns, argv[0]);
    return failure < 0 ? GMT_EXIT_FAILED : status_of(status);
}
