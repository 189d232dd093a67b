/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to its row: the sorted table, the frame's description, its program. */
#include "preload/unwind/cfi.h"

#include "preload/unwind/bytes.h"
#include "preload/unwind/program.h"
#include "preload/unwind/row.h"

/* Operations of DWARF expressions that occur in frames of x86-64. */
enum operation {
    OP_DEREF = 0x06,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
};

struct frame {
    struct gmt_frame_program program;
    struct gmt_bytes initial, code; /* instructions of the CIE, of the FDE */
    uint64_t pc_begin, pc_bytes;
    bool is_signal;
    bool has_data; /* the FDE, too, has a length and data in front of its instructions */
};

/* The bytes from `at` to the end of the segment. */
static struct gmt_bytes bytes_at(const struct gmt_cfi *cfi, uint64_t at)
{
    uint64_t start = (uint64_t)(uintptr_t)cfi->start, end = (uint64_t)(uintptr_t)cfi->end;
    struct gmt_bytes bytes = {.at = cfi->end, .end = cfi->end, .failed = true};
    if (at >= start && at < end) {
        bytes.at = cfi->start + (at - start);
        bytes.failed = false;
    }
    return bytes;
}

/* The entry of .eh_frame at `at`, without its length. */
static struct gmt_bytes entry_at(const struct gmt_cfi *cfi, uint64_t at)
{
    struct gmt_bytes bytes = bytes_at(cfi, at);
    uint64_t length = gmt_bytes_unsigned(&bytes, 4);
    /* 0 ends the section; 0xffffffff begins a 64-bit length, which nobody needs. */
    if (length == 0 || length > gmt_bytes_left(&bytes)) {
        bytes.failed = true;
        length = 0;
    }
    bytes.end = bytes.at + length;
    return bytes;
}

/* The FDE that may describe `pc`, from the table sorted by address; 0: none. */
static uint64_t find_fde(const struct gmt_cfi *cfi, uintptr_t pc)
{
    uint64_t header = (uint64_t)(uintptr_t)cfi->header;
    struct gmt_bytes bytes = bytes_at(cfi, header);
    /* Version 1; frames at a 32-bit distance; a 32-bit count; a table of distances from the header. */
    if (gmt_bytes_unsigned(&bytes, 4) != UINT32_C(0x3b031b01)) {
        return 0;
    }
    gmt_bytes_skip(&bytes, 4);
    uint64_t count = gmt_bytes_unsigned(&bytes, 4), low = 0, high = count;
    if (bytes.failed || count > gmt_bytes_left(&bytes) / 8) {
        return 0;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct gmt_bytes row = {.at = bytes.at + middle * 8, .end = bytes.end};
        if (header + (uint64_t)gmt_bytes_signed(&row, 4) <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    struct gmt_bytes row = {.at = bytes.at + (low - 1) * 8 + 4, .end = bytes.end};
    return header + (uint64_t)gmt_bytes_signed(&row, 4);
}

/* What the letters after 'z' say of the CIE's data. The encoding of addresses, or -1. */
static int read_augmentation(struct gmt_bytes *cie, const char *letters, struct frame *frame)
{
    int encoding = 0; /* a machine word */
    if (letters[0] == '\0') {
        return encoding;
    }
    if (letters[0] != 'z') {
        return -1;
    }
    frame->has_data = true;
    uint64_t length = gmt_bytes_uleb(cie);
    struct gmt_bytes data = *cie;
    gmt_bytes_skip(cie, length);
    data.end = cie->at;
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            encoding = (int)gmt_bytes_unsigned(&data, 1);
        } else if (*letter == 'L') {
            gmt_bytes_skip(&data, 1);
        } else if (*letter == 'P') {
            uint8_t personality = (uint8_t)gmt_bytes_unsigned(&data, 1);
            (void)gmt_bytes_pointer(&data, personality & 0x0f); /* its length is all that counts */
        } else if (*letter == 'S') {
            frame->is_signal = true;
        } else {
            break; /* what we do not know comes last, and 'z' says how long it is */
        }
    }
    return data.failed ? -1 : encoding;
}

/* The encoding of addresses, or -1. */
static int read_cie(const struct gmt_cfi *cfi, uint64_t at, struct frame *frame)
{
    struct gmt_bytes cie = entry_at(cfi, at);
    uint64_t id = gmt_bytes_unsigned(&cie, 4), version = gmt_bytes_unsigned(&cie, 1);
    if (id != 0 || (version != 1 && version != 3)) {
        return -1;
    }
    const char *letters = (const char *)cie.at;
    const uint8_t *zero = memchr(cie.at, 0, gmt_bytes_left(&cie));
    if (cie.failed || zero == NULL) {
        return -1;
    }
    cie.at = zero + 1;
    frame->program.code_alignment = gmt_bytes_uleb(&cie);
    frame->program.data_alignment = gmt_bytes_sleb(&cie);
    uint64_t ra = version == 1 ? gmt_bytes_unsigned(&cie, 1) : gmt_bytes_uleb(&cie);
    int encoding = read_augmentation(&cie, letters, frame);
    frame->initial = cie;
    return cie.failed || ra != GMT_DWARF_RA ? -1 : encoding;
}

static bool read_fde(const struct gmt_cfi *cfi, uint64_t at, struct frame *frame)
{
    struct gmt_bytes fde = entry_at(cfi, at);
    uint64_t here = (uint64_t)(uintptr_t)fde.at;
    uint64_t distance = gmt_bytes_unsigned(&fde, 4);
    if (fde.failed || distance == 0) {
        return false;
    }
    int encoding = read_cie(cfi, here - distance, frame);
    if (encoding < 0) {
        return false;
    }
    frame->program.pointer_encoding = (uint8_t)encoding;
    frame->pc_begin = gmt_bytes_pointer(&fde, (uint8_t)encoding);
    frame->pc_bytes = gmt_bytes_pointer(&fde, encoding & 0x0f);
    if (frame->has_data) {
        gmt_bytes_skip(&fde, gmt_bytes_uleb(&fde));
    }
    frame->program.from = frame->pc_begin;
    frame->code = fde;
    return !fde.failed;
}

/* "register + offset", and perhaps what lies there: the register's number and *offset, or -1. */
static int base_of(struct gmt_bytes expression, int64_t *offset, bool *deref)
{
    unsigned operation = (unsigned)gmt_bytes_unsigned(&expression, 1);
    *offset = gmt_bytes_sleb(&expression);
    *deref = gmt_bytes_left(&expression) == 1 && gmt_bytes_unsigned(&expression, 1) == OP_DEREF;
    if (expression.failed || gmt_bytes_left(&expression) != 0 || operation < OP_BREG0 ||
        operation > OP_BREG0 + 31) {
        return -1;
    }
    return (int)(operation - OP_BREG0);
}

/*
 * Linkers describe all slots of a PLT by one expression: rsp + 8 + (((rip & 15) >= n) << 3), for each
 * slot pushes a word with its second instruction. The offset at `pc`, or 0.
 */
static int64_t plt_offset(struct gmt_bytes expression, uintptr_t pc)
{
    static const uint8_t shape[] = {
        OP_BREG0 + GMT_DWARF_SP, 8, OP_BREG0 + GMT_DWARF_RA, 0, OP_LIT0 + 15, OP_AND};
    static const uint8_t rest[] = {OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS};
    if (gmt_bytes_left(&expression) != sizeof(shape) + 1 + sizeof(rest) ||
        memcmp(expression.at, shape, sizeof(shape)) != 0 ||
        memcmp(expression.at + sizeof(shape) + 1, rest, sizeof(rest)) != 0) {
        return 0;
    }
    unsigned limit = (unsigned)expression.at[sizeof(shape)] - OP_LIT0;
    return (pc & 15) >= limit ? 16 : 8;
}

/* Where the CFA comes from; false: in a way that a row cannot say. */
static bool pack_cfa(const struct gmt_frame_rules *rules, uintptr_t pc, enum gmt_row_base *base,
                     int64_t *offset)
{
    if (rules->cfa_expression.at == NULL) {
        *offset = rules->cfa_offset;
        *base = rules->cfa_register == GMT_DWARF_SP ? GMT_BASE_SP : GMT_BASE_BP;
        return rules->cfa_register == GMT_DWARF_SP || rules->cfa_register == GMT_DWARF_BP;
    }
    bool deref;
    *base = GMT_BASE_SP;
    *offset = plt_offset(rules->cfa_expression, pc);
    if (*offset != 0) {
        return true;
    }
    int number = base_of(rules->cfa_expression, offset, &deref);
    *base = deref ? GMT_BASE_AT_BP : number == GMT_DWARF_SP ? GMT_BASE_SP : GMT_BASE_BP;
    return number == GMT_DWARF_BP || (number == GMT_DWARF_SP && !deref);
}

/* Where the caller's rbp is. */
static enum gmt_row_bp pack_bp(const struct gmt_cfi_rule *rule, int64_t *offset)
{
    bool deref;
    *offset = rule->offset;
    if (rule->kind == GMT_RULE_OFFSET) {
        return GMT_BP_AT_CFA;
    }
    if (rule->kind == GMT_RULE_EXPRESSION &&
        base_of(rule->expression, offset, &deref) == GMT_DWARF_BP && !deref) {
        return GMT_BP_AT_BP;
    }
    *offset = 0;
    return rule->kind == GMT_RULE_SAME ? GMT_BP_SAME : GMT_BP_UNKNOWN;
}

static uint64_t pack(const struct gmt_frame_rules *rules, uintptr_t pc)
{
    enum gmt_row_base base;
    int64_t cfa, bp;
    if (rules->ra.kind == GMT_RULE_UNDEFINED) {
        return GMT_ROW_END;
    }
    if (rules->ra.kind != GMT_RULE_OFFSET || rules->ra.offset != -8 ||
        !pack_cfa(rules, pc, &base, &cfa)) {
        return GMT_ROW_FRAME;
    }
    enum gmt_row_bp rule = pack_bp(&rules->bp, &bp);
    if (cfa != (int32_t)cfa || bp % 8 != 0 || bp / 8 != (int16_t)(bp / 8)) {
        return GMT_ROW_FRAME;
    }
    return gmt_row_make(base, (int32_t)cfa, rule, (int16_t)(bp / 8));
}

uint64_t gmt_cfi_row(const struct gmt_cfi *cfi, uintptr_t pc)
{
    struct frame frame = {0};
    uint64_t fde = cfi->header != NULL ? find_fde(cfi, pc) : 0;
    if (fde == 0 || !read_fde(cfi, fde, &frame) || pc < frame.pc_begin ||
        pc - frame.pc_begin >= frame.pc_bytes) {
        return GMT_ROW_FRAME;
    }
    if (frame.is_signal) {
        return GMT_ROW_SIGNAL;
    }
    struct gmt_frame_rules rules = {0};
    /* The CIE's own instructions hold from the start on. */
    if (!gmt_frame_program_run(&frame.program, frame.initial, UINT64_MAX, &rules)) {
        return GMT_ROW_FRAME;
    }
    frame.program.before = rules;
    return gmt_frame_program_run(&frame.program, frame.code, pc, &rules) ? pack(&rules, pc)
                                                                         : GMT_ROW_FRAME;
}
