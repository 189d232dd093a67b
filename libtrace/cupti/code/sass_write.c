/* SPDX-License-Identifier: Apache-2.0 */
/* Values of instructions -> records (sass.h). */
#include <stdlib.h>
#include <string.h>

#include "libtrace/cupti/code/sass.h"
#include "libtrace/record/spool.h"

static int compare(const void *a, const void *b)
{
    const struct gmt_sass_value *x = a, *y = b;
    if (x->crc != y->crc) {
        return x->crc < y->crc ? -1 : 1;
    }
    if (x->function_index != y->function_index) {
        return x->function_index < y->function_index ? -1 : 1;
    }
    return (x->pc > y->pc) - (x->pc < y->pc);
}

size_t gmt_sass_write(struct gmt_sass_value *values, size_t count, uint32_t measured,
                      uint32_t launch_seq, uint32_t kernel_class)
{
    size_t written = 0;
    if (count > 1) {
        qsort(values, count, sizeof(*values), compare);
    }
    for (size_t i = 0, next; i < count; i = next) {
        struct gmt_sass_instruction record = {
            .launch_seq = launch_seq,
            .kernel_class = kernel_class,
            .cubin_crc = values[i].crc,
            .function_index = values[i].function_index,
            .pc_offset = values[i].pc,
            .measured = measured,
        };
        for (next = i; next < count && compare(&values[next], &values[i]) == 0; next++) {
            record.values[values[next].slot] += values[next].value;
        }
        if (record.values[GMT_SASS_EXECUTED] != 0) {
            (void)gmt_spool_side(GMT_REC_SASS_INSTRUCTION, &record, sizeof(record),
                                 (const char *[]){values[i].function}, 1);
            written++;
        }
    }
    return written;
}
