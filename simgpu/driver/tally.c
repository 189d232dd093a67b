/* SPDX-License-Identifier: Apache-2.0 */
/* Calls counted: in a shared file when SIMGPU_COUNTS names one, so that they outlive any end. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simgpu/driver/counts.h"
#include "simgpu/driver/driver.h"
#include "simgpu/driver/ids.h"

const char *const sim_names[ID_COUNT] = {
#define SIM(symbol, base, since, params, args) #symbol,
#define SIM_PTDS(symbol, base, since, since_pt, params, args) #symbol, #symbol "_ptds",
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) #symbol, #symbol "_ptsz",
#include "simgpu/driver/functions.def"
};

static struct sim_count private_tally[ID_COUNT];
static struct sim_count *tally = private_tally;

static void expand(char *path, size_t bytes, const char *pattern)
{
    size_t used = 0;
    for (const char *p = pattern; *p != '\0' && used + 16 < bytes; p++) {
        if (p[0] == '%' && p[1] == 'p') {
            used += (size_t)snprintf(path + used, bytes - used, "%d", (int)getpid());
            p++;
        } else {
            path[used++] = *p;
        }
    }
    path[used] = '\0';
}

static void open_file(void)
{
    const char *pattern = getenv("SIMGPU_COUNTS");
    if (pattern == NULL || pattern[0] == '\0') {
        return;
    }
    char path[4096];
    expand(path, sizeof path, pattern);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return;
    }
    size_t bytes = sizeof private_tally;
    if (posix_fallocate(fd, 0, (off_t)bytes) == 0) {
        void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            tally = map;
            for (unsigned i = 0; i < ID_COUNT; i++) {
                memccpy(tally[i].name, sim_names[i], '\0', sizeof tally[i].name - 1);
            }
        }
    }
    close(fd);
}

/* A forked child counts for itself: in a file of its own where the name holds %p. */
static void in_child(void)
{
    const char *pattern = getenv("SIMGPU_COUNTS");
    if (pattern != NULL && strstr(pattern, "%p") != NULL) {
        open_file();
    }
}

__attribute__((constructor)) static void start(void)
{
    open_file();
    pthread_atfork(NULL, NULL, in_child);
}

void sim_tally(unsigned id)
{
    atomic_fetch_add_explicit(&tally[id].calls, 1, memory_order_relaxed);
}
