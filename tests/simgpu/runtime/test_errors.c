/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the software device's runtime: the last one, names and texts, versions. */
#include "check.h"

#include <pthread.h>

Test(errors, the_last_error_is_kept_until_it_is_asked_for)
{
    expect_success(cudaGetLastError());
    expect_error(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    expect_error(cudaErrorInvalidValue, cudaPeekAtLastError());
    void *memory;
    expect_success(cudaMalloc(&memory, 4)); /* a success does not wipe it out */
    expect_error(cudaErrorInvalidValue, cudaGetLastError());
    expect_success(cudaGetLastError());
    expect_success(cudaFree(memory));
}

Test(errors, a_later_error_replaces_an_earlier_one)
{
    expect_error(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    expect_error(cudaErrorInvalidDevice, cudaSetDevice(99));
    expect_error(cudaErrorInvalidDevice, cudaGetLastError());
}

static void *last_error_of_another_thread(void *out)
{
    *(cudaError_t *)out = cudaGetLastError();
    return NULL;
}

Test(errors, the_last_error_is_the_threads_own)
{
    cudaError_t other = cudaErrorUnknown;
    pthread_t thread;
    expect_error(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    cr_assert_eq(pthread_create(&thread, NULL, last_error_of_another_thread, &other), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(other, cudaSuccess);
    expect_error(cudaErrorInvalidValue, cudaGetLastError());
}

Test(errors, not_ready_and_asking_for_memory_that_is_not_there_are_not_for_ever)
{
    void *memory = NULL;
    expect_error(cudaErrorMemoryAllocation, cudaMalloc(&memory, SIZE_MAX / 4));
    expect_error(cudaErrorMemoryAllocation, cudaGetLastError());
    expect_success(cudaMalloc(&memory, 16));
    expect_success(cudaFree(memory));
}

Test(errors, every_code_has_a_name_and_a_text)
{
    cr_assert_str_eq(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    cr_assert_str_eq(cudaGetErrorString(cudaSuccess), "no error");
    cr_assert_str_eq(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    cr_assert_str_eq(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
    cr_assert_str_eq(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
    cr_assert_str_eq(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    unsigned named = 0;
    for (int code = 0; code < 1000; code++) {
        const char *name = cudaGetErrorName((cudaError_t)code);
        const char *text = cudaGetErrorString((cudaError_t)code);
        bool known = strncmp(name, "cuda", 4) == 0;
        cr_assert_eq(known, strcmp(text, "unrecognized error code") != 0, "%s", name);
        named += known;
    }
    cr_assert_eq(named, 133, "driver_types.h of CUDA 13.0 has 133, here are %u", named);
}

Test(errors, versions)
{
    int runtime = 0;
    int driver = 0;
    expect_success(cudaRuntimeGetVersion(&runtime));
    expect_success(cudaDriverGetVersion(&driver));
    cr_assert_eq(runtime, CUDART_VERSION);
    cr_assert_geq(driver, runtime);
    expect_error(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
    expect_error(cudaErrorInvalidValue, cudaDriverGetVersion(NULL));
}

Test(errors, what_is_not_supported_says_so)
{
    cudaTextureObject_t texture;
    expect_error(cudaErrorNotSupported, cudaCreateTextureObject(&texture, NULL, NULL, NULL));
    expect_error(cudaErrorNotSupported, cudaGetLastError());
}
