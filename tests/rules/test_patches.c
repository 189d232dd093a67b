/* SPDX-License-Identifier: Apache-2.0 */
/* Fixes that are mechanical: which lines they change, and that nothing else is offered. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/findings/patches.h"
#include "tests/rules/fixture.h"

#define FILE_NAME "/home/u/app/src/k.cu"

static struct gmt_fixture fixture;

/* The finding of that rule in line `line` of a file with this text. */
static struct gmt_finding patched(const char *rule, int64_t line, const char *text,
                                  const char *kernel, const char *sketch)
{
    struct gmt_finding finding = {.rule = rule,
                                  .title = "",
                                  .sketch = sketch,
                                  .where = {.label = "", .kernel = kernel},
                                  .place = {.label = "", .file = FILE_NAME, .line = line}};
    char *sql;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    sql = sqlite3_mprintf(
        "INSERT INTO string (id, text) VALUES (900, %Q);"
        "INSERT INTO source_file (file_id, state, text) VALUES (900, 'embedded', %Q)",
        FILE_NAME, text);
    gmt_fixture_sql(&fixture, sql);
    sqlite3_free(sql);
    gmt_findings_patch(fixture.db, &fixture.arena, "/home/u/app", &finding, 1);
    return finding;
}

static void expect_after(const char *rule, int64_t line, const char *text, const char *kernel,
                         const char *sketch, int64_t changed, const char *after)
{
    struct gmt_finding finding = patched(rule, line, text, kernel, sketch);

    cr_assert_not_null(finding.edit.file, "no patch of: %s", text);
    cr_expect_eq(finding.edit.line, changed);
    if (after == NULL) {
        cr_expect_null(finding.edit.after);
    } else {
        cr_expect_str_eq(finding.edit.after, after);
    }
    gmt_fixture_free(&fixture);
}

static void expect_none(const char *rule, int64_t line, const char *text, const char *kernel,
                        const char *sketch)
{
    struct gmt_finding finding = patched(rule, line, text, kernel, sketch);

    cr_expect_null(finding.edit.file, "%s: %s", text, finding.patch);
    cr_expect_null(finding.patch);
    gmt_fixture_free(&fixture);
}

Test(patches, pad_the_tile_whose_columns_are_read)
{
    expect_after("GM401", 3, "    __shared__ float tile[32][32];\n\n    out[i] = tile[x][y];\n",
                 NULL, NULL, 1, "    __shared__ float tile[32][32 + 1];");
    expect_after("GM401", 3,
                 "__shared__ unsigned int a[8][N];\n__shared__ float b[4][4];\nv = a[x][y];\n",
                 NULL, NULL, 1, "__shared__ unsigned int a[8][N + 1];");
    /* The one nearest above, not that of another kernel. */
    expect_after("GM401", 3, "__shared__ float t[1][1];\n__shared__ float t[2][2];\nv = t[x][y];\n",
                 NULL, NULL, 2, "__shared__ float t[2][2 + 1];");
}

Test(patches, leave_tiles_that_they_do_not_understand)
{
    static const char *const texts[] = {
        "__shared__ float tile[32][32 + 1];\nv = tile[x][y];\n", /* padded already  */
        "__shared__ float tile[1024];\nv = tile[x];\n",          /* one dimension   */
        "__shared__ float4 tile[32][32];\nv = tile[x][y];\n",    /* wider accesses  */
        "__shared__ float tile[32][32], b[4];\nv = tile[x][y];\n",
        "extern __shared__ float tile[];\nv = tile[x];\n",
        "__shared__ float tile[32][32];\nv = tiles[x][y];\n", /* another's name */
        "float tile[32][32];\nv = tile[x][y];\n",
        "__shared__ float tile[32\nv = tile[x][y];\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_none("GM401", 2, texts[i], NULL, NULL);
    }
}

Test(patches, allow_a_kernel_its_registers)
{
    static const char sketch[] = "__global__ void __launch_bounds__(256) kernel(...)  // ...";
    static const char text[] =
        "__device__ int f(int);\n__global__ void work(float *p)\n{\n    p[0] = f(1);\n}\n";

    expect_after("GM306", 4, text, "work(float*)", sketch, 2,
                 "__global__ void __launch_bounds__(256) work(float *p)");
    expect_none("GM306", 4, text, "other(float*)", sketch);
    expect_none("GM306", 4, text, "work(float*)", "#pragma unroll");
    expect_none("GM306", 2, "__global__ void __launch_bounds__(128) work(float *p)\n{\n}\n",
                "work(float*)", sketch);
}

Test(patches, remove_a_copy_that_nothing_reads)
{
    expect_after("GM107", 2,
                 "    int n = 4;\n    cudaMemcpy(d, h, 4 * n, cudaMemcpyHostToDevice);\n", NULL,
                 NULL, 2, NULL);
    expect_after("GM107", 2,
                 "{\n    CHECK(cudaMemcpyAsync(d, h, f(n), cudaMemcpyHostToDevice, s));\n", NULL,
                 NULL, 2, NULL);
    static const char *const texts[] = {
        "if (n > 0)\n    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);\n",
        "{\n    err = cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);\n",
        "{\n    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); n = 0;\n",
        "{\n    cudaMemcpy(d, h, n,\n               cudaMemcpyHostToDevice);\n",
        "{\n    upload(d, h, n);\n",
        "    x = 1 +\n    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_none("GM107", 2, texts[i], NULL, NULL);
    }
}

Test(patches, are_unified_diffs_of_files_below_the_working_directory)
{
    struct gmt_finding finding = patched(
        "GM107", 4, "a;\nb;\nc;\ncudaMemcpy(d, h, n, k);\ne;\nf;\ng;\nh;\n", NULL, NULL);

    cr_expect_str_eq(finding.patch,
                     "--- a/src/k.cu\n+++ b/src/k.cu\n@@ -1,7 +1,6 @@\n a;\n b;\n c;\n"
                     "-cudaMemcpy(d, h, n, k);\n e;\n f;\n g;\n");
    gmt_fixture_free(&fixture);
}

/* Beyond the file, or in one that the trace does not carry. */
Test(patches, need_the_line_that_they_change)
{
    expect_none("GM107", 9, "{\n", NULL, NULL);
    expect_none("GM107", 0, "{\n", NULL, NULL);
}
