/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point immediates as 16-bit formats. */
#include <math.h>

#include "simgpu/exec/decode.h"

/* `value` with `fraction` bits behind the point and exponents from `least` (of normal numbers) to
 * `most`, rounded to nearest even. */
static uint16_t rounded(double value, int fraction, int least, int most)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const unsigned infinity = (unsigned)(most - least + 2) << fraction;
    int exponent;

    if (isnan(value)) {
        return 0x7fff;
    }
    value = fabs(value);
    if (isinf(value)) {
        return (uint16_t)(sign | infinity);
    }
    frexp(value, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    /* Integer of units of the last place: normal numbers have the leading bit set. */
    const double units = nearbyint(ldexp(value, fraction - exponent));
    const unsigned bits = (unsigned)units + ((unsigned)(exponent - least) << fraction);
    return (uint16_t)(sign | (value == 0                           ? 0
                              : exponent > most || bits > infinity ? infinity
                                                                   : bits));
}

uint16_t sim_half_bits(double value)
{
    return rounded(value, 10, -14, 15);
}

uint16_t sim_bfloat_bits(double value)
{
    return rounded(value, 7, -126, 127);
}
