// SPDX-License-Identifier: Apache-2.0
// A header where a library of templates has its own.
#ifndef SYMBOLS_THRUST_APPLY_H
#define SYMBOLS_THRUST_APPLY_H

namespace thrust {
template <typename F> void apply(F call)
{
    call();
}
} // namespace thrust

#endif
