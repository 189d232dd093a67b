/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the traced process by its file lock, a pidfd, and /proc. */
#include "libtrace/store/recording/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libtrace/record/clock.h"

#define MAPS_EVERY_NS UINT64_C(200000000)

/* Linux 6.15 and later report the exit status of any process by its pidfd; older headers lack it. */
struct pidfd_exit_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define PIDFD_EXIT_MASK UINT64_C(8)
#define PIDFD_EXIT_IOCTL _IOWR(0xFF, 11, struct pidfd_exit_info)

struct proc_stat {
    char state;
    long threads;
    uint64_t start;
    int exit_status; /* -1: not shown to us */
};

/* Returns 0, -ESRCH when there is no such process, or negative errno when /proc is denied. */
static int read_stat(int32_t pid, struct proc_stat *stat)
{
    char path[48], text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        /* /proc not mounted is not the same as no such process */
        return errno == ENOENT && access("/proc/self/stat", F_OK) == 0 ? -ESRCH : -errno;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    int error = got < 0 ? -errno : 0;
    close(fd);
    if (error != 0) {
        return error;
    }
    text[got] = '\0';
    *stat = (struct proc_stat){.exit_status = -1};
    char *save = NULL, *at = strrchr(text, ')');
    if (at == NULL) {
        return -EIO;
    }
    int number = 3;
    for (char *field = strtok_r(at + 1, " \n", &save); field != NULL;
         field = strtok_r(NULL, " \n", &save), number++) {
        if (number == 3) {
            stat->state = field[0];
        } else if (number == 20) {
            stat->threads = strtol(field, NULL, 10);
        } else if (number == 22) {
            stat->start = strtoull(field, NULL, 10);
        } else if (number == 52) {
            stat->exit_status = atoi(field);
        }
    }
    return 0;
}

void gmt_process_watch_open(struct gmt_process_watch *watch, const struct gmt_control *control,
                            int control_fd, const char *spool_directory)
{
    *watch = (struct gmt_process_watch){
        .pid = (int32_t)control->pid,
        .pid_start = control->pid_start,
        .pidfd = -1,
        .control_fd = control_fd,
        .mapped = true,
        .exit_status = -1,
    };
    const char *name = strrchr(spool_directory, '/');
    char target[PATH_MAX];
    /* The spool can be a link into /dev/shm: mappings show the target. */
    if (realpath(spool_directory, target) != NULL) {
        name = strrchr(target, '/');
    }
    (void)snprintf(watch->suffix, sizeof(watch->suffix), "/%.270s/control",
                   name != NULL ? name + 1 : spool_directory);
#ifdef SYS_pidfd_open
    watch->pidfd = (int)syscall(SYS_pidfd_open, watch->pid, 0);
#endif
    struct proc_stat stat = {.exit_status = -1};
    int error = read_stat(watch->pid, &stat);
    bool other = error == 0 && watch->pid_start != 0 && stat.start != watch->pid_start;
    if (watch->pidfd >= 0 && (other || error == -ESRCH)) {
        close(watch->pidfd);
        watch->pidfd = -1;
    }
}

void gmt_process_watch_close(struct gmt_process_watch *watch)
{
    if (watch->pidfd >= 0) {
        close(watch->pidfd);
        watch->pidfd = -1;
    }
}

static bool lock_is_held(const struct gmt_process_watch *watch)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(watch->control_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static enum gmt_process_fate fate_of(int exit_status)
{
    return (exit_status & 0x7f) != 0 ? GMT_PROCESS_KILLED : GMT_PROCESS_EXITED;
}

/* /proc shows an exit status of 0 also to those who may not see it; the same right is needed to read
 * the io file. */
static bool may_see(const struct gmt_process_watch *watch)
{
    char path[48], byte;
    (void)snprintf(path, sizeof(path), "/proc/%d/io", watch->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool readable = read(fd, &byte, 1) == 1;
    close(fd);
    return readable;
}

/* The process is dead: how? Its parent may have reaped it or not. */
static enum gmt_process_fate learn_death(struct gmt_process_watch *watch,
                                         const struct proc_stat *zombie)
{
    if (zombie != NULL &&
        (zombie->exit_status > 0 || (zombie->exit_status == 0 && may_see(watch)))) {
        watch->exit_status = zombie->exit_status;
        return fate_of(watch->exit_status);
    }
    struct pidfd_exit_info info = {.mask = PIDFD_EXIT_MASK};
    if (watch->pidfd >= 0 && ioctl(watch->pidfd, PIDFD_EXIT_IOCTL, &info) == 0 &&
        (info.mask & PIDFD_EXIT_MASK) != 0) {
        watch->exit_status = info.exit_code;
        return fate_of(watch->exit_status);
    }
    return GMT_PROCESS_GONE;
}

/* True when the process still maps the control file; also when it cannot be known. */
static bool maps_control(const struct gmt_process_watch *watch)
{
    char path[48];
    struct stat info;
    (void)snprintf(path, sizeof(path), "/proc/%d/maps", watch->pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL || fstat(watch->control_fd, &info) != 0) {
        if (maps != NULL) {
            (void)fclose(maps);
        }
        return true;
    }
    char *line = NULL;
    size_t bytes = 0, lines = 0, suffix = strlen(watch->suffix);
    bool found = false;
    ssize_t length;
    while (!found && (length = getline(&line, &bytes, maps)) > 0) {
        unsigned major_number, minor_number;
        unsigned long inode;
        lines++;
        if (line[length - 1] == '\n') {
            line[--length] = '\0';
        }
        if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3 &&
            inode == info.st_ino && makedev(major_number, minor_number) == info.st_dev) {
            found = true;
        }
        /* Overlay file systems show another device there than stat does. */
        found = found || ((size_t)length > suffix &&
                          strcmp(line + (size_t)length - suffix, watch->suffix) == 0);
    }
    free(line);
    (void)fclose(maps);
    return found || lines == 0;
}

enum gmt_process_fate gmt_process_watch_check(struct gmt_process_watch *watch)
{
    if (watch->fate != GMT_PROCESS_ALIVE) {
        return watch->fate;
    }
    if (lock_is_held(watch)) {
        return GMT_PROCESS_ALIVE;
    }
    struct proc_stat stat = {.exit_status = -1};
    int error = read_stat(watch->pid, &stat);
    bool same = error == 0 && (watch->pid_start == 0 || stat.start == watch->pid_start);
    if (error != 0 && error != -ESRCH) {
        /* No /proc: ask for the pid alone. */
        same = kill(watch->pid, 0) == 0 || errno == EPERM;
        stat = (struct proc_stat){.state = '?', .exit_status = -1};
    }
    if (!same) {
        watch->fate = learn_death(watch, NULL);
        return watch->fate;
    }
    /* The first thread of a living process may be a zombie. */
    if ((stat.state == 'Z' && stat.threads <= 1) || stat.state == 'X') {
        watch->fate = learn_death(watch, &stat);
        return watch->fate;
    }
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (watch->mapped && now_ns - watch->maps_read_ns >= MAPS_EVERY_NS) {
        watch->maps_read_ns = now_ns;
        watch->mapped = maps_control(watch);
    }
    if (!watch->mapped) {
        /* A dying process gives up its memory first: wait for its death to show, an exec'ed one
         * lives on. */
        watch->fate = stat.state == 'Z' ? GMT_PROCESS_ALIVE : GMT_PROCESS_EXECED;
    }
    return watch->fate;
}

enum gmt_process_fate gmt_process_watch_learn(struct gmt_process_watch *watch)
{
    if (watch->fate == GMT_PROCESS_GONE) {
        watch->fate = learn_death(watch, NULL);
    }
    return watch->fate;
}

void gmt_process_watch_sleep(const struct gmt_process_watch *watch, int timeout_ms)
{
    struct pollfd fd = {.fd = watch->pidfd, .events = POLLIN};
    bool dead = watch->fate != GMT_PROCESS_ALIVE;
    (void)poll(&fd, watch->pidfd >= 0 && !dead ? 1 : 0, timeout_ms);
}
