/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times vector, compressed rows: a thread per row, a warp per row, an ELL layout. */
#include "program.cuh"

#include <algorithm>

struct matrix {
    int rows, columns;
    std::vector<int> first, column;
    std::vector<float> value;
};

static matrix make_matrix(int rows, int columns)
{
    sim_random random(17);
    matrix m = {rows, columns, {0}, {}, {}};

    for (int row = 0; row < rows; row++) {
        unsigned entries = row % 7 == 3 ? 0 : row % 50 == 1 ? 150 : random.below(20);

        for (unsigned i = 0; i < entries; i++) {
            m.column.push_back((int)random.below(columns));
            m.value.push_back(random.small());
        }
        m.first.push_back((int)m.column.size());
    }
    return m;
}

static __global__ void by_thread(int rows, const int *first, const int *column, const float *value,
                                 const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= rows)
        return;
    for (int i = first[row]; i < first[row + 1]; i++)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

static __global__ void by_warp(int rows, const int *first, const int *column, const float *value,
                               const float *__restrict__ x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;

    if (row >= rows)
        return;
    for (int i = first[row] + lane; i < first[row + 1]; i += 32)
        sum += value[i] * __ldg(&x[column[i]]);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}

/* Columns of `width` entries, one per row, so that neighbouring threads read neighbouring words. */
static __global__ void padded(int rows, int width, const int *column, const float *value,
                              const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= rows)
        return;
    for (int i = 0; i < width && column[i * rows + row] >= 0; i++)
        sum += value[i * rows + row] * x[column[i * rows + row]];
    y[row] = sum;
}

void sim_program_spmv(sim_check &check)
{
    matrix m = make_matrix(1501, 1200);
    sim_random random(18);
    std::vector<float> vector(m.columns), wanted(m.rows);
    int width = 0;

    for (float &value : vector)
        value = random.small();
    for (int row = 0; row < m.rows; row++) { /* small integers: exact in any order */
        width = std::max(width, m.first[row + 1] - m.first[row]);
        for (int i = m.first[row]; i < m.first[row + 1]; i++)
            wanted[row] += m.value[i] * vector[m.column[i]];
    }
    std::vector<int> ell_column((size_t)width * m.rows, -1);
    std::vector<float> ell_value(ell_column.size());
    for (int row = 0; row < m.rows; row++)
        for (int i = m.first[row]; i < m.first[row + 1]; i++) {
            ell_column[(i - m.first[row]) * m.rows + row] = m.column[i];
            ell_value[(i - m.first[row]) * m.rows + row] = m.value[i];
        }

    sim_array<int> first(check, m.first), column(check, m.column), columns(check, ell_column);
    sim_array<float> value(check, m.value), x(check, vector), values(check, ell_value);
    sim_array<float> y(check, m.rows), z(check, m.rows), w(check, m.rows);
    by_thread<<<(m.rows + 95) / 96, 96>>>(m.rows, first.device, column.device, value.device,
                                          x.device, y.device);
    by_warp<<<(m.rows + 3) / 4, 128>>>(m.rows, first.device, column.device, value.device, x.device,
                                       z.device);
    padded<<<(m.rows + 63) / 64, 64>>>(m.rows, width, columns.device, values.device, x.device,
                                       w.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "by thread", y, wanted);
    sim_equal(check, "by warp", z, wanted);
    sim_equal(check, "padded", w, wanted);
}
