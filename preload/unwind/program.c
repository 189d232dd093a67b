/* SPDX-License-Identifier: Apache-2.0 */
/* Runs DWARF call frame instructions (DWARF 5, section 6.4.2, and GNU's additions). */
#include "preload/unwind/program.h"

#define REMEMBERED 8 /* nested DW_CFA_remember_state; compilers nest one deep */

/* The low six bits of the first three are an operand. */
enum instruction {
    ADVANCE_LOC = 0x40,
    OFFSET = 0x80,
    RESTORE = 0xc0,
    NOP = 0x00,
    SET_LOC = 0x01,
    ADVANCE_LOC1 = 0x02,
    ADVANCE_LOC2 = 0x03,
    ADVANCE_LOC4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    IN_REGISTER = 0x09,
    REMEMBER_STATE = 0x0a,
    RESTORE_STATE = 0x0b,
    DEF_CFA = 0x0c,
    DEF_CFA_REGISTER = 0x0d,
    DEF_CFA_OFFSET = 0x0e,
    DEF_CFA_EXPRESSION = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SF = 0x11,
    DEF_CFA_SF = 0x12,
    DEF_CFA_OFFSET_SF = 0x13,
    VAL_OFFSET = 0x14,
    VAL_OFFSET_SF = 0x15,
    VAL_EXPRESSION = 0x16,
    AARCH64_NEGATE_RA_STATE =
        0x2d, /* whether the return address is signed: it is read without that */
    GNU_ARGS_SIZE = 0x2e,
    GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct machine {
    const struct gmt_frame_program *program;
    struct gmt_bytes code;
    struct gmt_frame_rules *rules;
    uint64_t at; /* address that the rules hold for */
    struct gmt_frame_rules remembered[REMEMBERED];
    unsigned depth;
};

uint64_t gmt_bytes_pointer(struct gmt_bytes *bytes, uint8_t encoding)
{
    uint64_t here = (uint64_t)(uintptr_t)bytes->at, value = 0;
    switch (encoding & 0x0f) {
    case 0x00: /* a machine word */
    case 0x04:
    case 0x0c: value = gmt_bytes_unsigned(bytes, 8); break;
    case 0x02: value = gmt_bytes_unsigned(bytes, 2); break;
    case 0x03: value = gmt_bytes_unsigned(bytes, 4); break;
    case 0x0a: value = (uint64_t)gmt_bytes_signed(bytes, 2); break;
    case 0x0b: value = (uint64_t)gmt_bytes_signed(bytes, 4); break;
    default: bytes->failed = true;
    }
    switch (encoding & 0xf0) {
    case 0x00: return value;
    case 0x10: /* relative to where it stands */ return value + here;
    default: /* relative to text, data or a function, or at an address: not in .eh_frame of x86-64 */
        bytes->failed = true;
        return 0;
    }
}

/* The rule of a register, or NULL where it does not matter. */
static struct gmt_cfi_rule *rule_of(struct gmt_frame_rules *rules, uint64_t number)
{
    return number == GMT_DWARF_BP ? &rules->bp : number == GMT_DWARF_RA ? &rules->ra : NULL;
}

static void set_rule(struct machine *machine, uint64_t number, enum gmt_rule_kind kind,
                     uint64_t factored)
{
    struct gmt_cfi_rule *rule = rule_of(machine->rules, number);
    if (rule != NULL) {
        *rule = (struct gmt_cfi_rule){
            .kind = kind,
            .offset = (int64_t)(factored * (uint64_t)machine->program->data_alignment)};
    }
}

static void restore_rule(struct machine *machine, uint64_t number)
{
    const struct gmt_frame_rules *before = &machine->program->before;
    struct gmt_cfi_rule *rule = rule_of(machine->rules, number);
    if (rule != NULL) {
        *rule = number == GMT_DWARF_BP ? before->bp : before->ra;
    }
}

/* A length and as many bytes. */
static struct gmt_bytes take_block(struct gmt_bytes *code)
{
    uint64_t length = gmt_bytes_uleb(code);
    struct gmt_bytes block = {.at = code->at, .end = code->at};
    gmt_bytes_skip(code, length);
    block.end = code->failed ? block.at : code->at;
    return block;
}

static void set_expression(struct machine *machine, enum gmt_rule_kind kind)
{
    uint64_t number = gmt_bytes_uleb(&machine->code);
    struct gmt_bytes block = take_block(&machine->code);
    struct gmt_cfi_rule *rule = rule_of(machine->rules, number);
    if (rule != NULL) {
        *rule = (struct gmt_cfi_rule){.kind = kind, .expression = block};
    }
}

static void remember(struct machine *machine)
{
    if (machine->depth == REMEMBERED) {
        machine->code.failed = true;
        return;
    }
    machine->remembered[machine->depth++] = *machine->rules;
}

static void restore_state(struct machine *machine)
{
    if (machine->depth == 0) {
        machine->code.failed = true;
        return;
    }
    *machine->rules = machine->remembered[--machine->depth];
}

/* Instructions about the CFA; false: it is not one of them. */
static bool run_cfa(struct machine *machine, unsigned instruction)
{
    struct gmt_bytes *code = &machine->code;
    struct gmt_frame_rules *rules = machine->rules;
    int64_t factor = machine->program->data_alignment;
    switch (instruction) {
    case DEF_CFA:
        rules->cfa_register = gmt_bytes_uleb(code);
        rules->cfa_offset = (int64_t)gmt_bytes_uleb(code);
        break;
    case DEF_CFA_SF:
        rules->cfa_register = gmt_bytes_uleb(code);
        rules->cfa_offset = (int64_t)((uint64_t)gmt_bytes_sleb(code) * (uint64_t)factor);
        break;
    case DEF_CFA_REGISTER: rules->cfa_register = gmt_bytes_uleb(code); break;
    case DEF_CFA_OFFSET:
        rules->cfa_offset = (int64_t)gmt_bytes_uleb(code);
        return true; /* of an expression, too, if that is what it says */
    case DEF_CFA_OFFSET_SF:
        rules->cfa_offset = (int64_t)((uint64_t)gmt_bytes_sleb(code) * (uint64_t)factor);
        return true;
    case DEF_CFA_EXPRESSION: rules->cfa_expression = take_block(code); return true;
    default: return false;
    }
    rules->cfa_expression = (struct gmt_bytes){0};
    return true;
}

/* Instructions about a register. */
static void run_register(struct machine *machine, unsigned instruction)
{
    struct gmt_bytes *code = &machine->code;
    if (instruction == EXPRESSION || instruction == VAL_EXPRESSION) {
        set_expression(machine, instruction == EXPRESSION ? GMT_RULE_EXPRESSION : GMT_RULE_OTHER);
        return;
    }
    uint64_t number = gmt_bytes_uleb(code);
    switch (instruction) {
    case OFFSET_EXTENDED: set_rule(machine, number, GMT_RULE_OFFSET, gmt_bytes_uleb(code)); break;
    case OFFSET_EXTENDED_SF:
        set_rule(machine, number, GMT_RULE_OFFSET, (uint64_t)gmt_bytes_sleb(code));
        break;
    case GNU_NEGATIVE_OFFSET_EXTENDED:
        set_rule(machine, number, GMT_RULE_OFFSET, 0 - gmt_bytes_uleb(code));
        break;
    case RESTORE_EXTENDED: restore_rule(machine, number); break;
    case UNDEFINED: set_rule(machine, number, GMT_RULE_UNDEFINED, 0); break;
    case SAME_VALUE: set_rule(machine, number, GMT_RULE_SAME, 0); break;
    case IN_REGISTER:
    case VAL_OFFSET:
    case VAL_OFFSET_SF:
        (void)gmt_bytes_uleb(code);
        set_rule(machine, number, GMT_RULE_OTHER, 0);
        break;
    default: code->failed = true;
    }
}

/* Go to the next address; false: it is beyond `pc`, so that the rules are those wanted. */
static bool advance(struct machine *machine, uint64_t to, uint64_t pc)
{
    if (to < machine->at) {
        machine->code.failed = true;
    }
    machine->at = to;
    return to <= pc;
}

/* False: done. */
static bool run_one(struct machine *machine, uint64_t pc)
{
    struct gmt_bytes *code = &machine->code;
    unsigned instruction = (unsigned)gmt_bytes_unsigned(code, 1), operand = instruction & 0x3f;
    uint64_t unit = machine->program->code_alignment;
    switch (instruction & 0xc0) {
    case ADVANCE_LOC: return advance(machine, machine->at + operand * unit, pc);
    case OFFSET: set_rule(machine, operand, GMT_RULE_OFFSET, gmt_bytes_uleb(code)); return true;
    case RESTORE: restore_rule(machine, operand); return true;
    default: break;
    }
    switch (instruction) {
    case NOP: return true;
    case SET_LOC:
        return advance(machine, gmt_bytes_pointer(code, machine->program->pointer_encoding), pc);
    case ADVANCE_LOC1:
        return advance(machine, machine->at + gmt_bytes_unsigned(code, 1) * unit, pc);
    case ADVANCE_LOC2:
        return advance(machine, machine->at + gmt_bytes_unsigned(code, 2) * unit, pc);
    case ADVANCE_LOC4:
        return advance(machine, machine->at + gmt_bytes_unsigned(code, 4) * unit, pc);
    case REMEMBER_STATE: remember(machine); return true;
    case RESTORE_STATE: restore_state(machine); return true;
#if defined(__aarch64__)
    case AARCH64_NEGATE_RA_STATE: return true;
#endif
    case GNU_ARGS_SIZE: (void)gmt_bytes_uleb(code); return true;
    default:
        if (!run_cfa(machine, instruction)) {
            run_register(machine, instruction);
        }
        return true;
    }
}

bool gmt_frame_program_run(const struct gmt_frame_program *program, struct gmt_bytes code,
                           uint64_t pc, struct gmt_frame_rules *rules)
{
    struct machine machine; /* what is remembered needs no zeros */
    machine.program = program;
    machine.code = code;
    machine.rules = rules;
    machine.at = program->from;
    machine.depth = 0;
    while (!machine.code.failed && machine.code.at < machine.code.end && run_one(&machine, pc)) {
    }
    return !machine.code.failed;
}
