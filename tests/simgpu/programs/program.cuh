/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs share: a record of what was compared, device buffers, and random numbers.
 *
 * A program compares every element that its kernels wrote with a CPU computation. Most compare for
 * equality: they compute with integers, with floats that hold small integers, or with operations
 * that round once and that the compiler may not fuse (__fadd_rn and the like), so that the order of
 * additions does not matter or is the same. Where it is not, the program says why and how far apart
 * the two may be.
 */
#ifndef SIMGPU_TESTS_PROGRAM_CUH
#define SIMGPU_TESTS_PROGRAM_CUH

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

struct sim_check {
    const char *program;
    unsigned long compared; /* values; a program that compares none has failed */
    unsigned long wrong;
};

/* Counts a difference and prints it, the first few of a program only. */
void sim_differ(sim_check &check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if the call succeeded; a difference if not. */
bool sim_succeeded(sim_check &check, cudaError_t status, const char *call, const char *file,
                   int line);
/* The call must fail with just this error. */
bool sim_refused(sim_check &check, cudaError_t status, cudaError_t wanted, const char *call,
                 int line);

#define SIM_CALL(check, call) sim_succeeded((check), (call), #call, __FILE__, __LINE__)
#define SIM_REFUSED(check, wanted, call) sim_refused((check), (call), (wanted), #call, __LINE__)
/* After <<<>>>: the launch was taken, and the kernel ran to its end. */
#define SIM_LAUNCHED(check) \
    (SIM_CALL(check, cudaGetLastError()) && SIM_CALL(check, cudaDeviceSynchronize()))
/* A statement that must hold. */
#define SIM_HOLDS(check, statement) \
    ((check).compared++, \
     (statement) ? (void)0 : sim_differ((check), "line %d: not so: %s", __LINE__, #statement))

/* True on the software device, where more is promised: faults leave the process usable. */
bool sim_software_device();

/* ---- random numbers: the same on each machine -------------------------------------------------- */

struct sim_random {
    uint64_t state;

    explicit sim_random(uint64_t seed) : state(seed)
    {
    }

    /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t next()
    {
        uint64_t z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }

    uint32_t below(uint32_t bound)
    {
        return (uint32_t)((next() >> 32) * bound >> 32);
    }

    /* From the half-open interval, 24 random bits. */
    double between(double low, double high)
    {
        return low + (high - low) * (double)(next() >> 40) * 0x1p-24;
    }

    /* A small integer as a float: sums of up to 2^20 of them are exact in any order. */
    float small()
    {
        return (float)((int)below(17) - 8);
    }
};

/* ---- device memory ----------------------------------------------------------------------------- */

/* An array on the device with its copy on the host. New device memory is filled with 0xcd bytes, so
 * that an element that no kernel wrote shows. */
template <class T> struct sim_array {
    sim_check &check;
    T *device = nullptr;
    std::vector<T> host;

    sim_array(sim_check &check_, size_t count) : check(check_), host(count)
    {
        if (SIM_CALL(check, cudaMalloc((void **)&device, count * sizeof(T))))
            SIM_CALL(check, cudaMemset(device, 0xcd, count * sizeof(T)));
    }
    sim_array(sim_check &check_, const std::vector<T> &from) : sim_array(check_, from.size())
    {
        host = from;
        upload();
    }
    sim_array(const sim_array &) = delete;
    sim_array &operator=(const sim_array &) = delete;
    ~sim_array()
    {
        cudaFree(device);
    }

    size_t bytes() const
    {
        return host.size() * sizeof(T);
    }
    void upload()
    {
        SIM_CALL(check, cudaMemcpy(device, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    const std::vector<T> &download()
    {
        SIM_CALL(check, cudaMemcpy(host.data(), device, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }
    void zero()
    {
        SIM_CALL(check, cudaMemset(device, 0, bytes()));
    }
};

/* ---- comparisons ------------------------------------------------------------------------------- */

template <class T>
void sim_report(sim_check &check, const char *what, size_t index, const T &got, const T &wanted)
{
    if constexpr (std::is_floating_point_v<T>)
        sim_differ(check, "%s[%zu] is %.17g (%a), not %.17g (%a)", what, index, (double)got,
                   (double)got, (double)wanted, (double)wanted);
    else if constexpr (std::is_signed_v<T>)
        sim_differ(check, "%s[%zu] is %lld, not %lld", what, index, (long long)got,
                   (long long)wanted);
    else if constexpr (std::is_integral_v<T>)
        sim_differ(check, "%s[%zu] is %llu (0x%llx), not %llu (0x%llx)", what, index,
                   (unsigned long long)got, (unsigned long long)got, (unsigned long long)wanted,
                   (unsigned long long)wanted);
    else
        sim_differ(check, "%s[%zu] differs", what, index);
}

/* Bit by bit for numbers, so that -0 is not 0; a NaN equals any NaN. */
template <class T> bool sim_same(const T &got, const T &wanted)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (got != got && wanted != wanted)
            return true;
    }
    return memcmp(&got, &wanted, sizeof(T)) == 0;
}

template <class T>
void sim_equal(sim_check &check, const char *what, const std::vector<T> &got,
               const std::vector<T> &wanted)
{
    if (got.size() != wanted.size())
        sim_differ(check, "%s has %zu elements, not %zu", what, got.size(), wanted.size());
    for (size_t i = 0; i < got.size() && i < wanted.size(); i++) {
        check.compared++;
        if (!sim_same(got[i], wanted[i]))
            sim_report(check, what, i, got[i], wanted[i]);
    }
}

/* Downloads, then compares. */
template <class T>
void sim_equal(sim_check &check, const char *what, sim_array<T> &got, const std::vector<T> &wanted)
{
    got.download();
    sim_equal(check, what, got.host, wanted);
}

template <class T> void sim_equal_value(sim_check &check, const char *what, T got, T wanted)
{
    check.compared++;
    if (!sim_same(got, wanted))
        sim_report(check, what, 0, got, wanted);
}

/* At most `relative` of the wanted value or `absolute` apart, whichever is more. */
template <class T>
void sim_near(sim_check &check, const char *what, const std::vector<T> &got,
              const std::vector<double> &wanted, double relative, double absolute)
{
    if (got.size() != wanted.size())
        sim_differ(check, "%s has %zu elements, not %zu", what, got.size(), wanted.size());
    for (size_t i = 0; i < got.size() && i < wanted.size(); i++) {
        double apart = std::fabs((double)got[i] - wanted[i]);

        check.compared++;
        if (!(apart <= relative * std::fabs(wanted[i]) || apart <= absolute))
            sim_report(check, what, i, (double)got[i], wanted[i]);
    }
}

/* ---- the programs ------------------------------------------------------------------------------ */

#define SIM_PROGRAM(name, isolated, doc) void sim_program_##name(sim_check &check);
#include "programs.def"
#undef SIM_PROGRAM

#endif
