/* SPDX-License-Identifier: Apache-2.0 */
/* Reads opcodes out of a cubin (cubin_code.h). */
#include "libtrace/store/sass/cubin_code.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/layout.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif
#define INSTRUCTION_BYTES 16u
#define OPCODE_MASK 0x1ffu /* without the form of the operands, which is in the three bits above */
#define WIDTH_SHIFT 9u     /* in the upper word: three bits */
#define WIDTHS 7u
#define COPY_WIDTH_SHIFT_100 10u /* of LDGSTS, from sm_100 on */
#define MATRICES_SHIFT 8u        /* two bits: 1, 2 or 4 matrices of 128 bytes */
#define BYTES_OF_MATRIX 4u       /* per lane */

struct gmt_cubin_code {
    Elf *elf;
    const char **functions; /* by symbol's index; NULL: no function */
    GElf_Sym *symbols;
    size_t count;
    unsigned sm; /* 90 */
};

enum width { NO_WIDTH, ITS_WIDTH, COPY_WIDTH, MATRICES };

static const struct {
    const char *name;
    unsigned opcode;
    enum gmt_inst_kind kind;
    enum width width;
    bool load;
} opcodes[] = {
    {"LD", 0x180, GMT_INST_GENERIC, ITS_WIDTH, true},
    {"LDG", 0x181, GMT_INST_GLOBAL_LOAD, ITS_WIDTH, true},
    {"LDC", 0x182, GMT_INST_CONSTANT_LOAD, ITS_WIDTH, true},
    {"LDL", 0x183, GMT_INST_LOCAL_LOAD, ITS_WIDTH, true},
    {"LDS", 0x184, GMT_INST_SHARED_LOAD, ITS_WIDTH, true},
    {"LDSM", 0x03b, GMT_INST_SHARED_LOAD, MATRICES, true},
    {"ST", 0x185, GMT_INST_GENERIC, ITS_WIDTH, false},
    {"STG", 0x186, GMT_INST_GLOBAL_STORE, ITS_WIDTH, false},
    {"STL", 0x187, GMT_INST_LOCAL_STORE, ITS_WIDTH, false},
    {"STS", 0x188, GMT_INST_SHARED_STORE, ITS_WIDTH, false},
    {"STSM", 0x044, GMT_INST_SHARED_STORE, MATRICES, false},
    {"ATOM", 0x18a, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, true},
    {"ATOM", 0x18b, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, true},
    {"ATOMS", 0x18c, GMT_INST_SHARED_ATOMIC, NO_WIDTH, true},
    {"ATOMS", 0x18d, GMT_INST_SHARED_ATOMIC, NO_WIDTH, true},
    {"RED", 0x18e, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, false},
    {"REDG", 0x1a6, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, false},
    {"ATOMG", 0x1a8, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, true},
    {"ATOMG", 0x1a9, GMT_INST_GLOBAL_ATOMIC, NO_WIDTH, true},
    {"LDGSTS", 0x1ae, GMT_INST_ASYNC_COPY, COPY_WIDTH, true},
    {"BAR", 0x11d, GMT_INST_BARRIER, NO_WIDTH, false},
    {"BRA", 0x147, GMT_INST_BRANCH, NO_WIDTH, false},
};

static const struct {
    const char *suffix;
    unsigned bytes;
} widths[WIDTHS] = {{".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2},
                    {"", 4},    {".64", 8}, {".128", 16}};

static int load_symbols(struct gmt_cubin_code *code)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(code->elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_SYMTAB &&
            header.sh_entsize != 0) {
            break;
        }
    }
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL) {
        return -EBADMSG;
    }
    size_t count = data->d_size / header.sh_entsize;
    code->functions = calloc(count + 1, sizeof(*code->functions));
    code->symbols = calloc(count + 1, sizeof(*code->symbols));
    if (code->functions == NULL || code->symbols == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (gelf_getsym(data, (int)i, &code->symbols[i]) != NULL &&
            GELF_ST_TYPE(code->symbols[i].st_info) == STT_FUNC) {
            code->functions[i] = elf_strptr(code->elf, header.sh_link, code->symbols[i].st_name);
        }
    }
    code->count = count;
    return 0;
}

int gmt_cubin_code_open(const void *image, size_t bytes, struct gmt_cubin_code **out)
{
    GElf_Ehdr header;
    *out = NULL;
    struct gmt_cubin_code *code = calloc(1, sizeof(*code));
    if (code == NULL) {
        return -ENOMEM;
    }
    (void)elf_version(EV_CURRENT);
    code->elf = elf_memory((char *)image, bytes); /* opened for reading: it is not written to */
    int error = -EBADMSG;
    if (code->elf != NULL && elf_kind(code->elf) == ELF_K_ELF &&
        gelf_getehdr(code->elf, &header) != NULL && header.e_machine == EM_CUDA) {
        /* CUDA 13 has another layout of the flags. */
        code->sm = (header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 : header.e_flags) &
                   0xffu;
        error = load_symbols(code);
    }
    if (error != 0) {
        gmt_cubin_code_close(code);
        return error;
    }
    *out = code;
    return 0;
}

void gmt_cubin_code_close(struct gmt_cubin_code *code)
{
    if (code == NULL) {
        return;
    }
    if (code->elf != NULL) {
        (void)elf_end(code->elf);
    }
    free(code->functions);
    free(code->symbols);
    free(code);
}

/* Index of its row in `widths`; WIDTHS: it has none. */
static unsigned width_of(const struct gmt_cubin_code *code, uint64_t word, enum width width)
{
    unsigned shift = width == COPY_WIDTH && code->sm >= 100 ? COPY_WIDTH_SHIFT_100 : WIDTH_SHIFT;
    unsigned matrices = (unsigned)(word >> MATRICES_SHIFT) & 3u;
    switch (width) {
    case ITS_WIDTH:
    case COPY_WIDTH: return (unsigned)(word >> shift) & 7u;
    case MATRICES: /* as wide as a word of 4, 8 or 16 bytes */
        for (unsigned i = 0; matrices < 3 && i < WIDTHS; i++) {
            if (widths[i].bytes == BYTES_OF_MATRIX << matrices) {
                return i;
            }
        }
        return WIDTHS;
    default: return WIDTHS;
    }
}

static void decode(const struct gmt_cubin_code *code, const uint64_t words[2],
                   struct gmt_cubin_op *op)
{
    *op = (struct gmt_cubin_op){.kind = GMT_INST_OTHER};
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        if (opcodes[i].opcode != (words[0] & OPCODE_MASK)) {
            continue;
        }
        unsigned width = width_of(code, words[1], opcodes[i].width);
        bool wide = width < WIDTHS;
        *op = (struct gmt_cubin_op){
            .name = opcodes[i].name,
            .suffix = wide && opcodes[i].width == ITS_WIDTH ? widths[width].suffix : "",
            .kind = opcodes[i].kind,
            .load = opcodes[i].load,
            .width = wide ? widths[width].bytes : 0,
        };
        return;
    }
}

bool gmt_cubin_code_at(const struct gmt_cubin_code *code, const char *function, uint64_t offset,
                       struct gmt_cubin_op *op)
{
    for (size_t i = 0; i < code->count; i++) {
        if (code->functions[i] == NULL || strcmp(code->functions[i], function) != 0) {
            continue;
        }
        Elf_Scn *section = elf_getscn(code->elf, code->symbols[i].st_shndx);
        Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
        uint64_t at = code->symbols[i].st_value + offset, words[2];
        if (data == NULL || data->d_buf == NULL || data->d_size < INSTRUCTION_BYTES ||
            at % INSTRUCTION_BYTES != 0 || at > data->d_size - INSTRUCTION_BYTES) {
            return false;
        }
        memcpy(words, (const char *)data->d_buf + at, sizeof(words));
        decode(code, words, op);
        return true;
    }
    return false;
}
