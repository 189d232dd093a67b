/* SPDX-License-Identifier: Apache-2.0 */
/* The part of every_api about graphs made by hand, and memory that is described, shared or hinted at. */
#pragma once

/* A graph of nodes made by hand, updated as a whole by one of the same shape. */
static void build_graph(memory *m)
{
    cudaGraph_t graph, other;
    cudaGraphNode_t copy, set;
    cudaGraphExec_t executable;
    cudaGraphExecUpdateResultInfo answer = {};
    cudaMemsetParams zero = {};
    zero.dst = m->linear;
    zero.elementSize = 1;
    zero.width = BYTES;
    zero.height = 1;
    CALL("cudaGraphCreate", cudaGraphCreate(&graph, 0));
    CALL("cudaGraphAddMemsetNode", cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    CALL("cudaGraphAddMemcpyNode1D",
         cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, m->linear + BYTES, m->linear, BYTES,
                                  cudaMemcpyDeviceToDevice));
    CALL("cudaGraphInstantiate", cudaGraphInstantiate(&executable, graph, 0));
    CALL("cudaGraphLaunch", cudaGraphLaunch(executable, m->stream));
    CALL("cudaGraphExecMemcpyNodeSetParams1D",
         cudaGraphExecMemcpyNodeSetParams1D(executable, copy, m->linear + BYTES, m->linear,
                                            BYTES / 2, cudaMemcpyDeviceToDevice));
    CALL("cudaGraphLaunch", cudaGraphLaunch(executable, m->stream));
    CALL("cudaGraphClone", cudaGraphClone(&other, graph));
    TRY_CALL("cudaGraphExecUpdate", cudaGraphExecUpdate(executable, other, &answer));
    CALL("cudaGraphLaunch", cudaGraphLaunch(executable, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    CALL("cudaGraphExecDestroy", cudaGraphExecDestroy(executable));
    CALL("cudaGraphDestroy", cudaGraphDestroy(other));
    CALL("cudaGraphDestroy", cudaGraphDestroy(graph));
}

/* Memory that is described, shared or hinted at. */
static void hint(memory *m)
{
    const cudaExtent extent = make_cudaExtent(64, 64, 0);
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>();
    cudaMipmappedArray_t mipmap;
    cudaArray_t volume;
    cudaIpcMemHandle_t handle;
    unsigned long long keep = 1 << 20;
    TRY_CALL("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&handle, m->linear));
    CALL("cudaMalloc3DArray", cudaMalloc3DArray(&volume, &bytes, make_cudaExtent(64, 16, 4)));
    CALL("cudaFreeArray", cudaFreeArray(volume));
    if (TRY_CALL("cudaMallocMipmappedArray", cudaMallocMipmappedArray(&mipmap, &bytes, extent, 3)))
        CALL("cudaFreeMipmappedArray", cudaFreeMipmappedArray(mipmap));
    if (m->pool != nullptr) {
        CALL("cudaMemPoolSetAttribute",
             cudaMemPoolSetAttribute(m->pool, cudaMemPoolAttrReleaseThreshold, &keep));
        CALL("cudaMemPoolTrimTo", cudaMemPoolTrimTo(m->pool, 4096));
    }
#if CUDART_VERSION >= 13000
    if (m->managed != nullptr) {
        cudaMemLocation place = {};
        place.type = cudaMemLocationTypeDevice;
        TRY_CALL("cudaMemAdvise",
                 cudaMemAdvise(m->managed, BYTES, cudaMemAdviseSetReadMostly, place));
        TRY_CALL("cudaMemPrefetchAsync",
                 cudaMemPrefetchAsync(m->managed, BYTES, place, 0, m->stream));
    }
#endif
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
}
