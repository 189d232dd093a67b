/* SPDX-License-Identifier: Apache-2.0 */
/* Search of a pattern in a text, byte by byte; matches counted, and listed in any order. */
#include "program.cuh"

#include <algorithm>
#include <string>

static __constant__ char pattern[16];

static __global__ void search(const char *text, int length, int pattern_length, int *found,
                              int *found_count)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, i = 0;

    if (at + pattern_length > length)
        return;
    while (i < pattern_length && text[at + i] == pattern[i])
        i++;
    if (i == pattern_length)
        found[atomicAdd(found_count, 1)] = at;
}

/* Bytes in, bytes out: lower case to upper, and signed arithmetic on chars. */
static __global__ void shout(const char *text, signed char *out, int length)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;

    if (at < length)
        out[at] = text[at] >= 'a' && text[at] <= 'z' ? text[at] - 'a' + 'A' : -text[at];
}

void sim_program_string_search(sim_check &check)
{
    const char wanted_pattern[] = "abca";
    const int pattern_length = 4, length = 50021;
    sim_random random(19);
    std::string text;
    std::vector<int> wanted;
    std::vector<signed char> shouted;

    for (int i = 0; i < length; i++)
        text.push_back("abc\x7f"[random.below(64) == 0 ? 3 : random.below(3)]);
    for (size_t at = text.find(wanted_pattern); at != std::string::npos;
         at = text.find(wanted_pattern, at + 1))
        wanted.push_back((int)at);
    for (char c : text)
        shouted.push_back((signed char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : -c));

    sim_array<char> device_text(check, std::vector<char>(text.begin(), text.end()));
    sim_array<signed char> out(check, length);
    sim_array<int> found(check, length), count(check, 1);
    count.zero();
    SIM_CALL(check, cudaMemcpyToSymbol(pattern, wanted_pattern, pattern_length));
    search<<<(length + 255) / 256, 256>>>(device_text.device, length, pattern_length, found.device,
                                          count.device);
    shout<<<(length + 127) / 128, 128>>>(device_text.device, out.device, length);
    SIM_LAUNCHED(check);
    sim_equal(check, "count", count, std::vector<int>{(int)wanted.size()});
    found.download();
    found.host.resize(count.host[0] >= 0 && count.host[0] <= length ? count.host[0] : 0);
    std::sort(found.host.begin(), found.host.end());
    sim_equal(check, "places", found.host, wanted);
    sim_equal(check, "shouted", out, shouted);
}
