/* SPDX-License-Identifier: Apache-2.0 */
/* Who made a kernel, and which framework a call comes from: the one table of libraries and frameworks. */
#include "analyzer/findings/makers.h"

#include <ctype.h>
#include <string.h>

#include "analyzer/findings/where.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/prefix.h"

enum mark_kind {
    MARK_FILE,     /* a file of code that is called so, up to a suffix */
    MARK_FOLDER,   /* in a path */
    MARK_FUNCTION, /* a C function: the rest of its name goes on with a capital */
    MARK_SCOPE,    /* the namespace that a kernel's name begins with */
};

/* The first row that fits counts. */
static const struct {
    const char *mark;
    enum mark_kind kind;
    enum gmt_origin origin;       /* of what it launches; USER: that says nothing */
    enum gmt_framework framework; /* that it is a part of */
} marks[] = {
    {"libcublas", MARK_FILE, GMT_ORIGIN_CUBLAS, GMT_FRAMEWORK_NONE},
    {"libcudnn", MARK_FILE, GMT_ORIGIN_CUDNN, GMT_FRAMEWORK_NONE},
    {"libnccl", MARK_FILE, GMT_ORIGIN_NCCL, GMT_FRAMEWORK_NONE},
    {"libcufft", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libcurand", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libcusolver", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libcusparse", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libcutensor", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libnpp", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libnvinfer", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"libnvjpeg", MARK_FILE, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"__triton_launcher", MARK_FILE, GMT_ORIGIN_TRITON, GMT_FRAMEWORK_NONE},
    {"libtorch", MARK_FILE, GMT_ORIGIN_PYTORCH, GMT_FRAMEWORK_PYTORCH},
    {"libc10", MARK_FILE, GMT_ORIGIN_PYTORCH, GMT_FRAMEWORK_PYTORCH},
    {"-packages/torch/", MARK_FOLDER, GMT_ORIGIN_PYTORCH, GMT_FRAMEWORK_PYTORCH},
    {"/torchinductor_", MARK_FOLDER, GMT_ORIGIN_USER, GMT_FRAMEWORK_PYTORCH},
    {"/jaxlib/", MARK_FOLDER, GMT_ORIGIN_XLA, GMT_FRAMEWORK_JAX},
    {"/jax_plugins/", MARK_FOLDER, GMT_ORIGIN_XLA, GMT_FRAMEWORK_JAX},
    {"xla_", MARK_FILE, GMT_ORIGIN_XLA, GMT_FRAMEWORK_JAX},
    {"-packages/jax/", MARK_FOLDER, GMT_ORIGIN_USER, GMT_FRAMEWORK_JAX},
    {"-packages/cupy", MARK_FOLDER, GMT_ORIGIN_CUPY, GMT_FRAMEWORK_CUPY},
    {"cublas", MARK_FUNCTION, GMT_ORIGIN_CUBLAS, GMT_FRAMEWORK_NONE},
    {"cudnn", MARK_FUNCTION, GMT_ORIGIN_CUDNN, GMT_FRAMEWORK_NONE},
    {"nccl", MARK_FUNCTION, GMT_ORIGIN_NCCL, GMT_FRAMEWORK_NONE},
    {"cufft", MARK_FUNCTION, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"curand", MARK_FUNCTION, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"cusolver", MARK_FUNCTION, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"cusparse", MARK_FUNCTION, GMT_ORIGIN_OTHER, GMT_FRAMEWORK_NONE},
    {"at::native::", MARK_SCOPE, GMT_ORIGIN_PYTORCH, GMT_FRAMEWORK_NONE},
    {"pytorch_flash::", MARK_SCOPE, GMT_ORIGIN_PYTORCH, GMT_FRAMEWORK_NONE},
    {"cudnn::", MARK_SCOPE, GMT_ORIGIN_CUDNN, GMT_FRAMEWORK_NONE},
    {"cublasLt::", MARK_SCOPE, GMT_ORIGIN_CUBLAS, GMT_FRAMEWORK_NONE},
    {"cupy_", MARK_SCOPE, GMT_ORIGIN_CUPY, GMT_FRAMEWORK_NONE},
};

enum { MARKS = sizeof(marks) / sizeof(marks[0]) };

static const struct {
    const char *name, *label;
} origins[GMT_ORIGINS] = {
    [GMT_ORIGIN_USER] = {"user", "the program"},
    [GMT_ORIGIN_PYTORCH] = {"pytorch", "PyTorch"},
    [GMT_ORIGIN_CUBLAS] = {"cublas", "cuBLAS"},
    [GMT_ORIGIN_CUDNN] = {"cudnn", "cuDNN"},
    [GMT_ORIGIN_CUTLASS] = {"cutlass", "a library that uses CUTLASS"},
    [GMT_ORIGIN_NCCL] = {"nccl", "NCCL"},
    [GMT_ORIGIN_XLA] = {"xla", "XLA"},
    [GMT_ORIGIN_TRITON] = {"triton", "torch.compile"},
    [GMT_ORIGIN_CUPY] = {"cupy", "CuPy"},
    [GMT_ORIGIN_THRUST] = {"thrust_cub", "a library that uses Thrust or CUB"},
    [GMT_ORIGIN_OTHER] = {"library", "a library"},
};

const char *gmt_origin_name(enum gmt_origin origin)
{
    return origins[origin].name;
}

const char *gmt_origin_label(enum gmt_origin origin)
{
    return origins[origin].label;
}

const char *gmt_origin_label_of(const char *name)
{
    for (size_t i = 0; i < GMT_ORIGINS; i++) {
        if (strcmp(origins[i].name, name) == 0) {
            return origins[i].label;
        }
    }
    return origins[GMT_ORIGIN_OTHER].label;
}

const char *gmt_origin_by_name(enum gmt_origin_by by)
{
    static const char *const names[] = {[GMT_BY_LINES] = "lines",
                                        [GMT_BY_MODULE] = "module",
                                        [GMT_BY_FUNCTION] = "function",
                                        [GMT_BY_NAME] = "name",
                                        [GMT_BY_NOTHING] = "default"};

    return names[by];
}

static bool fits_path(size_t row, const char *path)
{
    return path != NULL &&
           ((marks[row].kind == MARK_FILE &&
             gmt_starts_with(gmt_base_name(path), marks[row].mark)) ||
            (marks[row].kind == MARK_FOLDER && strstr(path, marks[row].mark) != NULL));
}

enum gmt_origin gmt_origin_of_module(const char *path)
{
    for (size_t i = 0; i < MARKS; i++) {
        if (marks[i].origin != GMT_ORIGIN_USER && fits_path(i, path)) {
            return marks[i].origin;
        }
    }
    return GMT_ORIGIN_USER;
}

/* "cublasSgemm_v2": a name of C, as demangled ones have brackets. */
static enum gmt_origin origin_of_function(const char *function)
{
    for (size_t i = 0; function != NULL && i < MARKS; i++) {
        size_t length = strlen(marks[i].mark);

        if (marks[i].kind == MARK_FUNCTION && gmt_starts_with(function, marks[i].mark) &&
            isupper((unsigned char)function[length]) && strpbrk(function, "(<: ") == NULL) {
            return marks[i].origin;
        }
    }
    return GMT_ORIGIN_USER;
}

/* ---- names of kernels --------------------------------------------------------------------------- */

static const char *without_type(const char *name)
{
    return gmt_starts_with(name, "void ") ? name + strlen("void ") : name;
}

/* Names that only their library's generator makes. */
static enum gmt_origin origin_of_generated(const char *name)
{
    static const char *const architectures[] = {"maxwell_", "pascal_", "volta_", "turing_",
                                                "ampere_",  "ada_",    "hopper_"};
    static const char *const triton[] = {"triton_poi_", "triton_per_", "triton_red_", "triton_tem_",
                                         "triton_for_"};
    size_t digits = gmt_starts_with(name, "sm") ? strspn(name + 2, "0123456789") : 0;
    bool convolves = strstr(name, "cudnn") != NULL || strstr(name, "fprop") != NULL ||
                     strstr(name, "dgrad") != NULL || strstr(name, "wgrad") != NULL;

    if (digits > 0 && gmt_starts_with(name + 2 + digits, "_xmma_")) {
        return convolves ? GMT_ORIGIN_CUDNN : GMT_ORIGIN_CUBLAS;
    }
    for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++) {
        if (gmt_starts_with(name, architectures[i]) &&
            (strstr(name, "gemm_") != NULL || strstr(name, "cudnn_") != NULL) &&
            strpbrk(name, "(<:") == NULL) {
            return convolves ? GMT_ORIGIN_CUDNN : GMT_ORIGIN_CUBLAS;
        }
    }
    for (size_t i = 0; i < sizeof(triton) / sizeof(triton[0]); i++) {
        if (gmt_starts_with(name, triton[i])) {
            return GMT_ORIGIN_TRITON;
        }
    }
    if (gmt_starts_with(name, "cudnn_generated_")) {
        return GMT_ORIGIN_CUDNN;
    }
    if (gmt_starts_with(name, "ncclDevKernel_") || gmt_starts_with(name, "ncclKernel_")) {
        return GMT_ORIGIN_NCCL;
    }
    return gmt_starts_with(name, "nvjet_") ? GMT_ORIGIN_CUBLAS : GMT_ORIGIN_USER;
}

/* A namespace may be anybody's: it counts where files of that library are in the process. */
static enum gmt_origin origin_of_scope(const char *name, unsigned loaded)
{
    for (size_t i = 0; i < MARKS; i++) {
        if (marks[i].kind == MARK_SCOPE && gmt_starts_with(name, marks[i].mark) &&
            (loaded & (1U << marks[i].origin)) != 0) {
            return marks[i].origin;
        }
    }
    return GMT_ORIGIN_USER;
}

/* What a kernel in a library is, whatever library that is. */
static enum gmt_origin origin_of_template(const char *name, enum gmt_origin otherwise)
{
    if (gmt_starts_with(name, "cutlass::")) {
        return GMT_ORIGIN_CUTLASS;
    }
    return gmt_starts_with(name, "thrust::") || gmt_starts_with(name, "cub::") ? GMT_ORIGIN_THRUST
                                                                               : otherwise;
}

/* ---- stacks -------------------------------------------------------------------------------------- */

/* Of CUDA and gmtrace: on every stack. */
static bool is_beneath(const struct gmt_report_frame *frame)
{
    static const char *const files[] = {"libcuda.so", "libcudart", "libcupti", "libgmtrace"};

    for (size_t i = 0; frame->module != NULL && i < sizeof(files) / sizeof(files[0]); i++) {
        if (gmt_starts_with(gmt_base_name(frame->module), files[i])) {
            return true;
        }
    }
    return !gmt_frame_is_users(frame) && !frame->interpreter && !gmt_frame_is_nameless(frame);
}

bool gmt_module_is_installed(const char *path)
{
    static const char *const folders[] = {"/usr/lib", "/lib/", "/lib64/", "/usr/local/cuda",
                                          "/opt/conda/lib/"};

    if (path == NULL || strstr(gmt_base_name(path), ".so") == NULL) {
        return false;
    }
    if (strstr(path, "/site-packages/") != NULL || strstr(path, "/dist-packages/") != NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (gmt_starts_with(path, folders[i])) {
            return true;
        }
    }
    return false;
}

/*
 * In a source file that no package brought: whoever has lines has the code. Of a known library that is installed they are its
 * makers': NCCL, CuPy and some builds of PyTorch are shipped with them.
 */
static bool has_own_line(const struct gmt_report_frame *frame)
{
    struct gmt_report_frame source = {.file = frame->file};

    return frame->line > 0 && gmt_frame_is_own(&source) &&
           (gmt_origin_of_module(frame->module) == GMT_ORIGIN_USER ||
            !gmt_module_is_installed(frame->module));
}

static struct gmt_made_by made(enum gmt_origin origin, enum gmt_origin_by by)
{
    return (struct gmt_made_by){origin, by};
}

/* The function that calls a kernel which is compiled by @triton.jit: the first outside of Triton. */
static struct gmt_made_by of_triton(const struct gmt_report_frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *file = frames[i].file;

        if (!gmt_frame_is_made(&frames[i]) || file == NULL || strstr(file, "/triton/") != NULL) {
            continue;
        }
        if (strstr(file, "/torchinductor_") != NULL || strstr(file, "/torch/_inductor/") != NULL) {
            return made(GMT_ORIGIN_TRITON, GMT_BY_MODULE);
        }
        return gmt_frame_is_own(&frames[i]) ? made(GMT_ORIGIN_USER, GMT_BY_LINES)
                                            : made(GMT_ORIGIN_OTHER, GMT_BY_MODULE);
    }
    return made(GMT_ORIGIN_USER, GMT_BY_NOTHING);
}

/* Launched by a file of that library. */
static struct gmt_made_by of_library(enum gmt_origin origin, const char *name,
                                     const struct gmt_report_frame *frames, size_t n)
{
    enum gmt_origin generated = origin_of_generated(name);

    if (generated != GMT_ORIGIN_USER) {
        return made(generated, GMT_BY_MODULE);
    }
    if (origin == GMT_ORIGIN_TRITON) {
        return of_triton(frames, n);
    }
    if (origin == GMT_ORIGIN_CUPY && !gmt_starts_with(name, "cupy_")) {
        /* RawKernel and ElementwiseKernel run code of the user's. */
        return made(origin_of_template(name, GMT_ORIGIN_USER), GMT_BY_NAME);
    }
    return made(origin == GMT_ORIGIN_OTHER ? origin_of_template(name, origin) : origin,
                GMT_BY_MODULE);
}

/* Launched by code that is in no known library. */
static struct gmt_made_by of_program(const struct gmt_report_frame *frames, size_t n,
                                     const char *name)
{
    for (size_t i = 0; i < n && frames[i].module != NULL; i++) {
        enum gmt_origin origin = origin_of_function(frames[i].function);

        if (is_beneath(&frames[i])) {
            continue;
        }
        if (has_own_line(&frames[i])) {
            break;
        }
        if (origin != GMT_ORIGIN_USER) {
            return made(origin, GMT_BY_FUNCTION);
        }
        if (strcmp(frames[i].module, frames[0].module) != 0) {
            break;
        }
    }
    if (gmt_module_is_installed(frames[0].module)) {
        return of_library(GMT_ORIGIN_OTHER, name, frames, n);
    }
    return made(origin_of_generated(name), GMT_BY_NAME);
}

static struct gmt_made_by checked(struct gmt_made_by found)
{
    if (found.origin == GMT_ORIGIN_USER && found.by != GMT_BY_LINES) {
        found.by = GMT_BY_NOTHING;
    }
    return found;
}

struct gmt_made_by gmt_made_by_stack(const struct gmt_report_frame *frames, size_t n,
                                     const char *name, unsigned loaded)
{
    name = without_type(name);
    while (n > 0 && is_beneath(frames)) {
        frames++;
        n--;
    }
    if (n == 0 || frames->module == NULL || frames->interpreter) {
        enum gmt_origin origin = origin_of_generated(name);

        return checked(
            made(origin != GMT_ORIGIN_USER ? origin : origin_of_scope(name, loaded), GMT_BY_NAME));
    }
    if (has_own_line(frames)) {
        return made(GMT_ORIGIN_USER, GMT_BY_LINES);
    }
    enum gmt_origin origin = gmt_origin_of_module(frames->module);
    return checked(origin != GMT_ORIGIN_USER ? of_library(origin, name, frames, n)
                                             : of_program(frames, n, name));
}

/* ---- frameworks ---------------------------------------------------------------------------------- */

enum gmt_framework gmt_framework_of_frame(const struct gmt_report_frame *frame)
{
    for (size_t i = 0; i < MARKS; i++) {
        if (marks[i].framework != GMT_FRAMEWORK_NONE &&
            (fits_path(i, frame->module) || fits_path(i, frame->file))) {
            return marks[i].framework;
        }
    }
    return GMT_FRAMEWORK_NONE;
}

static enum gmt_framework framework_within(const struct gmt_report_frame *frames, size_t n,
                                           bool of_call)
{
    enum gmt_framework framework = GMT_FRAMEWORK_NONE;

    for (size_t i = 0; i < n; i++) {
        enum gmt_framework found = gmt_framework_of_frame(&frames[i]);

        if (found != GMT_FRAMEWORK_NONE) {
            return found;
        }
        if (of_call && frames[i].module != NULL && !frames[i].runtime && !frames[i].interpreter &&
            has_own_line(&frames[i])) {
            return GMT_FRAMEWORK_NONE;
        }
        if (frames[i].interpreter) {
            framework = GMT_FRAMEWORK_PYTHON;
        }
    }
    return framework;
}

enum gmt_framework gmt_framework_on_stack(const struct gmt_report_frame *frames, size_t n)
{
    return framework_within(frames, n, false);
}

enum gmt_framework gmt_framework_of_call(const struct gmt_report_frame *frames, size_t n)
{
    return framework_within(frames, n, true);
}

/* ---- who asked ----------------------------------------------------------------------------------- */

enum gmt_origin gmt_asker_of_stack(const struct gmt_report_frame *frames, size_t n,
                                   enum gmt_framework *framework)
{
    *framework = GMT_FRAMEWORK_NONE;
    while (n > 0 && is_beneath(frames)) {
        frames++;
        n--;
    }
    if (n == 0 || frames->module == NULL || frames->interpreter || has_own_line(frames)) {
        return GMT_ORIGIN_USER;
    }
    enum gmt_origin origin = gmt_origin_of_module(frames->module);

    *framework = gmt_framework_of_frame(frames);
    return origin == GMT_ORIGIN_USER && !gmt_module_is_installed(frames->module)
               ? of_program(frames, n, "").origin
               : origin;
}
