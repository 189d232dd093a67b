// SPDX-License-Identifier: Apache-2.0
// The call comes from what was inlined into a lambda that is a function of its own.
#define ALWAYS inline __attribute__((always_inline))

static volatile int after;

static ALWAYS void send(void (*call)())
{
    call();
    after = 1;
}

extern "C" __attribute__((visibility("default"), noinline)) void chain_outer(void (*call)())
{
    if (after == 0) {
        auto run = [=]() {
            send(call);
            after = 2;
        };
        run();
    }
}
