/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events that order them, asynchronous copies, host callbacks. */
#include "program.cuh"

#include <atomic>

#define STREAMS 4

static __global__ void times_plus(int *data, int count, int times, int plus)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        data[i] = data[i] * times + plus;
}

struct called {
    std::atomic<int> order{0};
    int seen[3] = {-1, -1, -1};
};

struct call {
    called *all;
    int number;
};

static void note(void *data)
{
    call *c = (call *)data;

    c->all->seen[c->number] = c->all->order++;
}

/* Each stream copies its part in, computes, copies it out; then one waits for the others. */
static void pipeline(sim_check &check)
{
    const int part = 5003, count = STREAMS * part;
    cudaStream_t streams[STREAMS];
    cudaEvent_t done[STREAMS];
    int *in = nullptr, *out = nullptr;
    sim_array<int> data(check, count);
    std::vector<int> wanted;

    SIM_CALL(check, cudaMallocHost((void **)&in, count * sizeof(int)));
    SIM_CALL(check, cudaHostAlloc((void **)&out, count * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < count; i++) {
        in[i] = i * 17;
        wanted.push_back(((in[i] * 3 + i / part) * 5 + 1) * 2 + 7);
    }
    /* The array is filled in the legacy stream, which non-blocking streams do not wait for. */
    SIM_CALL(check, cudaDeviceSynchronize());
    for (int s = 0; s < STREAMS; s++) {
        SIM_CALL(check, s % 2 == 0 ? cudaStreamCreate(&streams[s])
                                   : cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        SIM_CALL(check, cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }
    for (int s = 0; s < STREAMS; s++) {
        int *mine = data.device + s * part;

        SIM_CALL(check, cudaMemcpyAsync(mine, in + s * part, part * sizeof(int),
                                        cudaMemcpyHostToDevice, streams[s]));
        times_plus<<<(part + 127) / 128, 128, 0, streams[s]>>>(mine, part, 3, s);
        times_plus<<<(part + 127) / 128, 128, 0, streams[s]>>>(mine, part, 5, 1);
        SIM_CALL(check, cudaEventRecord(done[s], streams[s]));
    }
    for (int s = 1; s < STREAMS; s++)
        SIM_CALL(check, cudaStreamWaitEvent(streams[0], done[s], 0));
    times_plus<<<(count + 255) / 256, 256, 0, streams[0]>>>(data.device, count, 2, 7);
    SIM_CALL(check, cudaMemcpyAsync(out, data.device, count * sizeof(int), cudaMemcpyDeviceToHost,
                                    streams[0]));
    SIM_CALL(check, cudaStreamSynchronize(streams[0]));
    SIM_CALL(check, cudaStreamQuery(streams[0]));
    sim_equal(check, "out", std::vector<int>(out, out + count), wanted);
    for (int s = 0; s < STREAMS; s++) {
        SIM_CALL(check, cudaStreamDestroy(streams[s]));
        SIM_CALL(check, cudaEventDestroy(done[s]));
    }
    SIM_CALL(check, cudaFreeHost(in));
    SIM_CALL(check, cudaFreeHost(out));
}

static void callbacks(sim_check &check)
{
    called all;
    call first = {&all, 0}, second = {&all, 1}, third = {&all, 2};
    cudaStream_t stream;
    cudaEvent_t start, stop;
    sim_array<int> data(check, 64);
    float ms = -1;

    data.zero();
    SIM_CALL(check, cudaStreamCreate(&stream));
    SIM_CALL(check, cudaEventCreate(&start));
    SIM_CALL(check, cudaEventCreate(&stop));
    SIM_CALL(check, cudaEventRecord(start, stream));
    SIM_CALL(check, cudaLaunchHostFunc(stream, note, &first));
    times_plus<<<1, 64, 0, stream>>>(data.device, 64, 1, 4);
    SIM_CALL(check, cudaLaunchHostFunc(stream, note, &second));
    SIM_CALL(check, cudaLaunchHostFunc(stream, note, &third));
    SIM_CALL(check, cudaEventRecord(stop, stream));
    SIM_CALL(check, cudaEventSynchronize(stop));
    SIM_CALL(check, cudaEventQuery(stop));
    SIM_CALL(check, cudaEventElapsedTime(&ms, start, stop));
    SIM_HOLDS(check, ms >= 0);
    SIM_HOLDS(check, all.seen[0] == 0 && all.seen[1] == 1 && all.seen[2] == 2);
    sim_equal(check, "after callbacks", data, std::vector<int>(64, 4));
    SIM_CALL(check, cudaMemsetAsync(data.device, 1, data.bytes(), stream));
    SIM_CALL(check, cudaStreamSynchronize(stream));
    sim_equal(check, "set", data, std::vector<int>(64, 0x01010101));
    SIM_CALL(check, cudaEventDestroy(start));
    SIM_CALL(check, cudaEventDestroy(stop));
    SIM_CALL(check, cudaStreamDestroy(stream));
}

void sim_program_streams(sim_check &check)
{
    pipeline(check);
    callbacks(check);
}
