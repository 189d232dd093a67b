/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program with the library preloaded and waits for its end. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "libtrace/base/nearest.h"
#include "libtrace/base/printable.h"
#include "preload/apply/plan.h"
#include "preload/session/options.h"
#include "preload/session/run_note.h"

static volatile sig_atomic_t child, received;
static bool is_held; /* signals stay ours between runs */

/* The terminal has sent it to the program, too; the launcher stays to report how that ended. */
static void note(int number)
{
    received = number;
}

static void pass_on(int number)
{
    received = number;
    if (child > 0) {
        (void)kill((pid_t)child, number);
    }
}

/* Nothing can be preloaded into it; the driver loads what this variable names. Another tool's place is
 * not taken. Other programs do not get it: it would go to all that they start. */
static int enter_static_program(const char *program, const char *library)
{
    const char *tool = getenv("CUDA_INJECTION64_PATH");
    bool is_taken = tool != NULL && tool[0] != '\0';
    gmt_say(stderr,
            is_taken ? "gmtrace: %s is linked statically, so nothing can be preloaded into it, and "
                       "CUDA_INJECTION64_PATH names another tool: there will be no trace\n"
                     : "gmtrace: %s is linked statically, so nothing can be preloaded into it: "
                       "its calls are recorded without stacks, through CUPTI, if there is one\n",
            program);
    return is_taken ? 0 : setenv("CUDA_INJECTION64_PATH", library, 1);
}

/* Ours among those of the user. asan: the runtime of the program's ASan, which must be the first; "": none. */
static int preload_libraries(const char *library, const char *device, const char *asan)
{
    const char *before = getenv("LD_PRELOAD");
    size_t user_bytes = before != NULL ? strlen(before) + 1 : 1;
    size_t bytes = user_bytes + strlen(library) + strlen(device) + strlen(asan) + 4, used = 0;
    char *of_asan = malloc(user_bytes), *others = malloc(user_bytes), *text = malloc(bytes);
    int rc = -1;
    if (of_asan != NULL && others != NULL && text != NULL) {
        gmt_launcher_preload_of_user(before, true, of_asan, user_bytes);
        gmt_launcher_preload_of_user(before, false, others, user_bytes);
        const char *parts[] = {of_asan[0] != '\0' ? of_asan : asan, library, device, others};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            if (parts[i][0] != '\0') {
                used += (size_t)snprintf(text + used, bytes - used, "%s%s", used != 0 ? ":" : "",
                                         parts[i]);
            }
        }
        rc = setenv("LD_PRELOAD", text, 1);
    }
    free(of_asan);
    free(others);
    free(text);
    return rc;
}

/* NVTX loads its tool from a variable only; another tool's value is kept. Nothing is recorded where fixes are applied. */
static int set_variables(const char *library, const struct gmt_launcher_run *run)
{
    const char *plan = getenv(GMT_APPLY_VARIABLE);
    return setenv(GMT_RUN_VARIABLE, run->value, 1) != 0 ||
                   ((plan == NULL || plan[0] == '\0') &&
                    setenv("NVTX_INJECTION64_PATH", library, 0) != 0)
               ? -1
               : 0;
}

static int prepare_environment(const char *program, const struct gmt_launcher_run *run)
{
    char library[PATH_MAX], device[PATH_MAX * 2 + 64] = "";
    if (gmt_launcher_part("../lib/libgmtrace.so", library, sizeof(library)) != 0) {
        gmt_say(stderr, "gmtrace: libgmtrace.so is missing: it belongs in ../lib next to gmtrace; "
                        "install again\n");
        return -ENOENT;
    }
    struct gmt_program traits = gmt_program_look(program);
    if (traits.is_musl) {
        gmt_say(stderr,
                "gmtrace: %s is linked with musl, which no driver works with and whose loader "
                "refuses libgmtrace.so: it runs untraced, and all that it starts\n",
                program);
        return 0;
    }
    if (traits.is_static && run != NULL && enter_static_program(program, library) != 0) {
        return -ENOMEM;
    }
    int error = gmt_launcher_wants_software_device()
                    ? gmt_launcher_use_software_device(program, &traits, device, sizeof(device))
                    : 0;
    if (error != 0) {
        return error;
    }
    if (run == NULL) { /* only the device, where it has to be */
        return device[0] != '\0' && preload_libraries("", device, traits.asan) != 0 ? -errno : 0;
    }
    if (set_variables(library, run) != 0) { /* these hold any path */
        return -errno;
    }
    error = gmt_launcher_name_library(library);
    if (error != 0) {
        return error;
    }
    return preload_libraries(library, device, traits.asan) != 0 ||
                   gmt_launcher_let_asan_start() != 0
               ? -errno
               : 0;
}

/* What the launcher does with signals while the program runs. The program gets back what the
 * launcher was started with. */
static const struct {
    int number;
    void (*handler)(int);
} signals[] = {
    {SIGINT, note},
    {SIGQUIT, note},
    {SIGTERM, pass_on},
    {SIGHUP, pass_on},
    /* Ignored, it would make the kernel drop the program's status. */
    {SIGCHLD, SIG_DFL},
    /* The launcher may have to finish a trace: a file that grows too large is a failure then, not its end. */
    {SIGXFSZ, SIG_IGN},
};
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[SIGNAL_COUNT]; /* what the launcher was started with */
static bool is_before_known;

/* Asks once: what the launcher itself has set is nothing to be given back. */
static void take_signals(void)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = signals[i].handler};
        if (!is_before_known) {
            (void)sigaction(signals[i].number, NULL, &before[i]);
        }
        /* Under nohup, or in the background, none of those is to end that have a handler of ours. */
        if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL ||
            before[i].sa_handler != SIG_IGN) {
            (void)sigaction(signals[i].number, &action, NULL);
        }
    }
    is_before_known = true;
}

static void give_signals_back(void)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        (void)sigaction(signals[i].number, &before[i], NULL);
    }
}

/* There is no program any more that they could be meant for. What gmtrace does then, the user may end. */
static void give_interrupts_back(void)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i].number != SIGCHLD && signals[i].number != SIGXFSZ) {
            (void)sigaction(signals[i].number, &before[i], NULL);
        }
    }
}

void gmt_launcher_hold_signals(bool hold)
{
    is_held = hold;
    if (!hold && is_before_known) {
        give_interrupts_back();
    }
}

int gmt_launcher_received(void)
{
    return received;
}

/* In the process that becomes the program then. 0 or negative errno. */
static int enter_second_run(const char *output)
{
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) {
        return -errno;
    }
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (dup2(nothing, fd) < 0) {
            return -errno;
        }
    }
    if (nothing > STDERR_FILENO) {
        close(nothing);
    }
    return setenv(GMT_SECOND_RUN_VARIABLE, "1", 1) != 0 || setenv("GMTRACE_OUTPUT", output, 1) != 0
               ? -errno
               : 0;
}

/* The command of gmtrace that a word which is no program was likely meant to be, or NULL. */
static const char *command_near(const char *word)
{
    static const char *const commands[] = {"try", "apply", "doctor", "calibrate", "dump",
                                           "on",  "off",   "status", "help"};
    return gmt_nearest(word, commands, sizeof(commands) / sizeof(commands[0]));
}

/* In the child: become the program, or report an errno, or -1 when gmtrace failed. */
static _Noreturn void become(char *const argv[], const struct gmt_launcher_run *run,
                             const char *second_output, int report)
{
    int error = -1;
    if ((second_output == NULL || enter_second_run(second_output) == 0) &&
        prepare_environment(argv[0], run) == 0) {
        execvp(argv[0], argv);
        error = errno;
        bool is_here = error == ENOENT && strchr(argv[0], '/') == NULL &&
                       access(argv[0], X_OK) == 0;
        const char *meant = error == ENOENT ? command_near(argv[0]) : NULL;
        gmt_say(stderr, "gmtrace: cannot run '%s': %s%s%s\n", argv[0], strerror(error),
                is_here         ? "; the one here is ./"
                : meant != NULL ? "; did you mean: gmtrace "
                                : "",
                is_here         ? argv[0]
                : meant != NULL ? meant
                                : "");
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

int gmt_launcher_execute(char *const argv[], const struct gmt_launcher_run *run,
                         const char *second_output, int *status)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        gmt_say(stderr, "gmtrace: %s\n", strerror(errno));
        return GMT_EXIT_FAILED;
    }
    /* A signal to be passed on waits until there is somebody to pass it to. */
    sigset_t all, mask;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &mask);
    take_signals();
    pid_t pid = fork();
    if (pid == 0) {
        give_signals_back();
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        become(argv, run, second_output, report[1]);
    }
    child = pid;
    int error = errno;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        gmt_say(stderr, "gmtrace: cannot start a process: %s\n", strerror(error));
        return GMT_EXIT_FAILED;
    }
    int failure = failure_of(report[0]);
    close(report[0]);
    int waited = gmt_launcher_wait(pid, run != NULL ? run->limit_s : 0, status);
    error = errno;
    child = 0;
    if (!is_held) {
        give_interrupts_back();
    }
    if (failure != 0) {
        return failure == ENOENT ? GMT_EXIT_NOT_FOUND
               : failure > 0     ? GMT_EXIT_CANNOT_RUN
                                 : GMT_EXIT_FAILED;
    }
    if (waited == -1) {
        gmt_say(stderr, "gmtrace: cannot find out how '%s' ended: %s\n", argv[0], strerror(error));
    }
    return waited;
}

struct gmt_launcher_run gmt_launcher_begin_run(void)
{
    struct gmt_launcher_run run = {.note = -1};
    uint64_t number;
    struct timespec now;
    /* Compared with the times of files, which the kernel takes from this clock. */
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        number = (uint64_t)getpid();
    }
    (void)snprintf(run.name, sizeof(run.name), "%lld%09ld-%016" PRIx64, (long long)now.tv_sec,
                   now.tv_nsec, number);
    /* A limit on the size of files may forbid it. */
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before_this;
    (void)sigaction(SIGXFSZ, &ignored, &before_this);
    run.note = gmt_run_note_make(run.name, run.value, sizeof(run.value));
    (void)sigaction(SIGXFSZ, &before_this, NULL);
    return run;
}
