/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, on one line: kernel, block, thread, instruction, source line. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/run.h"

enum { INSTRUCTION_CHARS = 160 };

static const char *const titles[] = {
    [SIM_OK] = "no fault",
    [SIM_ILLEGAL_ADDRESS] = "illegal address",
    [SIM_MISALIGNED_ADDRESS] = "misaligned address",
    [SIM_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [SIM_TRAP] = "trap",
    [SIM_ASSERT] = "assertion failed",
    [SIM_STACK_OVERFLOW] = "stack overflow",
    [SIM_DEADLOCK] = "deadlock",
    [SIM_OUT_OF_MEMORY] = "out of memory",
    [SIM_OUT_OF_RESOURCES] = "out of resources",
    [SIM_BREAKPOINT] = "breakpoint",
    [SIM_TIMEOUT] = "timeout",
};

struct fault_line {
    char *text;
    size_t bytes, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct fault_line *line, const char *format,
                                                      ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int added = vsnprintf(line->text + line->used, line->bytes - line->used, format,
                                arguments);
    va_end(arguments);
    if (added > 0) {
        line->used += (size_t)added;
        line->used = line->used < line->bytes ? line->used : line->bytes - 1;
    }
}

/* The instruction as written, with each run of white space as one blank. */
static void add_instruction(struct fault_line *line, const struct ptx_module *ptx,
                            const struct ptx_instruction *instruction)
{
    const char *text = ptx->text + instruction->text_offset;
    unsigned count = 0;
    bool blank = false;

    for (uint32_t i = 0; i < instruction->text_bytes && count < INSTRUCTION_CHARS; i++) {
        if (isspace((unsigned char)text[i])) {
            blank = count != 0;
        } else if (isprint((unsigned char)text[i])) {
            add(line, "%s%c", blank ? " " : "", text[i]);
            count += blank ? 2 : 1;
            blank = false;
        }
    }
}

static void add_place(struct fault_line *line, const struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_code *code = warp->code;
    const struct ptx_module *ptx = code->kernel->module->ptx;

    if (code->number != 0) {
        add(line, " in `%s`", code->ptx->name);
    }
    if (op == NULL || op->index >= code->op_count) {
        add(line, ": ");
        return;
    }
    const struct ptx_instruction *instruction = &code->ptx->instructions[op->index];
    add(line, ": ");
    add_instruction(line, ptx, instruction);
    add(line, " at PTX line %u", instruction->line);
    const struct ptx_place place = ptx_place_of(ptx, instruction);
    if (place.file != NULL) {
        add(line, ", %s:%u", place.file, place.line);
    }
    if (place.caller_file != NULL) {
        add(line, ", inlined at %s:%u", place.caller_file, place.caller_line);
    }
    add(line, ": ");
}

static void add_thread(struct fault_line *line, const struct sim_warp *warp, uint32_t lanes)
{
    const struct sim_block *block = warp->block;
    const uint32_t *size = block->launch->block;
    const uint32_t lane = lanes != 0 ? (uint32_t)__builtin_ctz(lanes) : 0;
    const uint32_t thread = warp->number * SIM_LANES + lane;

    add(line, "kernel `%s`, block (%u,%u,%u) thread (%u,%u,%u)", block->launch->kernel->ptx->name,
        block->index[0], block->index[1], block->index[2], thread % size[0],
        thread / size[0] % size[1], thread / size[0] / size[1]);
}

/* The fault of the lowest block is the one that is reported. True if this is it, so far; locks then. */
static bool begin(struct sim_run *run, uint64_t block, enum sim_status status,
                  struct fault_line *line)
{
    pthread_mutex_lock(&run->lock);
    if (atomic_load(&run->fault_block) <= block) {
        pthread_mutex_unlock(&run->lock);
        return false;
    }
    atomic_store(&run->fault_block, block);
    run->status = status;
    *line = (struct fault_line){run->error->text, sizeof(run->error->text), 0};
    add(line, "%s: ", titles[status]);
    return true;
}

const struct sim_op *sim_warp_fault(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
                                    enum sim_status status, const char *format, ...)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct fault_line line;

    if (!runner->stopped && begin(runner->run, warp->block->number, status, &line)) {
        va_list arguments;
        char what[400];

        va_start(arguments, format);
        vsnprintf(what, sizeof(what), format, arguments);
        va_end(arguments);
        add_thread(&line, warp, lanes);
        add_place(&line, warp, op);
        add(&line, "%s", what);
        pthread_mutex_unlock(&runner->run->lock);
    }
    runner->stopped = true;
    return NULL;
}

void sim_run_fail(struct sim_run *run, uint64_t block, enum sim_status status, const char *format,
                  ...)
{
    struct fault_line line;

    if (begin(run, block, status, &line)) {
        va_list arguments;
        char what[400];

        va_start(arguments, format);
        vsnprintf(what, sizeof(what), format, arguments);
        va_end(arguments);
        add(&line, "kernel `%s`: %s", run->kernel->ptx->name, what);
        pthread_mutex_unlock(&run->lock);
    }
}
