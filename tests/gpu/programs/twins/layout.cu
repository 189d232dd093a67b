/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that start where accesses of warps are split: layout packed|carved --bad|--good
 *
 * packed: a matrix with rows of 1001 words that follow each other, and one with pitch.
 * carved: two arrays in one allocation, one word behind its start, and rounded up to 256 bytes.
 */

#include "twin.cuh"

enum { WIDTH = 1001, BLOCK = 256 };
static const size_t ALIGNMENT = 256;

__global__ void k_rows(float *out, const float *in, size_t pitch, size_t height)
{
    const size_t x = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x, y = blockIdx.y;

    if (x < WIDTH && y < height)
        out[y * (pitch / sizeof(float)) + x] = in[y * (pitch / sizeof(float)) + x] * 0.5f + 32.0f;
}

__global__ void k_scale(float *out, const float *in, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * 0.5f + 32.0f;
}

/* Rows to and fro, so that each step works on the one before. */
static void scale_rows(twin_run *run, bool pitched)
{
    const size_t row = WIDTH * sizeof(float), height = run->bytes / row;
    const dim3 grid(twin_grid(WIDTH, BLOCK), static_cast<unsigned>(height));
    float *host, *matrix[2];
    size_t pitch = row;

    CHECK(cudaMallocHost(&host, height * row));
    twin_fill(host, height * WIDTH, 10);
    for (float *&one : matrix) {
        if (pitched)
            CHECK(cudaMallocPitch(&one, &pitch, row, height));
        else
            CHECK(cudaMalloc(&one, height * row));
    }
    CHECK(cudaMemcpy2D(matrix[0], pitch, host, row, row, height, cudaMemcpyHostToDevice));
    twin_start(run);
    for (int step = 0; step < run->steps; step++)
        k_rows<<<grid, BLOCK>>>(matrix[1 - step % 2], matrix[step % 2], pitch, height); // GM203
    twin_stop(run);
    CHECK(cudaMemcpy2D(host, row, matrix[run->steps % 2], pitch, row, height,
                       cudaMemcpyDeviceToHost));
    twin_sum_host(run, host, height * WIDTH);
    for (float *one : matrix)
        CHECK(cudaFree(one));
    CHECK(cudaFreeHost(host));
}

static void scale_pieces(twin_run *run, bool aligned)
{
    const size_t space = (run->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t first = aligned ? ALIGNMENT : sizeof(float);
    const size_t second = aligned ? first + space : first + run->bytes;
    float *host, *piece[2];
    char *arena;

    CHECK(cudaMallocHost(&host, run->bytes));
    twin_fill(host, run->words, 11);
    CHECK(cudaMalloc(&arena, ALIGNMENT + 2 * space));
    piece[0] = reinterpret_cast<float *>(arena + first);
    piece[1] = reinterpret_cast<float *>(arena + second);
    CHECK(cudaMemcpy(piece[0], host, run->bytes, cudaMemcpyHostToDevice));
    twin_start(run);
    for (int step = 0; step < run->steps; step++)
        k_scale<<<twin_grid(run->words, BLOCK), BLOCK>>>(piece[1 - step % 2], piece[step % 2],
                                                         run->words); // GM202
    twin_stop(run);
    CHECK(cudaMemcpy(host, piece[run->steps % 2], run->bytes, cudaMemcpyDeviceToHost));
    twin_sum_host(run, host, run->words);
    CHECK(cudaFree(arena));
    CHECK(cudaFreeHost(host));
}

static void packed_bad(twin_run *run)
{
    scale_rows(run, false);
}

static void packed_good(twin_run *run)
{
    scale_rows(run, true);
}

static void carved_bad(twin_run *run)
{
    scale_pieces(run, false);
}

static void carved_good(twin_run *run)
{
    scale_pieces(run, true);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {{"packed", packed_bad, packed_good, 60, 204800, 1},
                                    {"carved", carved_bad, carved_good, 60, 65536, 1}};

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
