/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that host and device share: managed, __managed__, mapped and registered. */
#include "program.cuh"

struct node {
    int value;
    node *next;
};

static __managed__ int total = 5;
static __managed__ double table[40];

static __global__ void square(int *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        data[i] *= data[i];
}

/* Follows a list that the host made, and writes variables that the host reads. */
static __global__ void walk(node *list)
{
    for (; list != nullptr; list = list->next) {
        total += list->value;
        list->value = -list->value;
    }
    for (int i = 0; i < 40; i++)
        table[i] = table[i] * 2 + i;
}

static void managed(sim_check &check)
{
    const int count = 1003;
    int *data = nullptr;
    node *nodes = nullptr;
    std::vector<int> wanted;

    SIM_CALL(check, cudaMallocManaged((void **)&data, count * sizeof(int)));
    SIM_CALL(check, cudaMallocManaged((void **)&nodes, 10 * sizeof(node), cudaMemAttachGlobal));
    for (int i = 0; i < count; i++) {
        data[i] = i - 500;
        wanted.push_back((i - 500) * (i - 500));
    }
    square<<<(count + 127) / 128, 128>>>(data, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "managed", std::vector<int>(data, data + count), wanted);

    for (int i = 0; i < 10; i++)
        nodes[i] = {i * 3, i < 9 ? &nodes[(i * 7 + 1) % 10] : nullptr};
    for (int i = 0; i < 9; i++)
        nodes[i].next = &nodes[i + 1];
    for (int i = 0; i < 40; i++)
        table[i] = 0.25 * i;
    total = 7;
    walk<<<1, 1>>>(nodes);
    SIM_LAUNCHED(check);
    sim_equal_value(check, "total", (int)total, 7 + 3 * 45);
    for (int i = 0; i < 40; i++)
        sim_equal_value(check, "table", (double)table[i], 0.5 * i + i);
    for (int i = 0; i < 10; i++)
        sim_equal_value(check, "value", nodes[i].value, -3 * i);
    SIM_CALL(check, cudaFree(data));
    SIM_CALL(check, cudaFree(nodes));
}

static void mapped(sim_check &check)
{
    const int count = 700;
    int *host = nullptr, *device = nullptr;
    std::vector<int> own(count + 4096), wanted;
    cudaPointerAttributes attributes;

    SIM_CALL(check, cudaHostAlloc((void **)&host, count * sizeof(int), cudaHostAllocMapped));
    SIM_CALL(check, cudaHostGetDevicePointer((void **)&device, host, 0));
    SIM_CALL(check, cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterMapped));
    int *own_device = nullptr;
    SIM_CALL(check, cudaHostGetDevicePointer((void **)&own_device, own.data(), 0));
    for (int i = 0; i < count; i++) {
        host[i] = own[i] = 2 * i;
        wanted.push_back(4 * i * i);
    }
    square<<<(count + 127) / 128, 128>>>(device, count);
    square<<<(count + 127) / 128, 128>>>(own_device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "mapped", std::vector<int>(host, host + count), wanted);
    sim_equal(check, "registered", std::vector<int>(own.begin(), own.begin() + count), wanted);
    SIM_CALL(check, cudaPointerGetAttributes(&attributes, host + 5));
    SIM_HOLDS(check, attributes.type == cudaMemoryTypeHost);
    SIM_CALL(check, cudaHostUnregister(own.data()));
    SIM_CALL(check, cudaFreeHost(host));
}

void sim_program_managed(sim_check &check)
{
    sim_equal_value(check, "initial", (int)total, 5);
    managed(check);
    mapped(check);
}
