/* SPDX-License-Identifier: Apache-2.0 */
/* A call from a function that was inlined into one that was inlined; compiled in many ways by make.sh,
 * and looked at by test_source_lines.c, which finds the lines by their remarks. */
#define ALWAYS static inline __attribute__((always_inline))

static volatile int after;

ALWAYS void chain_inner(void (*call)(void))
{
    call(); /* line of inner */
    after = 1;
}

ALWAYS void chain_middle(void (*call)(void), int times)
{
    for (int i = 0; i < times; i++) {
        chain_inner(call); /* line of middle */
    }
}

__attribute__((visibility("default"), noinline)) void chain_outer(void (*call)(void));
void chain_outer(void (*call)(void))
{
    after = 0;
    chain_middle(call, 1); /* line of outer */
    after = 2;
}
