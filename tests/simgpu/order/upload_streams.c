/* SPDX-License-Identifier: Apache-2.0 */
/* Small copies beside streams that do not wait for the legacy one: many, with work, destroyed (uploads.h). */
#include <cuda.h>
#include <stdint.h>

#include "uploads.h"

/* Of ten copies eight are held back where they may be: how many were? */
static uint64_t held_back(struct actor *a)
{
    struct place *place = &a->places[0];
    uint64_t before = harness_applied(GMT_FIX_GATHERED_COPIES);
    CUcontext context;
    OK(cuCtxGetCurrent(&context)); /* another call */
    for (size_t i = 0; i < 10; i++) {
        upload_bytes(a, place, i * 16, a->host + i * 16, 16);
    }
    uint64_t count = harness_applied(GMT_FIX_GATHERED_COPIES) - before;
    upload_download(a, place);
    return count;
}

static void expect(uint64_t found, uint64_t expected, const char *when)
{
    if (found != expected) {
        harness_fail("%s: %llu copies were held back", when, (unsigned long long)found);
    }
}

/* None is while a stream has work, which is done when `done` is. */
static void beside_stream_work(struct actor *a, CUevent done, const char *when)
{
    uint64_t found = held_back(a);
    if (cuEventQuery(done) == CUDA_ERROR_NOT_READY) {
        expect(found, 0, when);
    }
}

#define STREAMS 300
#define OTHER_BYTES 16u

/* Work for a stream, of which much is left for long. */
static void give_work(CUstream stream, CUdeviceptr other, CUevent event)
{
    for (unsigned i = 0; i < 100; i++) {
        OK(cuMemsetD8Async(other, (unsigned char)i, OTHER_BYTES, stream));
    }
    OK(cuEventRecord(event, stream));
}

void upload_beside_streams(struct actor *a)
{
    CUstream streams[STREAMS];
    CUdeviceptr other;
    CUevent event;
    unsigned first = harness_seed % 2 == 0 ? 0 : STREAMS - 4; /* of those that stay */
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&other, (size_t)STREAMS * OTHER_BYTES));
    OK(cuCtxSynchronize());
    expect(held_back(a), 8, "one stream");
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    expect(held_back(a), 0, "more streams than are asked");
    for (unsigned i = 0; i < STREAMS; i++) {
        if (i < first || i >= first + 4) {
            OK(cuStreamDestroy(streams[i]));
        }
    }
    expect(held_back(a), 8, "few streams again");
    give_work(streams[first], other, event);
    beside_stream_work(a, event, "a stream with work");
    OK(cuStreamDestroy(streams[first]));
    beside_stream_work(a, event, "a stream that was destroyed with work");
    OK(cuCtxSynchronize());
    expect(held_back(a), 8, "its work is done");
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING, 0));
        OK(cuMemsetD8Async(other + i * OTHER_BYTES, 1, OTHER_BYTES, streams[i]));
        if (draw(a, 2) == 0) {
            OK(cuStreamDestroy(streams[i]));
            streams[i] = NULL;
        }
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        if (streams[i] != NULL) {
            OK(cuStreamDestroy(streams[i]));
        }
    }
    OK(cuCtxSynchronize());
    expect(held_back(a), 8, "the work of all that were destroyed is done");
    OK(cuMemFree(other));
}
