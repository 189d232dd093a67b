/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, maps and closes the files of a spool. */
#include "libtrace/record/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRIES 100u

int gmt_spool_file_create(int folder, const char *name, size_t bytes, void **mapping, int *fd_out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < bytes) {
        return -EFBIG;
    }
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    if (fd < 0) {
        return -errno;
    }
    int error;
    (void)fchmod(fd, 0400); /* whatever the umask */
    /* It begins anew each time: a signal that comes often enough would never let it end. */
    for (unsigned tries = 0;
         (error = posix_fallocate(fd, 0, (off_t)bytes)) == EINTR && tries < MOST_TRIES; tries++) {
    }
    if (error == 0) {
        *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
        error = *mapping == MAP_FAILED ? errno : 0;
    }
    if (error != 0) {
        (void)unlinkat(folder, name, 0);
        close(fd);
        return -error;
    }
    if (fd_out != NULL) {
        *fd_out = fd;
    } else {
        close(fd);
    }
    return 0;
}

void gmt_chunk_begin(struct gmt_chunk_header *header, struct gmt_control *control, uint32_t index,
                     size_t bytes)
{
    header->version = GMT_SPOOL_VERSION;
    header->index = index;
    header->bytes = bytes;
    header->pid = control->pid;
    __atomic_store_n(&header->magic, GMT_CHUNK_MAGIC, __ATOMIC_RELEASE);
    __atomic_fetch_add(&control->chunks_made, 1, __ATOMIC_RELAXED);
}

int gmt_chunk_create(int folder, struct gmt_control *control, size_t bytes,
                     struct gmt_chunk_header **header)
{
    uint64_t used = __atomic_add_fetch(&control->bytes_in_use, bytes, __ATOMIC_RELAXED);
    int status = -ENOBUFS;
    if (used > control->bytes_limit) {
        goto give_back;
    }
    char name[32];
    uint32_t index = __atomic_fetch_add(&control->chunk_count, 1, __ATOMIC_RELAXED);
    (void)snprintf(name, sizeof(name), "chunk-%u", index);
    void *mapping = NULL;
    status = gmt_spool_file_create(folder, name, bytes, &mapping, NULL);
    if (status != 0 || mapping == NULL) {
        goto give_back;
    }
    *header = mapping;
    gmt_chunk_begin(*header, control, index, bytes);
    return 0;

give_back:
    __atomic_fetch_sub(&control->bytes_in_use, bytes, __ATOMIC_RELAXED);
    return status;
}

void gmt_chunk_close(struct gmt_chunk_header *header)
{
    __atomic_store_n(&header->closed, GMT_CHUNK_CLOSED, __ATOMIC_RELEASE);
    munmap(header, header->bytes);
}
