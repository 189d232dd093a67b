/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that would show memory which is kept (cache.h), or that show others memory which then must not be kept. */
#include <cuda.h>
#include <stdint.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/state.h"

/* The function, which does BEFORE, and makes the real call. */
#define SHOWN(SYMBOL, PARAMETERS, ARGUMENTS, BEFORE) \
    static void *real_##SYMBOL; \
    static CUresult show_##SYMBOL PARAMETERS \
    { \
        BEFORE; \
        return ((CUresult(*) PARAMETERS)real_##SYMBOL)ARGUMENTS; \
    }

#define HOST(address) ((uint64_t)(uintptr_t)(address))

/* ---- questions ---------------------------------------------------------------------------------- */

/* What could not be given back in time is as good as free: it will be before an allocation fails. */
static void *real_cuMemGetInfo_v2;
static CUresult show_cuMemGetInfo_v2(size_t *left, size_t *total)
{
    uint64_t kept = !GMT_APPLY_MUTANT(cache_info) ? gmt_cache_give_back() : 0;
    CUresult result = ((CUresult(*)(size_t *, size_t *))real_cuMemGetInfo_v2)(left, total);
    if (result == CUDA_SUCCESS && left != NULL) {
        *left += kept;
    }
    return result;
}

/* Is it one that two allocations never have in common, or that lets others at the memory? */
static bool is_identity(CUpointer_attribute attribute)
{
    return attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
           attribute == CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID ||
           attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS;
}

static void ask(unsigned count, const CUpointer_attribute *attributes, uint64_t address)
{
    gmt_cache_named(address);
    for (unsigned i = 0; attributes != NULL && i < count; i++) {
        if (is_identity(attributes[i])) {
            gmt_cache_show(address);
            return;
        }
    }
}

static void show(uint64_t address)
{
    gmt_cache_named(address);
    gmt_cache_show(address);
}

SHOWN(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address),
      (base, bytes, address), gmt_cache_named(address))
SHOWN(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device, void *address, unsigned flags),
      (device, address, flags), gmt_cache_named(HOST(address)))
SHOWN(cuMemHostGetFlags, (unsigned *flags, void *address), (flags, address),
      gmt_cache_named(HOST(address)))
SHOWN(cuPointerGetAttribute, (void *value, CUpointer_attribute attribute, CUdeviceptr address),
      (value, attribute, address), ask(1, &attribute, address))
SHOWN(cuPointerGetAttributes,
      (unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr address),
      (count, attributes, values, address), ask(count, attributes, address))
SHOWN(cuPointerSetAttribute,
      (const void *value, CUpointer_attribute attribute, CUdeviceptr address),
      (value, attribute, address), show(address))

/* ---- others ------------------------------------------------------------------------------------- */

SHOWN(cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr address), (handle, address),
      show(address))
SHOWN(cuMemGetHandleForAddressRange,
      (void *handle, CUdeviceptr address, size_t bytes, CUmemRangeHandleType type,
       unsigned long long flags),
      (handle, address, bytes, type, flags), show(address))

/* ---- uses --------------------------------------------------------------------------------------- */

SHOWN(cuMemHostRegister, (void *address, size_t bytes, unsigned flags), (address, bytes, flags),
      gmt_cache_named(HOST(address)))
SHOWN(cuMemHostRegister_v2, (void *address, size_t bytes, unsigned flags), (address, bytes, flags),
      gmt_cache_named(HOST(address)))
SHOWN(cuMemHostUnregister, (void *address), (address), gmt_cache_named(HOST(address)))
SHOWN(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), (address, stream),
      gmt_cache_named(address))
SHOWN(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream), (address, stream),
      gmt_cache_named(address))

#define SET(SYMBOL, TYPE) \
    SHOWN(SYMBOL, (CUdeviceptr address, TYPE value, size_t count), (address, value, count), \
          gmt_cache_named(address))
#define SET_ASYNC(SYMBOL, TYPE) \
    SHOWN(SYMBOL, (CUdeviceptr address, TYPE value, size_t count, CUstream stream), \
          (address, value, count, stream), gmt_cache_named(address))
SET(cuMemsetD8_v2, unsigned char)
SET(cuMemsetD8_v2_ptds, unsigned char)
SET(cuMemsetD16_v2, unsigned short)
SET(cuMemsetD16_v2_ptds, unsigned short)
SET(cuMemsetD32_v2, unsigned)
SET(cuMemsetD32_v2_ptds, unsigned)
SET_ASYNC(cuMemsetD8Async, unsigned char)
SET_ASYNC(cuMemsetD8Async_ptsz, unsigned char)
SET_ASYNC(cuMemsetD16Async, unsigned short)
SET_ASYNC(cuMemsetD16Async_ptsz, unsigned short)
SET_ASYNC(cuMemsetD32Async, unsigned)
SET_ASYNC(cuMemsetD32Async_ptsz, unsigned)

/* ---- copies that no other file looks at ---------------------------------------------------------- */

static void name_both(CUdeviceptr first, CUdeviceptr second)
{
    gmt_cache_named(first);
    gmt_cache_named(second);
}

/* A copy has all four in any of its structures; what its memory types leave out is 0, or harmless: it is given back too early. */
#define NAME_SIDES(COPY) \
    if ((COPY) != NULL) { \
        name_both((COPY)->dstDevice, (COPY)->srcDevice); \
        name_both((CUdeviceptr)(uintptr_t)(COPY)->dstHost, \
                  (CUdeviceptr)(uintptr_t)(COPY)->srcHost); \
    }

/* ---- on the device ------------------------------------------------------------------------------ */

#define COPY(SYMBOL) \
    SHOWN(SYMBOL, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes), \
          name_both(dst, src))
#define COPY_ASYNC(SYMBOL) \
    SHOWN(SYMBOL, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), \
          (dst, src, bytes, stream), name_both(dst, src))
#define PEER(SYMBOL) \
    SHOWN(SYMBOL, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes), \
          (dst, to, src, from, bytes), name_both(dst, src))
#define PEER_ASYNC(SYMBOL) \
    SHOWN(SYMBOL, \
          (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes, \
           CUstream stream), \
          (dst, to, src, from, bytes, stream), name_both(dst, src))
COPY(cuMemcpyDtoD_v2)
COPY(cuMemcpyDtoD_v2_ptds)
COPY_ASYNC(cuMemcpyDtoDAsync_v2)
COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz)
PEER(cuMemcpyPeer)
PEER(cuMemcpyPeer_ptds)
PEER_ASYNC(cuMemcpyPeerAsync)
PEER_ASYNC(cuMemcpyPeerAsync_ptsz)

/* ---- rows and boxes ----------------------------------------------------------------------------- */

#define BOX(SYMBOL, TYPE) SHOWN(SYMBOL, (const TYPE *copy), (copy), NAME_SIDES(copy))
#define BOX_ASYNC(SYMBOL, TYPE) \
    SHOWN(SYMBOL, (const TYPE *copy, CUstream stream), (copy, stream), NAME_SIDES(copy))
BOX(cuMemcpy2D_v2, CUDA_MEMCPY2D)
BOX(cuMemcpy2D_v2_ptds, CUDA_MEMCPY2D)
BOX(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D)
BOX(cuMemcpy2DUnaligned_v2_ptds, CUDA_MEMCPY2D)
BOX_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D)
BOX_ASYNC(cuMemcpy2DAsync_v2_ptsz, CUDA_MEMCPY2D)
BOX(cuMemcpy3D_v2, CUDA_MEMCPY3D)
BOX(cuMemcpy3D_v2_ptds, CUDA_MEMCPY3D)
BOX_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D)
BOX_ASYNC(cuMemcpy3DAsync_v2_ptsz, CUDA_MEMCPY3D)
BOX(cuMemcpy3DPeer, CUDA_MEMCPY3D_PEER)
BOX(cuMemcpy3DPeer_ptds, CUDA_MEMCPY3D_PEER)
BOX_ASYNC(cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER)
BOX_ASYNC(cuMemcpy3DPeerAsync_ptsz, CUDA_MEMCPY3D_PEER)

#define SET_ROWS(SYMBOL, TYPE) \
    SHOWN(SYMBOL, (CUdeviceptr address, size_t pitch, TYPE value, size_t width, size_t height), \
          (address, pitch, value, width, height), gmt_cache_named(address))
#define SET_ROWS_ASYNC(SYMBOL, TYPE) \
    SHOWN(SYMBOL, \
          (CUdeviceptr address, size_t pitch, TYPE value, size_t width, size_t height, \
           CUstream stream), \
          (address, pitch, value, width, height, stream), gmt_cache_named(address))
SET_ROWS(cuMemsetD2D8_v2, unsigned char)
SET_ROWS(cuMemsetD2D8_v2_ptds, unsigned char)
SET_ROWS(cuMemsetD2D16_v2, unsigned short)
SET_ROWS(cuMemsetD2D16_v2_ptds, unsigned short)
SET_ROWS(cuMemsetD2D32_v2, unsigned)
SET_ROWS(cuMemsetD2D32_v2_ptds, unsigned)
SET_ROWS_ASYNC(cuMemsetD2D8Async, unsigned char)
SET_ROWS_ASYNC(cuMemsetD2D8Async_ptsz, unsigned char)
SET_ROWS_ASYNC(cuMemsetD2D16Async, unsigned short)
SET_ROWS_ASYNC(cuMemsetD2D16Async_ptsz, unsigned short)
SET_ROWS_ASYNC(cuMemsetD2D32Async, unsigned)
SET_ROWS_ASYNC(cuMemsetD2D32Async_ptsz, unsigned)

/* ---- the list ----------------------------------------------------------------------------------- */

#define REPLACED(SYMBOL) \
    { \
        GMT_HOOK_##SYMBOL, (void *)show_##SYMBOL, &real_##SYMBOL \
    }
static const struct {
    enum gmt_hook_id id;
    void *function, **real;
} shown[] = {
    REPLACED(cuMemGetInfo_v2),
    REPLACED(cuMemGetAddressRange_v2),
    REPLACED(cuMemHostGetDevicePointer_v2),
    REPLACED(cuMemHostGetFlags),
    REPLACED(cuPointerGetAttribute),
    REPLACED(cuPointerGetAttributes),
    REPLACED(cuPointerSetAttribute),
    REPLACED(cuIpcGetMemHandle),
    REPLACED(cuMemGetHandleForAddressRange),
    REPLACED(cuMemHostRegister),
    REPLACED(cuMemHostRegister_v2),
    REPLACED(cuMemHostUnregister),
    REPLACED(cuMemFreeAsync),
    REPLACED(cuMemFreeAsync_ptsz),
    REPLACED(cuMemsetD8_v2),
    REPLACED(cuMemsetD8_v2_ptds),
    REPLACED(cuMemsetD16_v2),
    REPLACED(cuMemsetD16_v2_ptds),
    REPLACED(cuMemsetD32_v2),
    REPLACED(cuMemsetD32_v2_ptds),
    REPLACED(cuMemsetD8Async),
    REPLACED(cuMemsetD8Async_ptsz),
    REPLACED(cuMemsetD16Async),
    REPLACED(cuMemsetD16Async_ptsz),
    REPLACED(cuMemsetD32Async),
    REPLACED(cuMemsetD32Async_ptsz),
    REPLACED(cuMemcpyDtoD_v2),
    REPLACED(cuMemcpyDtoD_v2_ptds),
    REPLACED(cuMemcpyDtoDAsync_v2),
    REPLACED(cuMemcpyDtoDAsync_v2_ptsz),
    REPLACED(cuMemcpyPeer),
    REPLACED(cuMemcpyPeer_ptds),
    REPLACED(cuMemcpyPeerAsync),
    REPLACED(cuMemcpyPeerAsync_ptsz),
    REPLACED(cuMemcpy2D_v2),
    REPLACED(cuMemcpy2D_v2_ptds),
    REPLACED(cuMemcpy2DUnaligned_v2),
    REPLACED(cuMemcpy2DUnaligned_v2_ptds),
    REPLACED(cuMemcpy2DAsync_v2),
    REPLACED(cuMemcpy2DAsync_v2_ptsz),
    REPLACED(cuMemcpy3D_v2),
    REPLACED(cuMemcpy3D_v2_ptds),
    REPLACED(cuMemcpy3DAsync_v2),
    REPLACED(cuMemcpy3DAsync_v2_ptsz),
    REPLACED(cuMemcpy3DPeer),
    REPLACED(cuMemcpy3DPeer_ptds),
    REPLACED(cuMemcpy3DPeerAsync),
    REPLACED(cuMemcpy3DPeerAsync_ptsz),
    REPLACED(cuMemsetD2D8_v2),
    REPLACED(cuMemsetD2D8_v2_ptds),
    REPLACED(cuMemsetD2D16_v2),
    REPLACED(cuMemsetD2D16_v2_ptds),
    REPLACED(cuMemsetD2D32_v2),
    REPLACED(cuMemsetD2D32_v2_ptds),
    REPLACED(cuMemsetD2D8Async),
    REPLACED(cuMemsetD2D8Async_ptsz),
    REPLACED(cuMemsetD2D16Async),
    REPLACED(cuMemsetD2D16Async_ptsz),
    REPLACED(cuMemsetD2D32Async),
    REPLACED(cuMemsetD2D32Async_ptsz),
};

void gmt_apply_install_shown(void)
{
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        gmt_apply_replace(shown[i].id, shown[i].function, shown[i].real);
    }
}
