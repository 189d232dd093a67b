/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a kernel is, what is said of it where it is a library's, and the advice that fits the framework. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* Frames 81 (innermost) to 83: a function of `module`, one of Python's interpreter, and the user's line. */
#define STRINGS(function, file) \
    "INSERT INTO string SELECT 80, " function " WHERE " function \
    " IS NOT NULL; INSERT INTO string " \
    "VALUES (81, " file "), (82, 'train'); "
#define PYTHON(module, function) \
    STRINGS(function, "'/home/me/train.py'") \
    "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES " \
    "(80, '" module "', 0, 7000000, 8000000), (81, '/usr/bin/python3', 0, 8000000, 9000000); " \
    "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) " \
    "VALUES (81, 7000100, 80, 100, 80, NULL, NULL, 0), (82, 8000100, 81, 100, NULL, NULL, NULL, " \
    "2), (83, -1, NULL, NULL, 82, 81, 31, 0); " STACK
/* In a program without an interpreter: the user's line is in the program itself. */
#define NATIVE(module, function) \
    STRINGS(function, "'/src/main.cu'") \
    "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES " \
    "(80, '" module "', 0, 7000000, 8000000); " \
    "INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) " \
    "VALUES (81, 7000100, 80, 100, 80, NULL, NULL, 0), (82, 7000200, 80, 200, NULL, NULL, NULL, " \
    "0), (83, 12288, 1, 12288, 82, 81, 31, 0); " STACK
#define STACK \
    "INSERT INTO stack VALUES (80, 4); INSERT INTO stack_frame VALUES (80, 0, 1), (80, 1, 81), " \
    "(80, 2, 82), (80, 3, 83); UPDATE launch SET stack_id = 80; UPDATE transfer SET stack_id = " \
    "80;"
#define NAME(name) "UPDATE kernel SET name = '" name "', mangled = '" name "';"

#define CUBLAS "/usr/local/cuda/lib64/libcublasLt.so.13"
#define TORCH "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so"
#define JAX "/venv/lib/python3.12/site-packages/jaxlib/xla_extension.so"
#define CUPY "/venv/lib/python3.12/site-packages/cupy_backends/cuda/api/driver.so"

static const struct gmt_finding *only(struct gmt_fixture *fixture, const char *rule,
                                      const char *sql, bool note)
{
    gmt_fixture_load_positive(fixture, rule, sql);
    gmt_fixture_analyze(fixture, rule);
    cr_assert_eq(fixture->report.note_count, note ? 1 : 0, "%s",
                 gmt_fixture_found(&fixture->report));
    cr_assert_eq(fixture->report.finding_count, note ? 0 : 1, "%s",
                 gmt_fixture_found(&fixture->report));
    return note ? fixture->report.notes : fixture->report.findings;
}

/* Low occupancy in one kernel, whoever made it. NULL: the program did. */
static void expect_origin(const char *sql, const char *origin, const char *by)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM501", sql, origin != NULL);

    cr_expect_str_eq(f->where.origin != NULL ? f->where.origin : "user",
                     origin != NULL ? origin : "user", "%s", sql);
    cr_expect_str_eq(f->where.origin_by != NULL ? f->where.origin_by : "-", by != NULL ? by : "-");
    cr_expect_eq(f->framework, NULL);
    gmt_fixture_free(&fixture);
}

/* No rule speaks of NCCL's kernels; the table of kernels says whose they are. */
static void expect_communicating(const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM501", sql);
    gmt_fixture_analyze(&fixture, "GM501");
    cr_assert_eq(fixture.report.kernel_count, 1);
    cr_expect_str_eq(fixture.report.kernels[0].origin, "nccl");
    cr_expect_str_eq(fixture.report.kernels[0].origin_by, "module");
    gmt_fixture_free(&fixture);
}

/* The same numbers: in cuBLAS a note that says why, in the program a finding. */
Test(origins, occupancy_of_a_librarys_kernel_is_a_note)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM501",
                                       NATIVE(CUBLAS, "NULL") NAME("ampere_sgemm_128x64_nn"), true);

    cr_expect_str_eq(f->where.title, "gemm 128x64 f32 (cuBLAS)");
    cr_expect_str_eq(f->where.label, "main.cu:31");
    cr_expect_not_null(strstr(f->note_why, "a kernel of cuBLAS"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
    f = only(&fixture, "GM501", "SELECT 1", false);
    cr_expect_eq(f->where.origin, NULL);
    cr_expect_str_eq(f->where.title, "work");
    gmt_fixture_free(&fixture);
}

Test(origins, files_that_launch_say_whose_a_kernel_is)
{
    expect_origin(NATIVE(CUBLAS, "NULL"), "cublas", "module");
    expect_origin(NATIVE("/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9", "NULL"), "cudnn", "module");
    expect_origin(NATIVE("/usr/lib/x86_64-linux-gnu/libcufft.so.11", "NULL"), "library", "module");
    expect_origin(NATIVE("/usr/lib/x86_64-linux-gnu/libother.so.1", "NULL"), "library", "module");
    expect_origin(NATIVE("/usr/lib/x86_64-linux-gnu/libother.so.1", "NULL")
                      NAME("void cutlass::Kernel<cutlass::gemm::kernel::Gemm<int> >(int)"),
                  "cutlass", "module");
    expect_origin(NATIVE("/opt/me/libmine.so", "NULL"), NULL, NULL);
    expect_origin(PYTHON(TORCH, "'at::native::add'"), "pytorch", "module");
    expect_communicating(PYTHON(TORCH, "NULL") NAME("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
    expect_origin(PYTHON(TORCH, "NULL") NAME("triton_poi_fused_add_0"), "triton", "module");
    expect_origin(PYTHON(JAX, "NULL"), "xla", "module");
    expect_origin(PYTHON(CUPY, "NULL") NAME("cupy_add__float32_float32_float32"), "cupy", "module");
}

/* Code of the user's that a library only launches. */
Test(origins, kernels_that_the_user_wrote_in_python_are_his)
{
    expect_origin(PYTHON(CUPY, "NULL") NAME("my_raw_kernel"), NULL, NULL);
    expect_origin(PYTHON("/home/me/.triton/cache/K7/__triton_launcher.cpython-312.so", "NULL")
                      NAME("softmax_kernel"),
                  NULL, NULL);
    expect_origin(PYTHON("/home/me/.cache/torch_extensions/mine/mine.so", "NULL"), NULL, NULL);
}

/* Linked into the program: functions of the library's stand on the stack. */
Test(origins, a_library_that_is_linked_statically_is_known_by_its_functions)
{
    expect_origin(NATIVE("/opt/app2", "'cublasSgemm_v2'") NAME("void gemmSN_NN_kernel<float>()"),
                  "cublas", "function");
    /* Without symbols, by a name that only its generator makes. */
    expect_origin(NATIVE("/opt/app2", "NULL") NAME("sm80_xmma_gemm_f32f32_f32f32_f32_nn_kernel"),
                  "cublas", "name");
    expect_origin(NATIVE("/opt/app2", "NULL") NAME("maxwell_scudnn_128x128_relu_small_nn"), "cudnn",
                  "name");
    /* Kernels of the program's own beside it. */
    expect_origin(NATIVE("/opt/app2", "NULL") NAME("gemm_kernel"), NULL, NULL);
    expect_origin(NATIVE("/opt/app2", "'cublas_like(float*)'") NAME("gemm_kernel"), NULL, NULL);
    expect_origin(NATIVE("/opt/app2", "'cublasish'") NAME("gemm_kernel"), NULL, NULL);
}

/* Names alone mislead: they say nothing where the program's own lines launch. */
Test(origins, a_program_may_use_the_names_of_libraries)
{
    static const char *const names[] = {
        NAME("void at::native::scale_kernel<float>(float*)"),
        NAME("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4>(int)"),
        NAME("ampere_sgemm_128x64_nn"),
        NAME("void cub::DeviceScanKernel<int>(int*)"),
        NAME("triton_poi_fused_add_0"),
        NAME("cupy_add")};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        expect_origin(names[i], NULL, NULL);
    }
    /* Without lines, too, where anybody may have that name. */
    expect_origin(NATIVE("/opt/app2", "NULL") NAME("void at::native::scale_kernel<float>(float*)"),
                  NULL, NULL);
    expect_origin(NATIVE("/opt/app2", "NULL") NAME("void cudnn::mine<float>(float*)"), NULL, NULL);
}

/* Source lines of the kernel itself outweigh the file that launches it: a library that somebody works on. */
Test(origins, a_kernel_with_lines_of_the_users_is_his)
{
    expect_origin(
        PYTHON(TORCH, "NULL") "INSERT INTO instruction (source, launch_seq, class_id, site, "
                              "file_id, line, kind, executed, lanes) VALUES ('sass', 1, 1, 0, 2, "
                              "5, 'other', 1, 32)",
        NULL, NULL);
}

/* So do lines of the function that launches it: an extension of PyTorch that was installed where others are. */
Test(origins, a_package_with_lines_is_the_users)
{
#define EXTENSION PYTHON("/venv/lib/python3.12/site-packages/mine/ops.so", "'launch(float*)'")
    expect_origin(EXTENSION, "library", "module");
    expect_origin(EXTENSION "INSERT INTO string VALUES (89, '/home/me/mine/ops.cu'); "
                            "UPDATE frame SET file_id = 89, line = 7 WHERE id = 81",
                  NULL, NULL);
}

/* Some libraries are shipped with lines, of files that are on no machine of the user's. */
Test(origins, an_installed_library_with_lines_is_its_makers)
{
#define LINE(file) \
    "INSERT INTO string VALUES (89, '" file \
    "'); UPDATE frame SET file_id = 89, line = 7 WHERE id " \
    "= 81;"
#define NCCL_LIBRARY "/venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2"
    expect_origin(PYTHON(NCCL_LIBRARY, "'launch()'") LINE("/dvs/p4/src/enqueue.cc"), "nccl",
                  "module");
    expect_origin(PYTHON(CUPY, "'launch()'") LINE("cupy_backends/cuda/api/driver.cpp")
                      NAME("cupy_add__float32_float32_float32"),
                  "cupy", "module");
    expect_origin(PYTHON(TORCH, "'launch()'") LINE("/opt/pytorch/aten/src/Reduce.cu"), "pytorch",
                  "module");
    /* One that somebody builds lies elsewhere. */
    expect_origin(PYTHON("/home/me/pytorch/build/lib/libtorch_cuda.so", "'launch()'")
                      LINE("/home/me/pytorch/aten/src/Reduce.cu"),
                  NULL, NULL);
}

/* Without stacks a namespace counts where that library is in the process. */
Test(origins, without_stacks_names_decide_if_their_library_is_there)
{
#define NO_STACK "UPDATE launch SET stack_id = NULL, caller = 0;"
#define AT NAME("void at::native::reduce_kernel<512, 1, float>(float)")
    expect_origin(NO_STACK AT, NULL, NULL);
    expect_origin(NO_STACK AT
                  "INSERT INTO module (id, path, load_bias, start_address, end_address) "
                  "VALUES (80, '" TORCH "', 0, 7000000, 8000000)",
                  "pytorch", "name");
    expect_origin("UPDATE launch SET stack_id = NULL, caller = 7000100;"
                  "INSERT INTO module (id, path, load_bias, start_address, end_address) "
                  "VALUES (80, '" CUBLAS "', 0, 7000000, 8000000)",
                  "cublas", "module");
}

/* The accesses of PyTorch's element-wise kernels follow from the layout of the user's tensors. */
Test(origins, layout_is_what_the_user_can_change)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(
        &fixture, "GM301",
        PYTHON(TORCH, "NULL") NAME(
            "void at::native::elementwise_kernel<128, 2, at::native::MulFunctor<float> >(int)"),
        false);

    cr_expect_str_eq(f->framework, "pytorch");
    cr_expect_not_null(strstr(f->fix, "torch.channels_last"));
    cr_expect_str_eq(f->where.title, "elementwise<mul, f32>");
    cr_expect_str_eq(f->where.label, "train.py:31");
    gmt_fixture_free(&fixture);
    f = only(&fixture, "GM301", PYTHON(TORCH, "NULL") NAME("void at::native::x_kernel<int>(int)"),
             true);
    cr_expect_not_null(strstr(f->note_why, "a kernel of PyTorch"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
}

/* Element-wise operations of a framework can be fused if both are such. */
Test(origins, operations_that_follow_each_other_are_fused_in_the_frameworks_words)
{
#define NAMES(first, second) \
    "UPDATE kernel SET name = CASE id WHEN 1 THEN '" first "' ELSE '" second "' END;"
#define ELEMENTS(f) "void at::native::vectorized_elementwise_kernel<4, at::native::" f ">(int)"
    static const struct {
        const char *sql, *fix, *note;
    } cases[] = {
        {PYTHON(CUPY, "NULL") NAMES("cupy_add__float32", "cupy_sqrt__float32"), "cupy.fuse", NULL},
        {PYTHON(CUPY, "NULL") NAMES("void cub::DeviceScanKernel<int>(int*)", "cupy_sqrt__float32"),
         NULL, "Thrust or CUB"},
        {PYTHON(TORCH, "NULL") NAMES(ELEMENTS("Add"), ELEMENTS("Mul")), "torch.compile", NULL},
        {PYTHON(TORCH, "NULL") NAMES("ampere_sgemm_128x64_nn", ELEMENTS("Mul")), NULL, "cuBLAS"},
        {PYTHON(TORCH, "NULL") NAMES(ELEMENTS("Add"), "ampere_sgemm_128x64_nn"), NULL, "cuBLAS"},
        {"SELECT 1", "in one kernel", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        const struct gmt_finding *f = only(&fixture, "GM509", cases[i].sql, cases[i].note != NULL);

        if (cases[i].note != NULL) {
            cr_expect_not_null(strstr(f->note_why, cases[i].note), "%zu: %s", i, f->note_why);
        } else {
            cr_expect_not_null(strstr(f->fix, cases[i].fix), "%zu: %s", i, f->fix);
        }
        /* Called as in the table of kernels. */
        cr_expect_null(strstr(f->headline, "at::native"), "%zu: %s", i, f->headline);
        gmt_fixture_free(&fixture);
    }
}

/* An allocator that aligns what it hands out: whoever asked for a part of an array has it so. */
Test(origins, a_view_into_a_frameworks_memory_is_a_note)
{
#define ITS_MEMORY "UPDATE allocation SET stack_id = 80;"
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM202", PYTHON(TORCH, "NULL") ITS_MEMORY, true);

    cr_expect_not_null(strstr(f->note_why, "a framework's allocator"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
    /* Memory of the program's own, packed by it. */
    (void)only(&fixture, "GM202", PYTHON("/home/me/ops.so", "NULL") ITS_MEMORY, false);
    gmt_fixture_free(&fixture);
    (void)only(&fixture, "GM202", PYTHON(TORCH, "NULL"), false);
    gmt_fixture_free(&fixture);
}

/* Which kernel uses what a library asks for may not be known: it is the library's affair all the same. */
Test(origins, what_a_library_encodes_is_a_note)
{
#define ITS_CALLS "UPDATE api_call SET stack_id = 80;"
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM405", PYTHON(JAX, "NULL") ITS_CALLS, true);

    cr_expect_not_null(strstr(f->note_why, "a call of XLA"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
    (void)only(&fixture, "GM405", PYTHON("/home/me/ops.so", "NULL") ITS_CALLS, false);
    gmt_fixture_free(&fixture);
}

/* What the fix is in each framework; in the program itself as before. */
Test(origins, copies_of_pageable_memory_are_repaired_in_the_frameworks_words)
{
    static const struct {
        const char *rule, *sql, *word, *framework;
    } cases[] = {
        {"GM103", PYTHON(TORCH, "NULL"), "pin_memory=True", "pytorch"},
        {"GM101", PYTHON(JAX, "NULL"), "inside of the compiled function", "jax"},
        {"GM101", PYTHON(CUPY, "NULL"), "one array on the host", "cupy"},
        {"GM103", PYTHON(JAX, "NULL"), "jax.device_put", "jax"},
        {"GM103", PYTHON(CUPY, "NULL"), "cupyx.empty_pinned", "cupy"},
        {"GM103", "SELECT 1", "Page-lock the host buffer", NULL},
        /* Native code of the user's copies; PyTorch is further out. */
        {"GM103",
         PYTHON(TORCH, "NULL") "INSERT INTO string VALUES (89, '/src/op.cu'); UPDATE module SET "
                               "path = '/home/me/op.so' WHERE id = 80; UPDATE frame SET file_id = "
                               "89, line = 7 WHERE id = 81",
         "Page-lock the host buffer", NULL},
        {"GM102", PYTHON(TORCH, "NULL"), "non_blocking=True", "pytorch"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        const struct gmt_finding *f = only(&fixture, cases[i].rule, cases[i].sql, false);

        cr_expect_not_null(strstr(f->fix, cases[i].word), "%zu: %s", i, f->fix);
        cr_expect_str_eq(f->framework != NULL ? f->framework : "-",
                         cases[i].framework != NULL ? cases[i].framework : "-");
        gmt_fixture_free(&fixture);
    }
}

/* A kernel of PyTorch cannot be given memory of the host, whatever the rule would save. */
Test(origins, what_a_framework_cannot_do_is_a_note)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = only(&fixture, "GM111", PYTHON(TORCH, "NULL"), true);

    cr_expect_not_null(strstr(f->note_why, "operations of PyTorch"), "%s", f->note_why);
    gmt_fixture_free(&fixture);
}

#define SOURCE(text) \
    "INSERT INTO source_file (file_id, state, bytes, text) VALUES (81, 'embedded', 1, '" text "')" \
    ";"

/* The line where the loader is made is named, if the trace has the text of the file. */
Test(origins, the_data_loader_is_named_by_its_line)
{
    static const struct {
        const char *source, *word;
    } cases[] = {
        {SOURCE(
             "import torch\n\nloader = DataLoader(dataset, batch_size=64,\n    num_workers=8)\n"),
         "Give the DataLoader at train.py:3 pin_memory=True"},
        {SOURCE("loader = DataLoader(dataset,\n    pin_memory=True)\n"),
         "it has pin_memory=True (train.py:1)"},
        {SOURCE("a = DataLoader(x, pin_memory=True)\nb = DataLoader(y)  # pin_memory=True\n"),
         "Give the DataLoader at train.py:2"},
        {SOURCE("from torch.utils.data import DataLoader\n# DataLoader(x)\nclass "
                "MyDataLoader(object): pass\n"),
         "tensor.pin_memory()"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char sql[4096];

        (void)snprintf(sql, sizeof(sql), "%s%s", PYTHON(TORCH, "NULL"), cases[i].source);
        const struct gmt_finding *f = only(&fixture, "GM103", sql, false);
        cr_expect_not_null(strstr(f->fix, cases[i].word), "%zu: %s", i, f->fix);
        cr_expect_str_eq(f->where.label, "train.py:31");
        gmt_fixture_free(&fixture);
    }
}
