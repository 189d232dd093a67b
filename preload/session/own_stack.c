/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the stack, with a page below it that nobody may touch. */
#include "preload/session/own_stack.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)512 << 10)

/* own_stack_call.S */
__attribute__((visibility("hidden"))) void gmt_own_stack_call(void (*function)(void *),
                                                              void *argument, void *top);

int gmt_own_stack_run(void (*function)(void *), void *argument)
{
    int saved_errno = errno, error = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page + STACK_BYTES;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        error = -errno;
        errno = saved_errno;
        return error;
    }
    (void)mprotect(memory, page, PROT_NONE);
    errno = saved_errno;
    gmt_own_stack_call(function, argument, memory + bytes);
    saved_errno = errno;
    (void)munmap(memory, bytes);
    errno = saved_errno;
    return 0;
}
