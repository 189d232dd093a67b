// SPDX-License-Identifier: Apache-2.0
// The call comes from a header of a library of templates, compiled into the program as a function.
#include <memory>

#include <thrust/apply.h>

extern "C" __attribute__((visibility("default"), noinline)) void chain_outer(void (*call)())
{
#ifdef OF_THRUST
    thrust::apply(call);
#else
    int value = 0;
    std::unique_ptr<int, void (*)(int *)> owner(&value, reinterpret_cast<void (*)(int *)>(call));
#endif
}
