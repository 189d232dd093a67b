/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the program with the library preloaded and passes its end on. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/launcher/launcher.h"
#include "preload/options.h"
#include "preload/output.h"

static volatile sig_atomic_t child;

static void pass_on(int number)
{
    if (child > 0) {
        (void)kill((pid_t)child, number);
    }
}

/* The file that execvp would take; "" if none. */
static void find_program(const char *name, char path[static PATH_MAX])
{
    path[0] = '\0';
    if (strchr(name, '/') != NULL) {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    const char *search = getenv("PATH");
    for (const char *at = search != NULL ? search : "/usr/bin:/bin"; *at != '\0';) {
        size_t length = strcspn(at, ":");
        (void)snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length != 0 ? "/" : "", name);
        if (access(path, X_OK) == 0) {
            return;
        }
        at += length + (at[length] == ':');
    }
    path[0] = '\0';
}

struct program_traits {
    bool is_static; /* no dynamic loader: LD_PRELOAD has no effect */
    char asan[64];  /* file name of the ASan runtime it needs, or "" */
};

static struct program_traits look_at(const char *path)
{
    struct program_traits traits = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
        if (fd >= 0) {
            close(fd);
        }
        return traits;
    }
    size_t bytes = (size_t)status.st_size;
    const char *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) {
        return traits;
    }
    Elf64_Ehdr header;
    memcpy(&header, file, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
        bool has_loader = false;
        for (unsigned i = 0; i < header.e_phnum; i++) {
            Elf64_Phdr segment;
            size_t at = header.e_phoff + (size_t)i * sizeof(segment);
            if (at + sizeof(segment) > bytes) {
                break;
            }
            memcpy(&segment, file + at, sizeof(segment));
            has_loader |= segment.p_type == PT_INTERP;
        }
        traits.is_static = header.e_type != ET_DYN ? !has_loader : false;
        const char *name = memmem(file, bytes, "libasan.so.", 11);
        if (name != NULL && strnlen(name, bytes - (size_t)(name - file)) < sizeof(traits.asan)) {
            memcpy(traits.asan, name, strnlen(name, sizeof(traits.asan) - 1));
        }
    }
    munmap((void *)file, bytes);
    return traits;
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

static int prepare_environment(const char *program, uint64_t now_ns)
{
    char library[PATH_MAX], preload[PATH_MAX * 2], run[32];
    if (gmt_launcher_part("../lib/libgmtrace.so", library, sizeof(library)) != 0) {
        (void)fprintf(stderr, "gmtrace: libgmtrace.so is missing: it belongs into ../lib beside "
                              "gmtrace; install again\n");
        return -ENOENT;
    }
    char path[PATH_MAX];
    find_program(program, path);
    struct program_traits traits = look_at(path);
    if (traits.is_static) {
        (void)fprintf(stderr,
                      "gmtrace: %s is linked statically, so nothing can be preloaded into "
                      "it and there will be no trace; link it dynamically\n",
                      program);
    }
    const char *before = getenv("LD_PRELOAD");
    (void)snprintf(preload, sizeof(preload), "%s%s%s%s%s", traits.asan,
                   traits.asan[0] != '\0' ? ":" : "", library,
                   before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
    (void)snprintf(run, sizeof(run), "%llu", (unsigned long long)now_ns);
    return setenv("LD_PRELOAD", preload, 1) != 0 || setenv("GMTRACE_RUN", run, 1) != 0 ? -errno : 0;
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? GMT_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int gmt_launcher_run(char *const argv[])
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    gmt_options_load();
    if (check_output(gmt_options.output) != 0) {
        return GMT_EXIT_FAILED;
    }
    /* Terminal signals reach the program by itself; the launcher stays to tell how it ended. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};
    struct sigaction old_int, old_quit;
    (void)sigaction(SIGINT, &ignore, &old_int);
    (void)sigaction(SIGQUIT, &ignore, &old_quit);
    (void)sigaction(SIGTERM, &pass, NULL);
    (void)sigaction(SIGHUP, &pass, NULL);
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        (void)fprintf(stderr, "gmtrace: %s\n", strerror(errno));
        return GMT_EXIT_FAILED;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigaction(SIGINT, &old_int, NULL);
        (void)sigaction(SIGQUIT, &old_quit, NULL);
        (void)signal(SIGTERM, SIG_DFL);
        (void)signal(SIGHUP, SIG_DFL);
        int error = ENOENT;
        if (prepare_environment(argv[0], now_ns) == 0) {
            execvp(argv[0], argv);
            error = errno;
            (void)fprintf(stderr, "gmtrace: cannot run '%s': %s\n", argv[0], strerror(error));
        } else {
            error = -1;
        }
        ssize_t written = write(report[1], &error, sizeof(error));
        (void)written;
        _exit(GMT_EXIT_FAILED);
    }
    close(report[1]);
    if (pid < 0) {
        (void)fprintf(stderr, "gmtrace: cannot start a process: %s\n", strerror(errno));
        return GMT_EXIT_FAILED;
    }
    child = pid;
    int failure = 0, status = 0;
    ssize_t got = read(report[0], &failure, sizeof(failure));
    close(report[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (got == (ssize_t)sizeof(failure)) {
        return failure == ENOENT ? GMT_EXIT_NOT_FOUND
               : failure > 0     ? GMT_EXIT_CANNOT_RUN
                                 : GMT_EXIT_FAILED;
    }
    gmt_launcher_report(gmt_options.output, pid, now_ns, argv[0]);
    return status_of(status);
}
