/* SPDX-License-Identifier: Apache-2.0 */
/* Calls while an exception is on its way. */
#include "unwind_shapes.h"

#include <string>

namespace {
struct at_exit {
    unwind_probe *probe;
    ~at_exit()
    {
        probe();
    }
};

__attribute__((noinline)) void throw_it(unwind_probe *probe, int depth)
{
    at_exit call{probe};
    std::string text(static_cast<size_t>(depth) + 40, 'x');
    if (depth == 0) {
        throw text;
    }
    throw_it(probe, depth - 1);
}
} // namespace

void unwind_in_destructor(unwind_probe *probe)
{
    try {
        throw_it(probe, 3);
    } catch (const std::string &) {
        probe();
    }
}

void unwind_in_catch(unwind_probe *probe)
{
    try {
        throw std::string("caught");
    } catch (const std::string &text) {
        if (!text.empty()) {
            probe();
        }
    }
}
