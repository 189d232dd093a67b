/* SPDX-License-Identifier: Apache-2.0 */
/* Copies on the device, copies of rows and boxes, and sets of rows: kept memory that one of them names is given back before it (cache.h). */
#include <cuda.h>
#include <stdint.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/state.h"

/* The function, which does BEFORE, and makes the real call. */
#define NAMES(SYMBOL, PARAMETERS, ARGUMENTS, BEFORE) \
    static void *real_##SYMBOL; \
    static CUresult name_##SYMBOL PARAMETERS \
    { \
        BEFORE; \
        return ((CUresult(*) PARAMETERS)real_##SYMBOL)ARGUMENTS; \
    }

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
    NAMES(SYMBOL, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes), \
          name_both(dst, src))
#define COPY_ASYNC(SYMBOL) \
    NAMES(SYMBOL, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), \
          (dst, src, bytes, stream), name_both(dst, src))
#define PEER(SYMBOL) \
    NAMES(SYMBOL, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes), \
          (dst, to, src, from, bytes), name_both(dst, src))
#define PEER_ASYNC(SYMBOL) \
    NAMES(SYMBOL, \
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

#define BOX(SYMBOL, TYPE) NAMES(SYMBOL, (const TYPE *copy), (copy), NAME_SIDES(copy))
#define BOX_ASYNC(SYMBOL, TYPE) \
    NAMES(SYMBOL, (const TYPE *copy, CUstream stream), (copy, stream), NAME_SIDES(copy))
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

#define SET(SYMBOL, TYPE) \
    NAMES(SYMBOL, (CUdeviceptr address, size_t pitch, TYPE value, size_t width, size_t height), \
          (address, pitch, value, width, height), gmt_cache_named(address))
#define SET_ASYNC(SYMBOL, TYPE) \
    NAMES(SYMBOL, \
          (CUdeviceptr address, size_t pitch, TYPE value, size_t width, size_t height, \
           CUstream stream), \
          (address, pitch, value, width, height, stream), gmt_cache_named(address))
SET(cuMemsetD2D8_v2, unsigned char)
SET(cuMemsetD2D8_v2_ptds, unsigned char)
SET(cuMemsetD2D16_v2, unsigned short)
SET(cuMemsetD2D16_v2_ptds, unsigned short)
SET(cuMemsetD2D32_v2, unsigned)
SET(cuMemsetD2D32_v2_ptds, unsigned)
SET_ASYNC(cuMemsetD2D8Async, unsigned char)
SET_ASYNC(cuMemsetD2D8Async_ptsz, unsigned char)
SET_ASYNC(cuMemsetD2D16Async, unsigned short)
SET_ASYNC(cuMemsetD2D16Async_ptsz, unsigned short)
SET_ASYNC(cuMemsetD2D32Async, unsigned)
SET_ASYNC(cuMemsetD2D32Async_ptsz, unsigned)

/* ---- the list ----------------------------------------------------------------------------------- */

#define REPLACED(SYMBOL) \
    { \
        GMT_HOOK_##SYMBOL, (void *)name_##SYMBOL, &real_##SYMBOL \
    }
static const struct {
    enum gmt_hook_id id;
    void *function, **real;
} names[] = {
    REPLACED(cuMemcpyDtoD_v2),        REPLACED(cuMemcpyDtoD_v2_ptds),
    REPLACED(cuMemcpyDtoDAsync_v2),   REPLACED(cuMemcpyDtoDAsync_v2_ptsz),
    REPLACED(cuMemcpyPeer),           REPLACED(cuMemcpyPeer_ptds),
    REPLACED(cuMemcpyPeerAsync),      REPLACED(cuMemcpyPeerAsync_ptsz),
    REPLACED(cuMemcpy2D_v2),          REPLACED(cuMemcpy2D_v2_ptds),
    REPLACED(cuMemcpy2DUnaligned_v2), REPLACED(cuMemcpy2DUnaligned_v2_ptds),
    REPLACED(cuMemcpy2DAsync_v2),     REPLACED(cuMemcpy2DAsync_v2_ptsz),
    REPLACED(cuMemcpy3D_v2),          REPLACED(cuMemcpy3D_v2_ptds),
    REPLACED(cuMemcpy3DAsync_v2),     REPLACED(cuMemcpy3DAsync_v2_ptsz),
    REPLACED(cuMemcpy3DPeer),         REPLACED(cuMemcpy3DPeer_ptds),
    REPLACED(cuMemcpy3DPeerAsync),    REPLACED(cuMemcpy3DPeerAsync_ptsz),
    REPLACED(cuMemsetD2D8_v2),        REPLACED(cuMemsetD2D8_v2_ptds),
    REPLACED(cuMemsetD2D16_v2),       REPLACED(cuMemsetD2D16_v2_ptds),
    REPLACED(cuMemsetD2D32_v2),       REPLACED(cuMemsetD2D32_v2_ptds),
    REPLACED(cuMemsetD2D8Async),      REPLACED(cuMemsetD2D8Async_ptsz),
    REPLACED(cuMemsetD2D16Async),     REPLACED(cuMemsetD2D16Async_ptsz),
    REPLACED(cuMemsetD2D32Async),     REPLACED(cuMemsetD2D32Async_ptsz),
};

void gmt_apply_install_shown_copies(void)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        gmt_apply_replace(names[i].id, names[i].function, names[i].real);
    }
}
