// SPDX-License-Identifier: Apache-2.0
// The same in C++: methods and templates have names that must be made readable.
static volatile int after;

namespace demo {
template <typename T> struct uploader {
    __attribute__((always_inline)) inline void send(void (*call)(), T count)
    {
        call();
        after = (int)count;
    }
};

namespace inner {
extern "C" __attribute__((visibility("default"), noinline)) void chain_outer(void (*call)())
{
    uploader<long> up;
    up.send(call, 3);
    after = 2;
}
} // namespace inner
} // namespace demo
