/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the spool where signals interrupt what makes it. posix_fallocate is the test's. */
#include "libtrace/record/chunk.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 65536 };

static unsigned interruptions, tries;

/* In place of libc's. */
int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    tries++;
    if (tries <= interruptions) {
        return EINTR;
    }
    return ftruncate(fd, offset + bytes) == 0 ? 0 : errno;
}

static char folder[64];
static int folder_fd;

static void setup(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/gmtrace-chunk.XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(folder_fd, 0);
}

static void teardown(void)
{
    (void)unlinkat(folder_fd, "file", 0);
    (void)close(folder_fd);
    (void)rmdir(folder);
}

TestSuite(chunk, .init = setup, .fini = teardown, .timeout = 60);

Test(chunk, some_signals_are_borne)
{
    void *mapping = NULL;
    interruptions = 3;
    cr_assert_eq(gmt_spool_file_create(folder_fd, "file", BYTES, &mapping, NULL), 0);
    cr_expect_eq(tries, 4u);
    (void)munmap(mapping, BYTES);
}

Test(chunk, a_program_with_signals_without_end_goes_on)
{
    void *mapping = NULL;
    interruptions = UINT32_MAX;
    cr_expect_eq(gmt_spool_file_create(folder_fd, "file", BYTES, &mapping, NULL), -EINTR);
    cr_expect_neq(faccessat(folder_fd, "file", F_OK, 0), 0, "nothing is left behind");
}
