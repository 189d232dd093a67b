/* SPDX-License-Identifier: Apache-2.0 */
/* Warp votes, matches, shuffles of all kinds and widths, reductions; whole warps and parts. */
#include "program.cuh"

enum {
    ANY,
    ALL,
    BALLOT,
    MATCH,
    MATCH_ALL,
    MATCH_ALL_SAME,
    INDEXED,
    UP,
    DOWN,
    CROSS,
    SEGMENT,
    ADD,
    LEAST,
    MOST,
    AND,
    OR,
    XOR,
    LANE,
    BELOW,
    RESULTS
};

static __device__ void primitives(unsigned members, const int *in, int *out)
{
    int value = in[threadIdx.x], lane = threadIdx.x % 32, same = 5;

    out += threadIdx.x * RESULTS;
    out[ANY] = __any_sync(members, value == 3) != 0;
    out[ALL] = __all_sync(members, value < 60) != 0;
    out[BALLOT] = (int)__ballot_sync(members, value & 1);
    out[MATCH] = (int)__match_any_sync(members, value);
    out[MATCH_ALL] = (int)__match_all_sync(members, value / 64, &same);
    out[MATCH_ALL_SAME] = same;
    out[INDEXED] = __shfl_sync(members, value, 31 - lane);
    out[UP] = __shfl_up_sync(members, value, 3);
    out[DOWN] = __shfl_down_sync(members, value, 5);
    out[CROSS] = __shfl_xor_sync(members, value, 9);
    out[SEGMENT] = __shfl_down_sync(members, value, 2, 8);
    out[ADD] = __reduce_add_sync(members, value);
    out[LEAST] = __reduce_min_sync(members, value - 20);
    out[MOST] = __reduce_max_sync(members, value - 20);
    out[AND] = (int)__reduce_and_sync(members, (unsigned)value | 0x100);
    out[OR] = (int)__reduce_or_sync(members, (unsigned)value);
    out[XOR] = (int)__reduce_xor_sync(members, (unsigned)value);
    __syncwarp(members);
    out[LANE] = lane;
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[BELOW] = (int)below;
}

static __global__ void whole(const int *in, int *out)
{
    primitives(0xffffffffu, in, out);
}

/* Lanes that go different ways: each way is a group of its own. */
static __global__ void parts(const int *in, int *out)
{
    unsigned low = 0x0f0f3355u;

    if (low >> threadIdx.x % 32 & 1)
        primitives(low, in, out);
    else
        primitives(~low, in, out);
}

/* A loop that lanes leave one by one; who is left votes. */
static __global__ void leaving(unsigned *out)
{
    unsigned lane = threadIdx.x % 32, members = 0xffffffffu, sum = 0;

    for (unsigned round = 0;; round++) {
        unsigned next = __ballot_sync(members, round < lane);

        sum += (unsigned)__popc(members);
        if (round >= lane)
            break;
        members = next;
    }
    __syncwarp();
    out[threadIdx.x] = sum + (unsigned)__popc(__activemask()) * 10000;
}

static int reduce(int which, int a, int b)
{
    switch (which) {
    case ADD: return a + b;
    case LEAST: return a < b ? a : b;
    case MOST: return a > b ? a : b;
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
    }
}

/* -1 in `known` where the result is not defined: a shuffle from a lane that takes no part. */
static void reference(unsigned members, const int *in, int lane, int *o, bool *known)
{
    auto from = [&](int which, int source, int first, int last) {
        bool inside = source >= first && source <= last;

        known[which] = !inside || (members >> source & 1) != 0;
        o[which] = inside ? in[source] : in[lane];
    };
    bool all_same = true;

    for (int i = 0; i < RESULTS; i++) {
        o[i] = 0;
        known[i] = true;
    }
    o[ALL] = 1;
    for (int i = 0; i < 32; i++) {
        if ((members >> i & 1) == 0)
            continue;
        o[ANY] |= in[i] == 3;
        o[ALL] &= in[i] < 60;
        o[BALLOT] |= (int)((unsigned)(in[i] & 1) << i);
        o[MATCH] |= (int)((unsigned)(in[i] == in[lane]) << i);
        all_same &= in[i] / 64 == in[lane] / 64;
    }
    o[MATCH_ALL] = all_same ? (int)members : 0;
    o[MATCH_ALL_SAME] = all_same;
    from(INDEXED, 31 - lane, 0, 31);
    from(UP, lane - 3, 0, 31);
    from(DOWN, lane + 5, 0, 31);
    from(CROSS, lane ^ 9, 0, 31);
    from(SEGMENT, lane + 2, lane / 8 * 8, lane / 8 * 8 + 7);
    for (int which = ADD; which <= XOR; which++) {
        bool first = true;

        for (int i = 0; i < 32; i++) {
            int value = which == LEAST || which == MOST ? in[i] - 20
                        : which == AND                  ? in[i] | 0x100
                                                        : in[i];

            if ((members >> i & 1) == 0)
                continue;
            o[which] = first ? value : reduce(which, o[which], value);
            first = false;
        }
    }
    o[LANE] = lane;
    o[BELOW] = (int)((1u << lane) - 1);
}

static void compare(sim_check &check, const char *what, sim_array<int> &out,
                    const std::vector<int> &in, unsigned low)
{
    out.download();
    for (size_t thread = 0; thread < in.size(); thread++) {
        int lane = (int)thread % 32, wanted[RESULTS];
        bool known[RESULTS];

        reference(low >> lane & 1 ? low : ~low, &in[thread - lane], lane, wanted, known);
        for (int i = 0; i < RESULTS; i++) {
            int got = out.host[thread * RESULTS + i];

            check.compared += known[i];
            if (known[i] && got != wanted[i])
                sim_differ(check, "%s: result %d of thread %zu is %d (0x%x), not %d (0x%x)", what,
                           i, thread, got, got, wanted[i], wanted[i]);
        }
    }
}

void sim_program_warp_primitives(sim_check &check)
{
    const int count = 4 * 32;
    sim_random random(36);
    sim_array<int> in(check, count), out(check, (size_t)count * RESULTS);
    sim_array<unsigned> left(check, 64);
    std::vector<unsigned> wanted_left;

    for (int i = 0; i < count; i++) /* the third warp agrees in everything but its bits */
        in.host[i] = i / 32 == 2 ? (int)random.below(60) : (int)random.below(70);
    in.upload();
    whole<<<1, count>>>(in.device, out.device);
    SIM_LAUNCHED(check);
    compare(check, "whole", out, in.host, 0xffffffffu);
    parts<<<1, count>>>(in.device, out.device);
    SIM_LAUNCHED(check);
    compare(check, "parts", out, in.host, 0x0f0f3355u);
    leaving<<<1, 64>>>(left.device);
    SIM_LAUNCHED(check);
    for (unsigned i = 0; i < 64; i++) {
        unsigned sum = 0;

        for (unsigned round = 0; round <= i % 32; round++)
            sum += 32 - round;
        wanted_left.push_back(sum);
    }
    left.download();
    for (unsigned &value : left.host) {
        /* Who is active after the warp's barrier is up to the device: at least the lane itself. */
        SIM_HOLDS(check, value / 10000 >= 1 && value / 10000 <= 32);
        value %= 10000;
    }
    sim_equal(check, "leaving", left.host, wanted_left);
}
