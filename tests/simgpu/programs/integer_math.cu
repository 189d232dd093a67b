/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic of all widths, bits, funnel shifts, dot products, and PTX by name. */
#include "program.cuh"

typedef unsigned long long u64;
typedef long long s64;

struct wide { /* 128 bits by hand */
    u64 low, high;
};

#define RESULTS 34

/* What device and host both can write. */
static __host__ __device__ void common(u64 *o, u64 a, u64 b)
{
    unsigned x = (unsigned)a, y = (unsigned)b;
    int s = (int)x, t = (int)y;

    *o++ = a * b;
    *o++ = a / (b | 1);
    *o++ = a % (b | 1);
    *o++ = (u64)((s64)a / (s64)(b >> 40 | 1));
    *o++ = (u64)((s64)a % -(s64)(b >> 40 | 3));
    *o++ = x / (y | 1);
    *o++ = x % (y | 1);
    *o++ = (u64)(s / (int)(y >> 16 | 1));
    *o++ = (u64)(s % -(int)(y >> 16 | 3));
    *o++ = (u64)s * (u64)t; /* widening */
    *o++ = (u64)x * y;
    *o++ = (a << (b & 63)) ^ (b >> (a & 63));
    *o++ = (u64)((s64)a >> (b & 63)) + (u64)(s >> (y & 31)) + (x << (y & 31));
    *o++ = (u64)(short)x * (u64)(signed char)y + (unsigned char)(x * y) + (unsigned short)(x - y);
    *o++ = a / 10 + a % 1000000007 + x / 7 + (u64)(s % 1000);
    *o++ = (u64)(a > b) | (u64)((s64)a > (s64)b) << 1 | (u64)(x > y) << 2 | (u64)(s < t) << 3;
    *o++ = (a < b ? a : b) ^ (u64)(s > t ? s : t) ^ (u64)((s64)a < 0 ? -a : a);
}

static __device__ void device_only(u64 *o, u64 a, u64 b)
{
    unsigned x = (unsigned)a, y = (unsigned)b, r, c;
    int n = (int)x;

    *o++ = (u64)__clz(n) | (u64)__clzll((s64)a) << 8 | (u64)__popc(x) << 16 |
           (u64)__popcll(a) << 24 | (u64)__ffs(n) << 32 | (u64)__ffsll((s64)a) << 40;
    *o++ = __brev(x) | (u64)__byte_perm(x, y, y & 0x7777) << 32;
    *o++ = __brevll(a);
    *o++ = __umul64hi(a, b);
    *o++ = (u64)__mul64hi((s64)a, (s64)b);
    *o++ = __umulhi(x, y) | (u64)(unsigned)__mulhi(n, (int)y) << 32;
    *o++ = __umul24(x, y) | (u64)(unsigned)__mul24(n, (int)y) << 32;
    *o++ = __funnelshift_l(x, y, x) | (u64)__funnelshift_r(x, y, y) << 32;
    *o++ = __funnelshift_lc(x, y, y & 63) | (u64)__funnelshift_rc(x, y, x & 63) << 32;
    *o++ = (unsigned)__dp4a(n, (int)y, 5) | (u64)__dp4a(x, y, 7u) << 32;
    *o++ = (unsigned)__dp2a_lo(n, (int)y, 5) | (u64)__dp2a_hi(x, y, 7u) << 32;
    *o++ = __sad(n, (int)y, 9u) | (u64)__usad(x, y, 9u) << 32;
    *o++ = (unsigned)__hadd(n, (int)y) | (u64)__uhadd(x, y) << 32;
    *o++ = (unsigned)__rhadd(n, (int)y) | (u64)__urhadd(x, y) << 32;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(c) : "r"(x), "r"(y & 31), "r"(y >> 8 & 31));
    *o++ = r | (u64)c << 32;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(y & 31), "r"(y >> 8 & 31));
    asm("lop3.b32 %0, %1, %2, %3, 0xb2;" : "=r"(c) : "r"(x), "r"(y), "r"(x * 3));
    *o++ = r | (u64)c << 32;
    asm("{ .reg .u32 t; add.cc.u32 t, %2, %3; addc.cc.u32 %0, %3, %2; addc.u32 %1, 0, 0; }"
        : "=r"(r), "=r"(c)
        : "r"(x), "r"(y));
    *o++ = r | (u64)c << 32;
}

static u64 both(u64 low, u64 high)
{
    return (unsigned)low | high << 32;
}

static int part(unsigned word, int index, int bits, bool is_signed)
{
    unsigned field = word >> index * bits & ((1u << bits) - 1);

    return is_signed && field >> (bits - 1) ? (int)field - (1 << bits) : (int)field;
}

static unsigned dot(unsigned x, unsigned y, int from, int to, int first_y, int bits, bool is_signed,
                    unsigned sum)
{
    for (int i = from; i < to; i++)
        sum += (unsigned)(part(x, i, bits, is_signed) * part(y, first_y + i, 8, is_signed));
    return sum;
}

static u64 reversed(u64 value, int bits)
{
    u64 out = 0;

    for (int i = 0; i < bits; i++)
        out |= (value >> i & 1) << (bits - 1 - i);
    return out;
}

static unsigned permuted(unsigned x, unsigned y, unsigned selector)
{
    u64 bytes = both(x, y);
    unsigned out = 0;

    for (int i = 0; i < 4; i++)
        out |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return out;
}

/* bfe and bfi by their definition: a field of `length` bits from `at`, cut off at bit 31. */
static unsigned field(unsigned x, unsigned at, unsigned length, bool is_signed)
{
    unsigned sign = is_signed && length != 0
                        ? x >> (at + length - 1 > 31 ? 31 : at + length - 1) & 1
                        : 0;
    unsigned out = 0;

    for (unsigned i = 0; i < 32; i++)
        out |= (i < length && at + i < 32 ? x >> (at + i) & 1 : sign) << i;
    return out;
}

static unsigned inserted(unsigned x, unsigned into, unsigned at, unsigned length)
{
    for (unsigned i = 0; i < length && at + i < 32; i++)
        into = (into & ~(1u << (at + i))) | (x >> i & 1) << (at + i);
    return into;
}

static unsigned shifted(unsigned low, unsigned high, unsigned by, bool left)
{
    u64 all = both(low, high);

    return left ? (unsigned)(all << by >> 32) : (unsigned)(all >> by);
}

static void host_only(u64 *o, u64 a, u64 b)
{
    unsigned x = (unsigned)a, y = (unsigned)b, lut = 0, z = x * 3;
    int s = (int)x, t = (int)y;
    s64 s24 = (s64)(s << 8 >> 8), t24 = (s64)(t << 8 >> 8);
    u64 first = (u64)x + y, second = first + (first >> 32);

    *o++ = (u64)(x != 0 ? __builtin_clz(x) : 32) | (u64)(a != 0 ? __builtin_clzll(a) : 64) << 8 |
           (u64)__builtin_popcount(x) << 16 | (u64)__builtin_popcountll(a) << 24 |
           (u64)__builtin_ffs(s) << 32 | (u64)__builtin_ffsll((s64)a) << 40;
    *o++ = both(reversed(x, 32), permuted(x, y, y & 0x7777));
    *o++ = reversed(a, 64);
    *o++ = (u64)((unsigned __int128)a * b >> 64);
    *o++ = (u64)((__int128)(s64)a * (s64)b >> 64);
    *o++ = both((u64)x * y >> 32, (u64)((s64)s * t >> 32));
    *o++ = both((u64)(x & 0xffffff) * (y & 0xffffff), (u64)(s24 * t24));
    *o++ = both(shifted(x, y, x & 31, true), shifted(x, y, y & 31, false));
    *o++ = both(shifted(x, y, (y & 63) > 32 ? 32 : y & 63, true),
                shifted(x, y, (x & 63) > 32 ? 32 : x & 63, false));
    *o++ = both(dot(x, y, 0, 4, 0, 8, true, 5), dot(x, y, 0, 4, 0, 8, false, 7));
    *o++ = both(dot(x, y, 0, 2, 0, 16, true, 5), dot(x, y, 0, 2, 2, 16, false, 7));
    *o++ = both((u64)((s64)s > t ? (s64)s - t : (s64)t - s) + 9, (u64)(x > y ? x - y : y - x) + 9);
    *o++ = both((u64)(((s64)s + t) >> 1), ((u64)x + y) >> 1);
    *o++ = both((u64)(((s64)s + t + 1) >> 1), ((u64)x + y + 1) >> 1);
    *o++ = both(field(x, y & 31, y >> 8 & 31, false), field(x, y & 31, y >> 8 & 31, true));
    for (int i = 0; i < 32; i++)
        lut |= (0xb2u >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)) & 1) << i;
    *o++ = both(inserted(x, y, y & 31, y >> 8 & 31), lut);
    *o++ = both(second, second >> 32);
}

static __global__ void compute(const u64 *a, const u64 *b, u64 *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        common(out + (size_t)i * RESULTS, a[i], b[i]);
        device_only(out + (size_t)i * RESULTS + RESULTS / 2, a[i], b[i]);
    }
}

static __global__ void multiply_wide(const wide *a, const wide *b, wide *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        unsigned __int128 x = (unsigned __int128)a[i].high << 64 | a[i].low;
        unsigned __int128 y = (unsigned __int128)b[i].high << 64 | b[i].low;
        unsigned __int128 z = x * y + (x >> 3) - (y << 65);

        out[i] = {(u64)z, (u64)(z >> 64)};
    }
}

static u64 pick(sim_random &random, int i)
{
    const u64 special[] = {
        0, 1, ~0ull, 1ull << 63, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 1ull << 32};

    return i % 11 == 0 ? special[random.below(8)] : random.next() >> random.below(60);
}

void sim_program_integer_math(sim_check &check)
{
    const int count = 2003;
    sim_random random(38);
    sim_array<u64> a(check, count), b(check, count), out(check, (size_t)count * RESULTS);
    sim_array<wide> p(check, count), q(check, count), product(check, count);

    for (int i = 0; i < count; i++) {
        a.host[i] = pick(random, i);
        b.host[i] = pick(random, i + 5);
        p.host[i] = {random.next(), random.next()};
        q.host[i] = {random.next(), random.next()};
    }
    a.upload();
    b.upload();
    p.upload();
    q.upload();
    compute<<<(count + 127) / 128, 128>>>(a.device, b.device, out.device, count);
    multiply_wide<<<(count + 127) / 128, 128>>>(p.device, q.device, product.device, count);
    SIM_LAUNCHED(check);
    out.download();
    product.download();
    for (int i = 0; i < count; i++) {
        u64 wanted[RESULTS];
        unsigned __int128 x = (unsigned __int128)p.host[i].high << 64 | p.host[i].low;
        unsigned __int128 y = (unsigned __int128)q.host[i].high << 64 | q.host[i].low;
        unsigned __int128 z = x * y + (x >> 3) - (y << 65);

        common(wanted, a.host[i], b.host[i]);
        host_only(wanted + RESULTS / 2, a.host[i], b.host[i]);
        for (int j = 0; j < RESULTS; j++) {
            u64 got = out.host[(size_t)i * RESULTS + j];

            check.compared++;
            if (got != wanted[j])
                sim_differ(check, "result %d of 0x%llx, 0x%llx is 0x%llx, not 0x%llx", j, a.host[i],
                           b.host[i], got, wanted[j]);
        }
        SIM_HOLDS(check, product.host[i].low == (u64)z && product.host[i].high == (u64)(z >> 64));
    }
}
