/* SPDX-License-Identifier: Apache-2.0 */
/* A fat binary made by hand, and its registration. Layout: see simgpu/fatbin/fatbin.h. */
#include "program.h"

static const char ptx[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 d_value = 7;\n"
    ".visible .const .align 4 .b8 c_table[16];\n"
    ".visible .global .attribute(.managed) .align 4 .u32 m_value = 3;\n"
    ".visible .entry fill(.param .u64 out, .param .u32 value, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p<2>;\n"
    "    .reg .b32 %r<12>;\n"
    "    .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    ld.param.u32 %r1, [value];\n"
    "    ld.param.u32 %r2, [count];\n"
    "    mov.u32 %r3, %ctaid.x;\n"
    "    mov.u32 %r4, %ntid.x;\n"
    "    mov.u32 %r5, %tid.x;\n"
    "    mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "    setp.ge.u32 %p1, %r6, %r2;\n"
    "    @%p1 bra DONE;\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    mul.wide.u32 %rd3, %r6, 4;\n"
    "    add.s64 %rd4, %rd2, %rd3;\n"
    "    ld.global.u32 %r7, [d_value];\n"
    "    and.b32 %r8, %r6, 3;\n"
    "    mul.wide.u32 %rd5, %r8, 4;\n"
    "    mov.u64 %rd6, c_table;\n"
    "    add.s64 %rd7, %rd6, %rd5;\n"
    "    ld.const.u32 %r9, [%rd7];\n"
    "    add.s32 %r10, %r1, %r7;\n"
    "    add.s32 %r11, %r10, %r9;\n"
    "    st.global.u32 [%rd4], %r11;\n"
    "    st.global.u32 [m_value], %r1;\n"
    "DONE:\n"
    "    ret;\n"
    "}\n"
    ".visible .entry wild()\n"
    "{\n"
    "    .reg .b32 %r<2>;\n"
    "    .reg .b64 %rd<2>;\n"
    "    mov.u64 %rd1, 64;\n"
    "    mov.u32 %r1, 1;\n"
    "    st.global.u32 [%rd1], %r1;\n"
    "    ret;\n"
    "}\n";

struct __attribute__((packed)) entry {
    uint16_t kind, version; /* kind 1 = PTX, 2 = machine code */
    uint32_t header_bytes;
    uint64_t padded_bytes;
    uint32_t compressed_bytes, options_offset;
    uint16_t minor, major;
    uint32_t target;
    uint32_t name_offset, name_bytes;
    uint64_t flags, reserved, uncompressed_bytes;
};

struct __attribute__((packed)) container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
    struct entry entry;
    char payload[(sizeof ptx + 7) / 8 * 8];
};

static struct container images[2];

static struct wrapper {
    int magic, version;
    const void *data;
    void *unused;
} wrappers[2];

char fill_stub[1], wild_stub[1], absent_stub[1], machine_code_stub[1];
unsigned d_value, c_table[4];
unsigned *m_value;
static void **handles[2];

static void *make_image(size_t index, uint16_t kind)
{
    struct container *image = &images[index];
    *image = (struct container){
        .magic = 0xba55ed50,
        .version = 1,
        .header_bytes = 16,
        .body_bytes = sizeof image->entry + sizeof image->payload,
        .entry = {.kind = kind,
                  .version = 0x101,
                  .header_bytes = sizeof image->entry,
                  .padded_bytes = sizeof image->payload,
                  .options_offset = sizeof image->entry,
                  .major = 8,
                  .target = 90,
                  .flags = 0x11},
    };
    memcpy(image->payload, ptx, sizeof ptx);
    wrappers[index] = (struct wrapper){0x466243b1, 1, image, NULL};
    return &wrappers[index];
}

static void register_kernel(void **handle, char *stub, const char *name)
{
    __cudaRegisterFunction(handle, stub, (char *)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

void program_register(void)
{
    handles[0] = __cudaRegisterFatBinary(make_image(0, 1));
    register_kernel(handles[0], fill_stub, "fill");
    register_kernel(handles[0], wild_stub, "wild");
    register_kernel(handles[0], absent_stub, "not_in_the_ptx");
    __cudaRegisterVar(handles[0], (char *)&d_value, (char *)"d_value", "d_value", 0, 4, 0, 0);
    __cudaRegisterVar(handles[0], (char *)c_table, (char *)"c_table", "c_table", 0, 16, 1, 0);
    __cudaRegisterManagedVar(handles[0], (void **)&m_value, (char *)"m_value", "m_value", 0, 4, 0,
                             0);
    __cudaRegisterFatBinaryEnd(handles[0]);
    handles[1] = __cudaRegisterFatBinary(make_image(1, 2));
    register_kernel(handles[1], machine_code_stub, "fill");
    __cudaRegisterFatBinaryEnd(handles[1]);
}

void program_unregister(void)
{
    __cudaUnregisterFatBinary(handles[0]);
    __cudaUnregisterFatBinary(handles[1]);
}

char program_touch_managed(void)
{
    return __cudaInitModule(handles[0]);
}

/* As a kernel's stub does it. */
static cudaError_t launch(const char *stub, dim3 grid, dim3 block, void **args)
{
    cudaKernel_t kernel = NULL;
    dim3 popped_grid, popped_block;
    size_t shared = 1;
    cudaStream_t stream = cudaStreamLegacy;
    cr_assert_eq(__cudaPushCallConfiguration(grid, block, 0, NULL), 0);
    expect_success(__cudaGetKernel(&kernel, stub));
    expect_success(__cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &stream));
    cr_assert_eq(shared, 0);
    cr_assert_null(stream);
    return __cudaLaunchKernel(kernel, popped_grid, popped_block, args, shared, stream);
}

cudaError_t launch_fill(unsigned *out, unsigned value, unsigned count, unsigned threads)
{
    void *args[] = {&out, &value, &count};
    unsigned blocks = threads != 0 ? (count + threads - 1) / threads : 1;
    return launch(fill_stub, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, args);
}

cudaError_t launch_wild(void)
{
    return launch(wild_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL);
}
