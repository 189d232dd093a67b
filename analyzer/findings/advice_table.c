/* SPDX-License-Identifier: Apache-2.0 */
/* The fixes of rules in the words of frameworks. The first row that fits counts. */
#include <string.h>

#include "analyzer/findings/advice.h"

#define TORCH GMT_FRAMEWORK_PYTORCH
#define JAX GMT_FRAMEWORK_JAX
#define CUPY GMT_FRAMEWORK_CUPY

#define ANY 0
#define DOWNLOAD GMT_ADVICE_DOWNLOAD
#define IN_LOOP GMT_COMPILED_NESTED
#define IN_DOUBT GMT_COMPILED_DOUBT
#define DOWNLOAD_OF_LOOP (GMT_ADVICE_DOWNLOAD | GMT_COMPILED_RUNS)

#define TORCH_PINNED_FIX \
    "Page-lock what is copied, and copy it with .to(device, non_blocking=True): " \
    "DataLoader(..., pin_memory=True) gives such batches, tensor.pin_memory() such a tensor."
#define TORCH_PINNED_SKETCH \
    "loader = DataLoader(dataset, ..., pin_memory=True)\n" \
    "for x, y in loader:\n" \
    "    x = x.to(device, non_blocking=True)"
#define TORCH_DOWNLOAD_FIX \
    "Copy into a page-locked tensor that is made once, with non_blocking=True, and synchronize " \
    "before it is read."
#define TORCH_DOWNLOAD_SKETCH \
    "host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)   # once\n" \
    "host.copy_(result, non_blocking=True)\n" \
    "torch.cuda.current_stream().synchronize()   # before host is read"
#define TORCH_MODULE_FIX \
    "Make the model on the device, or load its weights there: nothing of it is then copied from " \
    "the host parameter by parameter."
#define TORCH_MODULE_SKETCH \
    "with torch.device(\"cuda\"):\n" \
    "    model = Model()\n" \
    "model.load_state_dict(torch.load(path, map_location=\"cuda\"))"
#define TORCH_MODULE_LAUNCHES_FIX \
    "Make the model on the device and in the type in which it is used: .to(), .cuda() and " \
    ".half() " \
    "of a module launch kernels for each of its parameters."
#define TORCH_MODULE_LAUNCHES_SKETCH \
    "torch.set_default_dtype(torch.float16)   # as the model is used\n" \
    "with torch.device(\"cuda\"):\n" \
    "    model = Model()"
#define TORCH_GRAPH_FIX \
    "Compile the step with torch.compile(mode=\"reduce-overhead\"), which replays it as a CUDA " \
    "graph, or capture it with torch.cuda.graph; or give the GPU larger batches."
#define TORCH_GRAPH_SKETCH \
    "step = torch.compile(step, mode=\"reduce-overhead\")\n" \
    "for batch in loader:\n" \
    "    step(batch)    # fixed shapes, no .item() and no .cpu() inside"
#define TORCH_FUSED_FIX \
    "Create the optimizer with fused=True: one kernel then updates many parameters."
#define TORCH_FUSED_SKETCH "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)"
#define TORCH_ZERO_FIX \
    "Clear gradients with optimizer.zero_grad(set_to_none=True): nothing is launched then."
#define TORCH_ZERO_SKETCH "optimizer.zero_grad(set_to_none=True)"
#define TORCH_LAYOUT_FIX \
    "Give the operation tensors that are contiguous in one memory format: keep the model and its " \
    "input in torch.channels_last, or call .contiguous() once where a view is used several times."
#define TORCH_LAYOUT_SKETCH \
    "model = model.to(memory_format=torch.channels_last)\n" \
    "x = x.to(device, memory_format=torch.channels_last)"
#define HOST_CODE_FIX \
    "Take this code out of the step: prepare the next input beside it, in a thread or a process " \
    "of " \
    "its own; or do it once before the loop and keep the result on the device; or do it on the " \
    "device."
#define PYTHON_HOST_CODE_SKETCH \
    "with ProcessPoolExecutor(1) as worker:\n" \
    "    ahead = worker.submit(prepare, 0)\n" \
    "    for i in range(steps):\n" \
    "        now, ahead = ahead.result(), worker.submit(prepare, i + 1)   # beside the step\n" \
    "        step(now)"
#define JAX_JIT_FIX \
    "Put the whole step, or several by jax.lax.scan, into one function under jax.jit: what is " \
    "outside of it is dispatched operation by operation."
#define JAX_JIT_SKETCH \
    "step = jax.jit(step, donate_argnums=0)\n" \
    "for batch in batches:\n" \
    "    state = step(state, batch)"
#define JAX_DECISION_FIX \
    "Give the loop inside of the compiled function a fixed count (jax.lax.fori_loop or scan), or " \
    "fewer and larger iterations: the runtime reads this value itself while it runs that " \
    "function, " \
    "to decide whether a while_loop goes on or which branch a cond takes. The program's Python " \
    "does " \
    "not read it."
#define JAX_DECISION_SKETCH \
    "def ten(state):        # a step behind the end must change nothing\n" \
    "    return jax.lax.fori_loop(0, 10, lambda i, s: step(s), state)\n" \
    "state = jax.lax.while_loop(unfinished, ten, state)   # one decision for ten steps"
#define JAX_LOOP_FIX \
    "Let a loop inside of the compiled function do more in fewer iterations (unroll= of " \
    "jax.lax.scan, jax.vmap over what is independent): the runtime launches what is in it one by " \
    "one " \
    "in each iteration. It is under jax.jit already."
#define JAX_LOOP_SKETCH \
    "state, out = jax.lax.scan(step, state, inputs, unroll=4)   # fused over four steps\n" \
    "states = jax.vmap(solve)(states)                           # one loop for all of them"
#define JAX_PUT_FIX \
    "Put the next batch on the device before the step of this one is waited for: jax.device_put " \
    "returns before the copy is done."
#define JAX_PUT_SKETCH \
    "ahead = jax.device_put(next(batches))\n" \
    "for batch in batches:\n" \
    "    now, ahead = ahead, jax.device_put(batch)\n" \
    "    state = step(state, now)"
#define JAX_GET_FIX \
    "Start the copy with array.copy_to_host_async() as soon as the array is computed, and read " \
    "it " \
    "when other work is under way."
#define JAX_GET_SKETCH "result.copy_to_host_async()\n...\nvalue = np.asarray(result)"
#define CUPY_GRAPH_FIX \
    "Capture the launches of an iteration into a CUDA graph (Stream.begin_capture) and launch " \
    "that, or fuse element-wise operations with cupy.fuse."
#define CUPY_GRAPH_SKETCH \
    "with stream:\n" \
    "    stream.begin_capture()\n" \
    "    step()\n" \
    "    graph = stream.end_capture()\n" \
    "for _ in range(n):\n" \
    "    graph.launch(stream)"
#define CUPY_FUSE_FIX \
    "Write both steps as one function under cupy.fuse, or as one cupy.ElementwiseKernel: the " \
    "value between them then stays in a register."
#define CUPY_FUSE_SKETCH \
    "@cupy.fuse()\n" \
    "def both(x, y):\n" \
    "    return second(first(x), y)   # element-wise operations: one kernel"
#define TORCH_FUSE_FIX \
    "Compile the function that has both operations with torch.compile: it makes one kernel of " \
    "element-wise operations that follow each other."
#define TORCH_FUSE_SKETCH "step = torch.compile(step)"
#define CUPY_PINNED_FIX \
    "Keep the host array in page-locked memory, made once with cupyx.empty_pinned, and copy on a " \
    "stream of its own."
#define CUPY_PINNED_SKETCH \
    "host = cupyx.empty_pinned(shape, dtype)   # once, in place of numpy.empty\n" \
    "device.set(host, stream=stream)"
#define CUPY_DOWNLOAD_SKETCH \
    "host = cupyx.empty_pinned(result.shape, result.dtype)   # once\n" \
    "result.get(stream=stream, out=host)"
#define PYTHON_GRAPH_FIX \
    "Capture the launches of an iteration into a CUDA graph once and launch that: " \
    "torch.compile(mode=\"reduce-overhead\") or torch.cuda.graph in PyTorch, jax.jit around the " \
    "step in JAX, begin_capture of a stream elsewhere."
#define CAPTURE_SKETCH \
    "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n" \
    "step(stream);                           /* the launches of one iteration */\n" \
    "cudaStreamEndCapture(stream, &graph);\n" \
    "cudaGraphInstantiate(&exec, graph, 0);  /* once */\n" \
    "for (...) cudaGraphLaunch(exec, stream);"

static const struct gmt_advice rows[] = {
    /* Copies. Of a module as a whole: Module.to and Module.cuda. */
    {"GM101", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_FIX, TORCH_MODULE_SKETCH},
    {"GM101", TORCH, ANY, NULL, NULL,
     "Put what is copied piece by piece into one tensor on the host and copy that once; make "
     "constants with device=\"cuda\" outside of the loop.",
     "batch = torch.stack(pieces).to(device)"},
    {"GM102", TORCH, DOWNLOAD, NULL, NULL, TORCH_DOWNLOAD_FIX, TORCH_DOWNLOAD_SKETCH},
    {"GM102", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_FIX, TORCH_MODULE_SKETCH},
    {"GM102", TORCH, ANY, NULL, NULL, TORCH_PINNED_FIX, TORCH_PINNED_SKETCH},
    {"GM103", TORCH, DOWNLOAD, NULL, NULL, TORCH_DOWNLOAD_FIX, TORCH_DOWNLOAD_SKETCH},
    {"GM103", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_FIX, TORCH_MODULE_SKETCH},
    {"GM103", TORCH, ANY, NULL, NULL, TORCH_PINNED_FIX, TORCH_PINNED_SKETCH},
    {"GM105", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_FIX, TORCH_MODULE_SKETCH},
    {"GM105", TORCH, ANY, NULL, NULL,
     "Copy the tensor once, before the loop, and keep it on the device; what belongs to a module "
     "is register_buffer's.",
     "self.register_buffer(\"mask\", mask)   # goes to the device with the module"},
    {"GM106", TORCH, ANY, NULL, NULL,
     "Keep the tensor on the device: do with operations of torch what is done between .cpu() and "
     ".to(device).",
     NULL},
    {"GM107", TORCH, ANY, NULL, NULL,
     "Leave out .to(device) of what no operation on the device reads.", NULL},
    {"GM108", TORCH, DOWNLOAD, NULL, NULL, TORCH_DOWNLOAD_FIX, TORCH_DOWNLOAD_SKETCH},
    {"GM108", TORCH, ANY, NULL, NULL,
     "Copy the next batch while this one is computed: DataLoader(..., pin_memory=True, "
     "num_workers=...), and .to(device, non_blocking=True) on a stream of its own.",
     "copies = torch.cuda.Stream()\n"
     "with torch.cuda.stream(copies):\n"
     "    ahead = batch.to(device, non_blocking=True)\n"
     "...                                            # the step on the batch before\n"
     "torch.cuda.current_stream().wait_stream(copies)\n"
     "ahead.record_stream(torch.cuda.current_stream())"},
    {"GM109", TORCH, ANY, NULL, NULL,
     "Sum on the device and read the sum once: .item(), float() and print of a tensor wait for "
     "the device each time.",
     "total = torch.zeros((), device=device)\n"
     "for batch in loader:\n"
     "    total += step(batch).detach()\n"
     "print(total.item())   # once, or every n steps"},
    {"GM109", GMT_FRAMEWORK_NONE, ANY, "cublas", NULL,
     "Let cuBLAS write the scalar to device memory, and read it where it is needed, or every n "
     "steps: with a result on the host the call waits for the device.",
     "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);\n"
     "cublasSdot(handle, n, x, 1, y, 1, result);  // result: device memory"},
    {"GM115", TORCH, ANY, "c10d::", NULL,
     "Take a process group whose collectives work in device memory: this one copies each tensor "
     "to the host and back.",
     "torch.distributed.init_process_group(\"nccl\")"},
    {"GM118", TORCH, ANY, NULL, NULL,
     "Leave out torch.cuda.synchronize() here: operations on the GPU keep their order without it, "
     "and .item() and .cpu() wait for what they read. Keep it if a clock of the host measures "
     "what lies between two of them, or if the time between two events is read after it.",
     NULL},
    {"GM118", JAX, ANY, NULL, NULL,
     "Leave out block_until_ready() here: operations keep their order without it, and reading an "
     "array waits for it. Keep it if a clock of the host measures what lies between two of them, "
     "or if the time between two events is read after it.",
     NULL},
    {"GM118", CUPY, ANY, NULL, NULL,
     "Leave out synchronize() here: operations of a stream keep their order without it, and "
     "cupy.asnumpy waits for what it reads. Keep it if a clock of the host measures what lies "
     "between two of them, or if the time between two events is read after it.",
     NULL},
    {"GM117", TORCH, ANY, NULL, NULL, "Keep what .cpu() returned and use that again.",
     "host = result.cpu()   # once"},
    {"GM207", TORCH, ANY, NULL, NULL,
     "Page-lock once: torch.empty(..., pin_memory=True) before the loop, filled with copy_() in "
     "it; for a loader DataLoader(..., pin_memory=True).",
     "host = torch.empty(shape, pin_memory=True)   # once\n"
     "host.copy_(batch)\n"
     "x = host.to(device, non_blocking=True)"},
    {"GM205", TORCH, ANY, NULL, NULL,
     "Leave out the tensor, or make it where it is used: nothing on the device touches it.", NULL},
    {"GM208", TORCH, ANY, NULL, NULL,
     "Make the tensor without pin_memory=True: no copy to or from the device uses it.", NULL},
    /* What a compiled function does itself comes first. */
    {"GM101", JAX, DOWNLOAD_OF_LOOP, NULL, NULL, JAX_DECISION_FIX, JAX_DECISION_SKETCH},
    {"GM109", JAX, DOWNLOAD_OF_LOOP, NULL, NULL, JAX_DECISION_FIX, JAX_DECISION_SKETCH},
    {"GM109", JAX, IN_DOUBT, NULL, NULL,
     "Leave the value on the device and read it once, or every n steps, if the program reads an "
     "array here (float(), .item(), print, if). If it calls a function under jax.jit here, that "
     "has "
     "a loop or a condition which the runtime decides on the host: a fixed count "
     "(jax.lax.fori_loop "
     "or scan), or fewer and larger iterations, then leave the read-backs out. Which of the two it "
     "is the stack does not show, as XLA's functions have no names in it.",
     NULL},
    {"GM101", JAX, DOWNLOAD, NULL, NULL,
     "Read what belongs together at once: jax.device_get of a list, or of one array that "
     "jnp.stack made.",
     "values = jax.device_get([loss, norm, rate])   # in place of float() of each"},
    {"GM101", JAX, ANY, NULL, NULL,
     "Pass what a step is given as one array, or compute it inside of the compiled function: each "
     "number of Python that such a function is given is a copy of its own.",
     "state, at = step(state, data, at)   # step slices data, and returns at + size"},
    {"GM102", JAX, DOWNLOAD, NULL, NULL, JAX_GET_FIX, JAX_GET_SKETCH},
    {"GM102", JAX, ANY, NULL, NULL, JAX_PUT_FIX, JAX_PUT_SKETCH},
    {"GM103", JAX, DOWNLOAD, NULL, NULL, JAX_GET_FIX, JAX_GET_SKETCH},
    {"GM103", JAX, ANY, NULL, NULL, JAX_PUT_FIX, JAX_PUT_SKETCH},
    {"GM105", JAX, ANY, NULL, NULL,
     "Call jax.device_put once, before the loop, and pass the array that it returns.",
     "table = jax.device_put(table)   # once"},
    {"GM108", JAX, DOWNLOAD, NULL, NULL, JAX_GET_FIX, JAX_GET_SKETCH},
    {"GM108", JAX, ANY, NULL, NULL, JAX_PUT_FIX, JAX_PUT_SKETCH},
    {"GM109", JAX, ANY, NULL, NULL,
     "Leave the value on the device and read it once, or every n steps: float(), .item() and "
     "print of an array wait for the device each time.",
     "losses.append(loss)             # still on the device\n"
     "...\n"
     "values = jax.device_get(losses)  # once"},
    {"GM101", CUPY, DOWNLOAD, NULL, NULL,
     "Put what is read piece by piece into one array on the device and read that once.",
     "host = cupy.asnumpy(cupy.stack(pieces))"},
    {"GM101", CUPY, ANY, NULL, NULL,
     "Put what is copied piece by piece into one array on the host and copy that once.",
     "device = cupy.asarray(numpy.stack(pieces))"},
    {"GM102", CUPY, DOWNLOAD, NULL, NULL, CUPY_PINNED_FIX, CUPY_DOWNLOAD_SKETCH},
    {"GM102", CUPY, ANY, NULL, NULL, CUPY_PINNED_FIX, CUPY_PINNED_SKETCH},
    {"GM103", CUPY, DOWNLOAD, NULL, NULL, CUPY_PINNED_FIX, CUPY_DOWNLOAD_SKETCH},
    {"GM103", CUPY, ANY, NULL, NULL, CUPY_PINNED_FIX, CUPY_PINNED_SKETCH},
    {"GM105", CUPY, ANY, NULL, NULL,
     "Call cupy.asarray once, before the loop, and keep the array on the device.",
     "table = cupy.asarray(table)   # once"},
    {"GM109", CUPY, ANY, NULL, NULL,
     "Sum on the device and read the sum once: float(), .item() and cupy.asnumpy wait for the "
     "device each time.",
     "total += step()      # a 0-dimensional cupy.ndarray\n"
     "print(float(total))  # once"},
    /* Launches. */
    {"GM506", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_LAUNCHES_FIX,
     TORCH_MODULE_LAUNCHES_SKETCH},
    {"GM506", TORCH, ANY, "/torch/optim/", NULL, TORCH_FUSED_FIX, TORCH_FUSED_SKETCH},
    {"GM506", TORCH, ANY, NULL, NULL,
     "Fuse the small operations with torch.compile, or give the GPU larger batches.",
     "model = torch.compile(model)"},
    {"GM507", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_LAUNCHES_FIX,
     TORCH_MODULE_LAUNCHES_SKETCH},
    {"GM507", TORCH, ANY, "zero_grad", NULL, TORCH_ZERO_FIX, TORCH_ZERO_SKETCH},
    {"GM507", TORCH, ANY, "/torch/optim/", NULL, TORCH_FUSED_FIX, TORCH_FUSED_SKETCH},
    {"GM507", TORCH, ANY, NULL, NULL, TORCH_GRAPH_FIX, TORCH_GRAPH_SKETCH},
    {"GM512", TORCH, ANY, "Module._apply", NULL, TORCH_MODULE_LAUNCHES_FIX,
     TORCH_MODULE_LAUNCHES_SKETCH},
    {"GM512", TORCH, ANY, NULL, NULL, TORCH_GRAPH_FIX, TORCH_GRAPH_SKETCH},
    {"GM506", JAX, IN_LOOP, NULL, NULL, JAX_LOOP_FIX, JAX_LOOP_SKETCH},
    {"GM507", JAX, IN_LOOP, NULL, NULL, JAX_LOOP_FIX, JAX_LOOP_SKETCH},
    {"GM512", JAX, IN_LOOP, NULL, NULL, JAX_LOOP_FIX, JAX_LOOP_SKETCH},
    {"GM506", JAX, ANY, NULL, NULL, JAX_JIT_FIX, JAX_JIT_SKETCH},
    {"GM507", JAX, ANY, NULL, NULL, JAX_JIT_FIX, JAX_JIT_SKETCH},
    {"GM512", JAX, ANY, NULL, NULL, JAX_JIT_FIX, JAX_JIT_SKETCH},
    {"GM506", CUPY, ANY, NULL, NULL, CUPY_GRAPH_FIX, CUPY_GRAPH_SKETCH},
    {"GM507", CUPY, ANY, NULL, NULL, CUPY_GRAPH_FIX, CUPY_GRAPH_SKETCH},
    {"GM512", CUPY, ANY, NULL, NULL, CUPY_GRAPH_FIX, CUPY_GRAPH_SKETCH},
    {"GM512", GMT_FRAMEWORK_PYTHON, ANY, NULL, NULL, PYTHON_GRAPH_FIX, CAPTURE_SKETCH},
    {"GM512", GMT_FRAMEWORK_NONE, ANY, NULL, NULL,
     "Capture the launches of an iteration into a CUDA graph once and launch that, or fuse the "
     "kernels; move what the host computes between launches out of the loop.",
     CAPTURE_SKETCH},
    {GMT_ADVICE_GROWTH, TORCH, ANY, NULL, NULL,
     "Keep numbers (loss.item(), made.detach().mean()) in place of tensors: a list of tensors, or "
     "of losses that hold their graphs, grows with every step. Which tensors these are a memory "
     "snapshot shows: gmtrace python -m gmtrace.torch --memory, and gmanalyze --memory-snapshot.",
     "losses.append(loss.item())   # in place of: losses.append(loss)"},
    {GMT_ADVICE_HOST_CODE, TORCH, ANY, NULL, NULL,
     "Take this code out of the step: prepare the next batch beside it, in a Dataset that a "
     "DataLoader with num_workers runs, or in a thread; or do it once before the loop and keep the "
     "tensors on the device; or do it with operations on the device.",
     "loader = DataLoader(dataset, ..., num_workers=4, pin_memory=True)   # dataset prepares\n"
     "for x in loader:                        # ready when the step is done\n"
     "    step(x.to(device, non_blocking=True))"},
    {GMT_ADVICE_HOST_CODE, JAX, ANY, NULL, NULL, HOST_CODE_FIX, PYTHON_HOST_CODE_SKETCH},
    {GMT_ADVICE_HOST_CODE, CUPY, ANY, NULL, NULL, HOST_CODE_FIX, PYTHON_HOST_CODE_SKETCH},
    {GMT_ADVICE_HOST_CODE, GMT_FRAMEWORK_PYTHON, ANY, NULL, NULL, HOST_CODE_FIX,
     PYTHON_HOST_CODE_SKETCH},
    {GMT_ADVICE_HOST_CODE, GMT_FRAMEWORK_NONE, ANY, NULL, NULL, HOST_CODE_FIX,
     "std::future<Input> next = std::async(std::launch::async, prepare, 0);\n"
     "for (int i = 0; i < steps; i++) {\n"
     "    Input now = next.get();\n"
     "    next = std::async(std::launch::async, prepare, i + 1);   // beside the step\n"
     "    step(now);\n"
     "}"},
    {GMT_ADVICE_LOADS, TORCH, ANY, "cudnn", NULL,
     "Take another backend for this operation, or give it few shapes: cuDNN compiles a kernel for "
     "each new shape. Of attention that is scaled_dot_product_attention: choose flash or "
     "memory-efficient attention, pad lengths to multiples, or use a cache of fixed length.",
     "with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n"
     "    tokens = model.generate(prompt)"},
    {GMT_ADVICE_LOADS, TORCH, ANY, NULL, NULL,
     "Keep shapes and constants fixed from step to step, so that what was compiled is used again: "
     "pad lengths to multiples, mark what changes as dynamic, and pass numbers that change as "
     "tensors. TORCH_LOGS=recompiles says what torch.compile compiles anew, and why.",
     "torch._dynamo.mark_dynamic(x, 1)   # the length changes\n"
     "step(x)"},
    {GMT_ADVICE_LOADS, JAX, ANY, NULL, NULL,
     "Keep shapes and static arguments fixed from step to step, so that what jax.jit compiled is "
     "used again: pad lengths to multiples, pass numbers that change as arrays, and make jitted "
     "functions once, outside of the loop. jax.config.update(\"jax_log_compiles\", True) says what "
     "is compiled anew.",
     "step = jax.jit(step)            # once, not in the loop\n"
     "for batch in batches:\n"
     "    state = step(state, pad(batch, 128))   # a few lengths in place of all"},
    {GMT_ADVICE_LOADS, CUPY, ANY, NULL, NULL,
     "Make RawKernel, RawModule and ElementwiseKernel once, outside of the loop, and pass what "
     "changes as arguments, not in the source.",
     "scale = cupy.ElementwiseKernel(\"T x, T by\", \"T y\", \"y = x * by\")   # once"},
    {GMT_ADVICE_LOADS, GMT_FRAMEWORK_PYTHON, ANY, NULL, NULL,
     "Compile once, outside of the loop, and keep the function that comes of it: what changes from "
     "step to step belongs into arguments, not into the source, types or constants.",
     NULL},
    {GMT_ADVICE_LOADS, GMT_FRAMEWORK_NONE, ANY, NULL, NULL,
     "Compile and load once, outside of the loop, and keep the module and its functions: what "
     "changes from step to step belongs into arguments, not into the source or constants.",
     "CUmodule module;  /* once, not in the loop */\n"
     "cuModuleLoadData(&module, image);\n"
     "cuModuleGetFunction(&kernel, module, \"kernel\");"},
    /* Element-wise operations: both kernels have to be (gmt_finding_advise_both). */
    {"GM509", TORCH, ANY, NULL, "elementwise_kernel", TORCH_FUSE_FIX, TORCH_FUSE_SKETCH},
    {"GM509", CUPY, ANY, NULL, "cupy_", CUPY_FUSE_FIX, CUPY_FUSE_SKETCH},
    /* Kernels of libraries whose accesses follow from the layout of the user's tensors. */
    {NULL, TORCH, ANY, NULL, "nchwToNhwc", TORCH_LAYOUT_FIX, TORCH_LAYOUT_SKETCH},
    {NULL, TORCH, ANY, NULL, "nhwcToNchw", TORCH_LAYOUT_FIX, TORCH_LAYOUT_SKETCH},
    {"GM301", TORCH, ANY, NULL, "elementwise_kernel", TORCH_LAYOUT_FIX, TORCH_LAYOUT_SKETCH},
    {"GM302", TORCH, ANY, NULL, "elementwise_kernel", TORCH_LAYOUT_FIX, TORCH_LAYOUT_SKETCH},
    {"GM310", TORCH, ANY, NULL, "elementwise_kernel", TORCH_LAYOUT_FIX, TORCH_LAYOUT_SKETCH},
};

static bool is_on_stack(const struct gmt_where *where, const char *mark)
{
    for (size_t i = 0; i < where->stack_depth; i++) {
        const struct gmt_report_frame *frame = &where->stack[i];

        if ((frame->file != NULL && strstr(frame->file, mark) != NULL) ||
            (frame->function != NULL && strstr(frame->function, mark) != NULL)) {
            return true;
        }
    }
    return false;
}

const struct gmt_advice *gmt_advice_find(const char *rule, enum gmt_framework framework,
                                         const struct gmt_where *where)
{
    bool download = where->api != NULL && strstr(where->api, "DtoH") != NULL;
    unsigned given = gmt_compiled_of_stack(where->stack, where->stack_depth) |
                     (download ? GMT_ADVICE_DOWNLOAD : 0);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct gmt_advice *row = &rows[i];

        if (row->framework != framework || (row->when & ~given) != 0 ||
            (row->rule != NULL && strcmp(row->rule, rule) != 0) ||
            (row->frame != NULL && !is_on_stack(where, row->frame)) ||
            (row->kernel != NULL &&
             (where->kernel == NULL || strstr(where->kernel, row->kernel) == NULL))) {
            continue;
        }
        return row;
    }
    return NULL;
}
