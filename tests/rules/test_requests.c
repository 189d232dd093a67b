/* SPDX-License-Identifier: Apache-2.0 */
/* What is advised of a call that no line of the user's asked for. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

enum { MOST_FRAMES = 8 };

struct frame {
    const char *module, *function, *file; /* NULL: none */
    int line, runtime;
};

#define SOLVER \
    { \
        "/venv/site-packages/nvidia/libcusolver.so.12", "cusolverDnXsyevd", NULL, 0, 0 \
    }
#define CUBLAS \
    { \
        "/venv/site-packages/nvidia/libcublas.so.13", "cublasCreate_v2", NULL, 0, 0 \
    }
#define TORCH(function) \
    { \
        "/venv/site-packages/torch/lib/libtorch_cuda.so", function, NULL, 0, 0 \
    }
#define XLA \
    { \
        "/venv/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so", NULL, NULL, 0, 0 \
    }
#define BINDING \
    { \
        "/venv/site-packages/driver/_driver.so", NULL, NULL, 0, 0 \
    }
#define PYTHON \
    { \
        "/usr/bin/python3", NULL, NULL, 0, 2 \
    }
#define PACKAGE \
    { \
        NULL, "Cholesky.forward", "/venv/site-packages/linear/cholesky.py", 57, 0 \
    }
#define OF_TORCH \
    { \
        NULL, "_str", "/venv/site-packages/torch/_tensor_str.py", 12, 0 \
    }
#define OWN \
    { \
        NULL, "train", "/home/me/train.py", 31, 0 \
    }
#define MAIN \
    { \
        "/opt/app", "main", "/src/main.cu", 31, 0 \
    }
#define LIBC \
    { \
        "/lib/x86_64-linux-gnu/libc.so.6", NULL, NULL, 0, 0 \
    }

/* Every copy and allocation of the fixture is made by this stack; below it is the driver's frame. */
static void set_stack(struct gmt_fixture *fixture, const struct frame *frames)
{
    char sql[2048];

    gmt_fixture_sql(fixture,
                    "INSERT INTO stack VALUES (80, 9); INSERT INTO stack_frame VALUES "
                    "(80, 0, 1); UPDATE transfer SET stack_id = 80; UPDATE allocation SET stack_id "
                    "= 80 WHERE stack_id IS NOT NULL; UPDATE host_allocation SET stack_id = 80");
    for (int i = 0; i < MOST_FRAMES && (frames[i].module != NULL || frames[i].file != NULL); i++) {
        const char *module = frames[i].module != NULL ? frames[i].module : "";
        const char *function = frames[i].function != NULL ? frames[i].function : "";
        const char *file = frames[i].file != NULL ? frames[i].file : "";
        int id = 800 + i;

        snprintf(sql, sizeof(sql),
                 "INSERT OR IGNORE INTO string (text) SELECT '%s' WHERE '%s' <> ''; "
                 "INSERT OR IGNORE INTO string (text) SELECT '%s' WHERE '%s' <> ''; "
                 "INSERT INTO module (id, path, load_bias, start_address, end_address) SELECT %d, "
                 "'%s', 0, %d, %d WHERE '%s' <> ''; "
                 "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line, "
                 "runtime) VALUES (%d, %d, (SELECT id FROM module WHERE id = %d), 100, "
                 "(SELECT id FROM string WHERE text = '%s'), "
                 "(SELECT id FROM string WHERE text = '%s'), nullif(%d, 0), %d); "
                 "INSERT INTO stack_frame VALUES (80, %d, %d)",
                 function, function, file, file, id, module, id * 100000, (id + 1) * 100000, module,
                 id, id * 100000 + 100, id, function, file, frames[i].line, frames[i].runtime,
                 i + 1, id);
        gmt_fixture_sql(fixture, sql);
    }
}

static const struct {
    const char *rule;
    struct frame frames[MOST_FRAMES];
    bool note;
    const char *words, *sketch; /* of the fix, or of the note's reason; NULL: anything */
} cases[] = {
    /* Read by an operation itself, whether a library does it below or PyTorch. */
    {"GM109",
     {SOLVER, TORCH("torch::autograd::THPVariable_linalg_eigh(_object*)"), PYTHON, OWN},
     false,
     "Call linalg_eigh once",
     ""},
    {"GM109",
     {TORCH("at::native::item(at::Tensor const&)"),
      TORCH("torch::autograd::THPVariable_linalg_eigh(_object*)"), PYTHON, OWN},
     false,
     "Call linalg_eigh once",
     ""},
    /* Read because the program wants the value. */
    {"GM109",
     {TORCH("torch::autograd::THPVariable_item(_object*)"), PYTHON, OWN},
     false,
     "Sum on the device",
     "total.item()"},
    {"GM109",
     {TORCH("torch::autograd::THPVariable_float_scalar(_object*)"), PYTHON, OWN},
     false,
     "Sum on the device",
     NULL},
    {"GM109",
     {TORCH("torch::autograd::THPVariable_masked_select(_object*)"), PYTHON, OF_TORCH, OWN},
     false,
     "print of a tensor",
     NULL},
    {"GM109",
     {TORCH("torch::autograd::THPVariable_is_nonzero(_object*)"), PYTHON, PACKAGE, OWN},
     false,
     "a setting of linear that leaves this out, or call it less often: the call is made by "
     "Cholesky.forward at cholesky.py:57",
     ""},
    {"GM109",
     {{"/usr/local/cuda/lib64/libcublas.so.13", "cublasSdot_v2", NULL, 0, 0}, MAIN},
     false,
     "Let cuBLAS write the scalar to device memory",
     "CUBLAS_POINTER_MODE_DEVICE"},
    {"GM109",
     {{"/usr/local/cuda/lib64/libcusolver.so.12", "cusolverDnXsyevd", NULL, 0, 0}, MAIN},
     true,
     "a call of a library: what it asks for",
     NULL},
    /* The whole stack is a library's; a stack that ends before the thread's start shows nothing. */
    {"GM109", {XLA, XLA, LIBC}, true, "a call of XLA, in a thread of its own", NULL},
    {"GM109", {XLA, XLA}, false, "Leave the value on the device", NULL},
    {"GM109", {XLA, PYTHON, OWN, LIBC}, false, "Leave the value on the device", NULL},
    {"GM207", {XLA, XLA, LIBC}, true, "a call of XLA, in a thread of its own", NULL},
    {"GM207", {XLA, {"/opt/app", NULL, NULL, 0, 0}, LIBC}, false, "once, before the loop", NULL},
    {"GM207",
     {TORCH("torch::autograd::THPVariable_pin_memory(_object*)"), PYTHON, OWN},
     false,
     "pin_memory=True",
     NULL},
    {"GM208",
     {TORCH("torch::autograd::THPVariable_empty(_object*)"), PYTHON, OWN},
     false,
     "Make the tensor without pin_memory=True",
     ""},
    {"GM208", {MAIN}, false, "malloc", "malloc("},
    {"GM115",
     {TORCH("c10d::ProcessGroupGloo::allreduce()"), LIBC},
     false,
     "Take a process group",
     "nccl"},
    {"GM115", {TORCH("at::native::copy_"), LIBC}, true, "a call of PyTorch, in a thread", NULL},
    {"GM115", {MAIN}, false, "in a kernel", "step<<<"},
    /* A handle's own memory, whoever made the handle. */
    {"GM205", {CUBLAS, TORCH("at::cuda::handle()"), PYTHON, OWN}, true, "a call of cuBLAS", NULL},
    {"GM205",
     {CUBLAS, TORCH("at::cuda::handle()"), PYTHON, PACKAGE, OWN},
     true,
     "a call of cuBLAS",
     NULL},
    {"GM205",
     {TORCH("torch::autograd::THPVariable_empty(_object*)"), PYTHON, OWN},
     false,
     "Leave out the tensor",
     ""},
    {"GM205", {BINDING, PYTHON, OWN}, false, "Leave out this allocation", ""},
    {"GM205", {MAIN}, false, "Remove the allocation", "cudaMalloc("},
};

Test(requests, are_answered_to_whom_they_concern)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        bool note = cases[i].note;

        gmt_fixture_load_positive(&fixture, cases[i].rule, "SELECT 1");
        set_stack(&fixture, cases[i].frames);
        gmt_fixture_analyze(&fixture, cases[i].rule);
        cr_assert_eq(fixture.report.finding_count, note ? 0 : 1, "%zu: %s", i,
                     gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.note_count, note ? 1 : 0, "%zu", i);

        const struct gmt_finding *f = note ? fixture.report.notes : fixture.report.findings;
        const char *said = note ? f->note_why : f->fix, *sketch = f->sketch;

        cr_expect_not_null(strstr(said, cases[i].words), "%zu: %s", i, said);
        if (cases[i].sketch != NULL && cases[i].sketch[0] == '\0') {
            cr_expect_null(sketch, "%zu: %s", i, sketch);
        } else if (cases[i].sketch != NULL) {
            cr_assert_not_null(sketch, "%zu", i);
            cr_expect_not_null(strstr(sketch, cases[i].sketch), "%zu: %s", i, sketch);
        }
        gmt_fixture_free(&fixture);
    }
}

/* A handle that is made in a loop is the program's doing: its memory comes with each. */
Test(requests, for_handles_made_in_a_loop_are_the_programs)
{
    static const struct frame made[MOST_FRAMES] = {
        {"/usr/local/cuda/lib64/libcublas.so.13", "cublasCreate_v2", NULL, 0, 0}, MAIN};

    for (int handles = 3; handles <= 4; handles++) {
        struct gmt_fixture fixture;
        char sql[1024];

        snprintf(
            sql, sizeof(sql),
            "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
            "stack_id, begin_ns, end_ns, free_api_id, free_thread_id, free_begin_ns, "
            "free_end_ns) SELECT allocation.id + value, kind, address + value * (1 << 30), bytes, "
            "context_id, thread_id, api_id, stack_id, begin_ns + value * 1000000, end_ns + "
            "value * 1000000, free_api_id, free_thread_id, free_begin_ns + value * 1000000, "
            "free_end_ns + value * 1000000 FROM allocation, (SELECT 1 AS value UNION SELECT 2 "
            "UNION SELECT 3) WHERE allocation.id = 2 "
            "AND value < %d",
            handles);
        gmt_fixture_load_positive(&fixture, "GM205", sql);
        set_stack(&fixture, made);
        gmt_fixture_analyze(&fixture, "GM205");
        cr_assert_eq(fixture.report.finding_count, handles == 4 ? 1 : 0, "%s",
                     gmt_fixture_found(&fixture.report));
        if (handles == 4) {
            cr_expect_not_null(strstr(fixture.report.findings[0].fix, "one handle less"));
        }
        gmt_fixture_free(&fixture);
    }
}

/* All of a model's tensors at once: no loader and no constant. */
Test(requests, a_module_that_goes_to_the_device_is_no_batch)
{
    static const struct frame moved[MOST_FRAMES] = {
        TORCH("torch::autograd::THPVariable_to(_object*)"),
        PYTHON,
        {NULL, "Module._apply", "/venv/site-packages/torch/nn/modules/module.py", 934, 0},
        OWN};
    static const char *const rules[] = {"GM101", "GM103", "GM105"};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, rules[i], "SELECT 1");
        set_stack(&fixture, moved);
        const struct gmt_finding *f = gmt_fixture_only(&fixture, rules[i]);

        cr_expect_not_null(strstr(f->fix, "Make the model on the device"), "%s: %s", rules[i],
                           f->fix);
        gmt_fixture_free(&fixture);
    }
}

/* Nor is it a step that could be captured. */
Test(requests, the_kernels_of_a_module_that_is_converted_are_no_step)
{
    static const struct frame moved[MOST_FRAMES] = {
        TORCH("at::native::copy_kernel_cuda"),
        PYTHON,
        {NULL, "Module._apply", "/venv/site-packages/torch/nn/modules/module.py", 934, 0},
        OWN};
    static const char *const rules[] = {"GM506", "GM507", "GM512"};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, rules[i], "SELECT 1");
        set_stack(&fixture, moved);
        gmt_fixture_sql(&fixture, "UPDATE launch SET stack_id = 80");
        const struct gmt_finding *f = gmt_fixture_only(&fixture, rules[i]);

        cr_expect_not_null(strstr(f->fix, "in the type in which it is used"), "%s: %s", rules[i],
                           f->fix);
        gmt_fixture_free(&fixture);
    }
}
