/* SPDX-License-Identifier: Apache-2.0 */
/* printf in kernels: the text that comes out of stdout, formats, and the order within a block. */
#include "program.cuh"

#include <cstdio>
#include <string>
#include <unistd.h>

static __global__ void say(int i, unsigned u, long long wide, double real, const char *text, char c)
{
    printf("int %d %5d|%-5d|%+d|%05d hex %x %X %#x oct %o\n", i, i, i, i, i, u, u, u, u);
    printf("wide %lld %llu %llx\n", wide, (unsigned long long)wide, wide);
    printf("real %f %.3f %10.2f|%-10.1f|%e %g %a\n", real, real, real, real, real, real, 1.5);
    printf("text %s %10s|%-6s|%.2s char %c percent %%\n", text, "right", "left", "cut", c);
    printf("no argument\n");
    int count = printf("%d %s %f %c\n", i, "four", 2.5, c); /* returns the number of arguments */
    printf("returned %d, star %*d\n", count, 7, i);
}

static __global__ void in_order(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        if (threadIdx.x == 0)
            printf("round %d of block %u\n", round, blockIdx.x);
        __syncthreads();
    }
}

/* Stdout into a file while `run` runs. */
template <class F> static std::string captured(sim_check &check, F run)
{
    std::string text;
    FILE *file = tmpfile();
    int saved, c;

    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    if (file == nullptr || saved < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) {
        sim_differ(check, "cannot redirect stdout");
        return text;
    }
    run();
    SIM_LAUNCHED(check);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    while ((c = fgetc(file)) != EOF)
        text.push_back((char)c);
    fclose(file);
    return text;
}

static void compare(sim_check &check, const std::string &got, const std::string &wanted)
{
    check.compared += wanted.size();
    if (got != wanted)
        sim_differ(check, "printed:\n%s\nnot:\n%s", got.c_str(), wanted.c_str());
}

template <class... T> static void add(std::string &text, const char *format, T... arguments)
{
    char line[256];

    snprintf(line, sizeof(line), format, arguments...);
    text += line;
}

static std::string said(int i, unsigned u, long long wide, double real, const char *text, char c)
{
    std::string out;

    add(out, "int %d %5d|%-5d|%+d|%05d hex %x %X %#x oct %o\n", i, i, i, i, i, u, u, u, u);
    add(out, "wide %lld %llu %llx\n", wide, (unsigned long long)wide, wide);
    add(out, "real %f %.3f %10.2f|%-10.1f|%e %g %a\n", real, real, real, real, real, real, 1.5);
    add(out, "text %s %10s|%-6s|%.2s char %c percent %%\n", text, "right", "left", "cut", c);
    add(out, "no argument\n");
    add(out, "%d %s %f %c\n", i, "four", 2.5, c);
    add(out, "returned %d, star %*d\n", 4, 7, i);
    return out;
}

void sim_program_device_printf(sim_check &check)
{
    sim_array<char> text(check, std::vector<char>{'a', ' ', 't', 'e', 'x', 't', '\0'});
    std::string wanted, got;

    got = captured(check, [&] {
        say<<<1, 1>>>(-42, 0xbeefu, -5000000000ll, 3.14159265358979, text.device, 'x');
    });
    compare(check, got, said(-42, 0xbeefu, -5000000000ll, 3.14159265358979, "a text", 'x'));

    for (int round = 0; round < 20; round++)
        add(wanted, "round %d of block 0\n", round);
    got = captured(check, [] { in_order<<<1, 64>>>(20); });
    compare(check, got, wanted);

    /* Of many threads and blocks, in any order: each line is there once. */
    got = captured(check, [] { in_order<<<40, 33>>>(3); });
    for (int block = 0; block < 40; block++) {
        for (int round = 0; round < 3; round++) {
            std::string line;
            size_t at;

            add(line, "round %d of block %d\n", round, block);
            at = got.find(line);
            SIM_HOLDS(check, at != std::string::npos);
            if (at != std::string::npos)
                got.erase(at, line.size());
        }
    }
    compare(check, got, "");
}
