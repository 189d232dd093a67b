/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's structures and enumerations that are handed to the driver by a cast: here the
 * compiler confirms that they are what the driver expects.
 */
#include "simgpu/runtime/runtime.h"

#define SAME_SIZE(a, b) _Static_assert(sizeof(a) == sizeof(b), "laid out alike")
#define SAME_FIELD(a, field_a, b, field_b) \
    _Static_assert(offsetof(a, field_a) == offsetof(b, field_b) && \
                       sizeof(((a *)0)->field_a) == sizeof(((b *)0)->field_b), \
                   "laid out alike")
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), "one number for both")

SAME_SIZE(struct cudaMemPoolProps, CUmemPoolProps);
SAME_FIELD(struct cudaMemPoolProps, allocType, CUmemPoolProps, allocType);
SAME_FIELD(struct cudaMemPoolProps, handleTypes, CUmemPoolProps, handleTypes);
SAME_FIELD(struct cudaMemPoolProps, location, CUmemPoolProps, location);
SAME_FIELD(struct cudaMemPoolProps, maxSize, CUmemPoolProps, maxSize);
SAME_SIZE(struct cudaMemPoolPtrExportData, CUmemPoolPtrExportData);
SAME(cudaMemHandleTypePosixFileDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME_SIZE(struct cudaMemAccessDesc, CUmemAccessDesc);
SAME_FIELD(struct cudaMemAccessDesc, flags, CUmemAccessDesc, flags);
SAME_SIZE(struct cudaMemLocation, CUmemLocation);
SAME_FIELD(struct cudaMemLocation, id, CUmemLocation, id);
SAME_SIZE(struct cudaMemcpyAttributes, CUmemcpyAttributes);
SAME_FIELD(struct cudaMemcpyAttributes, srcLocHint, CUmemcpyAttributes, srcLocHint);
SAME_FIELD(struct cudaMemcpyAttributes, dstLocHint, CUmemcpyAttributes, dstLocHint);
SAME_FIELD(struct cudaMemcpyAttributes, flags, CUmemcpyAttributes, flags);
SAME_SIZE(struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);
SAME_FIELD(struct cudaMemcpy3DBatchOp, dst, CUDA_MEMCPY3D_BATCH_OP, dst);
SAME_FIELD(struct cudaMemcpy3DBatchOp, extent, CUDA_MEMCPY3D_BATCH_OP, extent);
SAME_FIELD(struct cudaMemcpy3DBatchOp, flags, CUDA_MEMCPY3D_BATCH_OP, flags);
SAME_SIZE(cudaLaunchAttribute, CUlaunchAttribute);
SAME_FIELD(cudaLaunchAttribute, val, CUlaunchAttribute, value);
SAME_SIZE(cudaGraphEdgeData, CUgraphEdgeData);
SAME_FIELD(cudaGraphEdgeData, type, CUgraphEdgeData, type);
SAME_SIZE(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_FIELD(cudaGraphInstantiateParams, result_out, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);

SAME(cudaMemLocationTypeHostNumaCurrent, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
SAME(cudaMemAllocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(cudaMemAdviseUnsetAccessedBy, CU_MEM_ADVISE_UNSET_ACCESSED_BY);
SAME(cudaMemRangeAttributeLastPrefetchLocation, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
SAME(cudaMemPoolAttrUsedMemHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME(cudaMemAccessFlagsProtReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(cudaLimitPersistingL2CacheSize, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
SAME(cudaFuncCachePreferEqual, CU_FUNC_CACHE_PREFER_EQUAL);
SAME(cudaStreamCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(cudaStreamCaptureStatusInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME(cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(cudaEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(cudaEventInterprocess, CU_EVENT_INTERPROCESS);
SAME(cudaHostAllocWriteCombined, CU_MEMHOSTALLOC_WRITECOMBINED);
SAME(cudaHostRegisterReadOnly, CU_MEMHOSTREGISTER_READ_ONLY);
SAME(cudaMemAttachSingle, CU_MEM_ATTACH_SINGLE);
SAME(cudaDevAttrMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(cudaDevAttrClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
SAME(cudaDevAttrHostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
SAME(cudaDevAttrGpuPciSubsystemId, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
SAME(cudaDevP2PAttrCudaArrayAccessSupported, CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED);
SAME(cudaFuncAttributeMaxDynamicSharedMemorySize, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(cudaFuncAttributeClusterSchedulingPolicyPreference,
     CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME(cudaLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(cudaJitPositionIndependentCode, CU_JIT_POSITION_INDEPENDENT_CODE);
SAME(cudaJitMaxThreadsPerBlock, CU_JIT_MAX_THREADS_PER_BLOCK);
SAME(cudaLibraryBinaryIsPreserved, CU_LIBRARY_BINARY_IS_PRESERVED);
SAME(cudaEnablePerThreadDefaultStream, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
SAME(cudaDriverEntryPointVersionNotSufficent, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME(cudaArrayTextureGather, CUDA_ARRAY3D_TEXTURE_GATHER);
SAME(cudaDeviceSyncMemops, CU_CTX_SYNC_MEMOPS);
SAME(cudaDeviceScheduleBlockingSync, CU_CTX_SCHED_BLOCKING_SYNC);

/* Errors: some of each kind; the tables of both parts are compared by a test. */
SAME(cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND);
SAME(cudaErrorNotReady, CUDA_ERROR_NOT_READY);
SAME(cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
SAME(cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(cudaErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(cudaErrorInvalidResourceConfiguration, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
