/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels are described while the driver does not answer another thread about one: loading code waits for kernels that run, and
 * these may wait for what this thread launches next. The driver is a fake. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "preload/driver/resolve.h"
#include "preload/state/kernels.h"

struct gmt_driver gmt_driver;
bool gmt_driver_is_software;

#define HANDLE(type, number) ((type)(uintptr_t)(number))
#define FUNCTION(number) HANDLE(CUfunction, 0x100 + (number))
#define KERNEL(number) HANDLE(CUkernel, 0x200 + (number))
enum { LATE = 1, FIRST, SECOND, OF_LIBRARY };

static _Atomic bool asked, may_answer;

static CUresult get_name(const char **name, CUfunction function)
{
    static const char *const names[] = {"", "late", "first", "second", "of_library"};
    *name = names[(uintptr_t)function - 0x100];
    return CUDA_SUCCESS;
}

/* Its code is loaded. */
static CUresult get_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)attribute;
    *value = 32;
    if (function == FUNCTION(LATE)) {
        asked = true;
        while (!may_answer) {
            (void)usleep(1000);
        }
    }
    return CUDA_SUCCESS;
}

static CUresult function_of_kernel(CUfunction *function, CUkernel kernel)
{
    *function = FUNCTION((uintptr_t)kernel - 0x200);
    return CUDA_SUCCESS;
}

const char *
__lsan_default_suppressions(void); /* NOLINT(bugprone-reserved-identifier): the sanitizer's name */

/* Asked by LeakSanitizer (sanitizer/lsan_interface.h): kernels and classes live as long as the process, and what refers to them
 * is memory that it does not look at. */
__attribute__((visibility("default"))) const char *
__lsan_default_suppressions(void) /* NOLINT(bugprone-reserved-identifier) */
{
    return "leak:describe\nleak:same_kernel\nleak:class_add\n";
}

static const uint32_t one[3] = {1, 1, 1}, two[3] = {2, 1, 1}, no_cluster[3];

static struct gmt_class_info *class_of(const struct gmt_kernel_info *kernel, const uint32_t *grid)
{
    return gmt_class_find(kernel, grid, one, 0, no_cluster);
}

static void *find_late(void *found)
{
    *(const struct gmt_kernel_info **)found = gmt_kernel_find(FUNCTION(LATE));
    return NULL;
}

static void setup(void)
{
    gmt_clock_init();
    gmt_driver.cuFuncGetName = get_name;
    gmt_driver.cuFuncGetAttribute = get_attribute;
    gmt_driver.cuKernelGetFunction = function_of_kernel;
}

TestSuite(kernels, .init = setup, .timeout = 60);

Test(kernels, a_launch_does_not_wait_for_a_thread_that_the_driver_does_not_answer)
{
    pthread_t thread;
    const struct gmt_kernel_info *late = NULL;
    const struct gmt_kernel_info *first = gmt_kernel_find(FUNCTION(FIRST));
    cr_assert_not_null(first);
    struct gmt_class_info *known = class_of(first, one);
    cr_assert_not_null(known);
    cr_assert_eq(pthread_create(&thread, NULL, find_late, &late), 0);
    while (!asked) {
        (void)usleep(1000);
    }
    cr_expect_null(gmt_kernel_find(FUNCTION(SECOND)), "it is launched, and not described");
    cr_expect_null(class_of(first, two));
    cr_expect_eq(gmt_kernel_find(FUNCTION(FIRST)), first, "what is known needs no lock");
    cr_expect_eq(class_of(first, one), known);
    gmt_kernel_note_library_kernel(KERNEL(OF_LIBRARY));
    may_answer = true;
    (void)pthread_join(thread, NULL);
    cr_expect_not_null(late);
    cr_expect_not_null(gmt_kernel_find(FUNCTION(SECOND)), "the next time");
    cr_expect_not_null(class_of(first, two));
    const struct gmt_kernel_info *of_library = gmt_kernel_find((CUfunction)KERNEL(OF_LIBRARY));
    cr_assert_not_null(of_library);
    cr_expect_str_eq(of_library->name, "of_library", "its handle was noted meanwhile");
}

Test(kernels, a_short_description_is_waited_for)
{
    pthread_t thread;
    const struct gmt_kernel_info *late = NULL;
    may_answer = true;
    cr_assert_eq(pthread_create(&thread, NULL, find_late, &late), 0);
    cr_expect_not_null(gmt_kernel_find(FUNCTION(SECOND)));
    (void)pthread_join(thread, NULL);
    cr_expect_not_null(late);
}

enum { THREADS = 4, EACH = 512 };

static void *note_many(void *first)
{
    for (uintptr_t i = 0; i < EACH; i++) {
        gmt_kernel_note_library_kernel(HANDLE(CUkernel, 0x10000 + (uintptr_t)first * 16 + i * 16));
    }
    return NULL;
}

static CUresult nothing_inside(CUfunction *function, CUkernel kernel)
{
    (void)kernel;
    *function = FUNCTION(OF_LIBRARY);
    return CUDA_SUCCESS;
}

/* Half of them by two threads each. */
Test(kernels, handles_of_libraries_are_noted_by_several_threads)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, note_many, (void *)(i * EACH / 2)), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    gmt_driver.cuKernelGetFunction = nothing_inside;
    for (uintptr_t i = 0; i < (THREADS + 1) * EACH / 2; i++) {
        const struct gmt_kernel_info *found = gmt_kernel_find(HANDLE(CUfunction, 0x10000 + i * 16));
        cr_assert_not_null(found);
        cr_assert_eq(found->function, FUNCTION(OF_LIBRARY), "%u", (unsigned)i);
    }
}
