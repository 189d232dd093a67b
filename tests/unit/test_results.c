/* SPDX-License-Identifier: Apache-2.0 */
/* The table of results says what CUDA's headers say. Links gmt_store. */
#include <criterion/criterion.h>
#include <cuda.h>
#include <driver_types.h>
#include <string.h>

#include "libtrace/store/db/results.h"

Test(results, have_the_names_and_numbers_of_cuda)
{
    static const struct {
        const char *name, *runtime_name;
        int number, runtime_number;
    } rows[] = {
#define ROW(driver, runtime) {#driver, #runtime, driver, runtime}
        ROW(CUDA_ERROR_INVALID_VALUE, cudaErrorInvalidValue),
        ROW(CUDA_ERROR_OUT_OF_MEMORY, cudaErrorMemoryAllocation),
        ROW(CUDA_ERROR_ECC_UNCORRECTABLE, cudaErrorECCUncorrectable),
        ROW(CUDA_ERROR_NOT_FOUND, cudaErrorSymbolNotFound),
        ROW(CUDA_ERROR_NOT_READY, cudaErrorNotReady),
        ROW(CUDA_ERROR_ILLEGAL_ADDRESS, cudaErrorIllegalAddress),
        ROW(CUDA_ERROR_LAUNCH_TIMEOUT, cudaErrorLaunchTimeout),
        ROW(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cudaErrorPeerAccessAlreadyEnabled),
        ROW(CUDA_ERROR_ASSERT, cudaErrorAssert),
        ROW(CUDA_ERROR_MISALIGNED_ADDRESS, cudaErrorMisalignedAddress),
        ROW(CUDA_ERROR_LAUNCH_FAILED, cudaErrorLaunchFailure),
        ROW(CUDA_ERROR_NOT_SUPPORTED, cudaErrorNotSupported),
        ROW(CUDA_ERROR_UNKNOWN, cudaErrorUnknown),
#undef ROW
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct gmt_result_row *row = gmt_result_of(rows[i].number);

        cr_assert_not_null(row, "%s", rows[i].name);
        cr_expect_eq(rows[i].number, rows[i].runtime_number);
        cr_expect_str_eq(row->name, rows[i].name);
        cr_expect_str_eq(row->runtime_name, rows[i].runtime_name);
    }
}

Test(results, know_which_errors_no_context_survives)
{
    cr_expect_eq(gmt_result_of(CUDA_ERROR_ILLEGAL_ADDRESS)->kind, GMT_RESULT_STICKY);
    cr_expect_eq(gmt_result_of(CUDA_ERROR_LAUNCH_FAILED)->kind, GMT_RESULT_STICKY);
    cr_expect_eq(gmt_result_of(CUDA_ERROR_INVALID_VALUE)->kind, GMT_RESULT_FAILURE);
    cr_expect_eq(gmt_result_of(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)->kind, GMT_RESULT_HANDLED);
    cr_expect_eq(gmt_result_of(CUDA_ERROR_NOT_READY)->kind, GMT_RESULT_ANSWER);
    cr_expect_null(gmt_result_of(CUDA_SUCCESS));
    cr_expect_null(gmt_result_of(-1));
}

/* So that nothing is said of one of them twice. */
Test(results, are_in_the_order_of_their_numbers)
{
    static const int numbers[] = {
#define GMT_RESULT(number, name, runtime_name, kind, words) number,
#include "libtrace/store/db/results.def"
#undef GMT_RESULT
    };
    for (size_t i = 1; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        cr_expect_lt(numbers[i - 1], numbers[i]);
    }
}
