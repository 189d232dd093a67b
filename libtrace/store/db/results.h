/* SPDX-License-Identifier: Apache-2.0 */
/* What the results of calls are called, and which of them mean that a program failed. */
#ifndef GMT_STORE_DB_RESULTS_H
#define GMT_STORE_DB_RESULTS_H

enum gmt_result_kind {
    GMT_RESULT_FAILURE, /* the call did not do what it was asked for                                  */
    GMT_RESULT_STICKY, /* the same, and the context, or the device, is of no use any more            */
    GMT_RESULT_HANDLED, /* programs ask whether something is there, or already done, and go on: no
                           failure, but of a call that copies, sets, launches or waits */
    GMT_RESULT_ANSWER, /* no failure of any call: the work is not done yet, the program is ending     */
};

struct gmt_result_row {
    int number; /* CUresult, equal to cudaError_t      */
    enum gmt_result_kind kind;
    const char *name;         /* CUDA_ERROR_ILLEGAL_ADDRESS          */
    const char *runtime_name; /* cudaErrorIllegalAddress; NULL: none */
    const char *words;        /* "an illegal memory access"          */
};

/* Static text; NULL: 0, or a result that this version does not know (a failure). */
const struct gmt_result_row *gmt_result_of(int number);

#endif
