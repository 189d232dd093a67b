/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a program under glibc before 2.34.
 *
 * Since 2.34 libc itself runs a program's constructors; before, the program passed a function that does. crt1.o of a
 * newer glibc passes none, and asks for a version of __libc_start_main that no older libc has. It gets this one, which
 * passes the function. A newer libc calls it, too, when it is asked by the old version.
 */
#include <stddef.h>

typedef int gmt_main_function(int count, char **arguments, char **environment);

extern gmt_main_function *__init_array_start[] __attribute__((visibility("hidden")));
extern gmt_main_function *__init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

#if defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif
__asm__(".symver gmt_old_libc_start_main, __libc_start_main@" FIRST_VERSION);
extern int gmt_old_libc_start_main(gmt_main_function *program, int count, char **arguments,
                                   gmt_main_function *constructors, void (*destructors)(void),
                                   void (*loader_end)(void), void *stack_end);

int __libc_start_main(gmt_main_function *program, int count, char **arguments,
                      gmt_main_function *constructors, void (*destructors)(void),
                      void (*loader_end)(void), void *stack_end);

static int run_constructors(int count, char **arguments, char **environment)
{
    _init();
    for (gmt_main_function **at = __init_array_start; at != __init_array_end; at++) {
        (void)(*at)(count, arguments, environment);
    }
    return 0;
}

int __libc_start_main(gmt_main_function *program, int count, char **arguments,
                      gmt_main_function *constructors, void (*destructors)(void),
                      void (*loader_end)(void), void *stack_end)
{
    /* A crt1.o of before 2.34 has passed its own. */
    return gmt_old_libc_start_main(program, count, arguments,
                                   constructors != NULL ? constructors : run_constructors,
                                   destructors, loader_end, stack_end);
}
