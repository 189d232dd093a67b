/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of NCCL's ranges: where values stand by their schema, and their text in the spool. Links gmt_record. */
#include <criterion/criterion.h>
#include <string.h>

#include "preload/state/nvtx_payload.h"

#define ENTRY(type_of, name_of, offset_of) \
    { \
        .type = (type_of), .name = (name_of), .offset = (offset_of) \
    }

static uint64_t note(const char *domain, uint64_t id, const struct gmt_nvtx_entry *entries,
                     size_t count)
{
    return gmt_nvtx_schema_note(
        domain, &(struct gmt_nvtx_schema){.mask = GMT_NVTX_MASK_ENTRIES | GMT_NVTX_MASK_COUNT |
                                                  (id != 0 ? (uint64_t)GMT_NVTX_MASK_ID : 0),
                                          .entries = entries,
                                          .entry_count = count,
                                          .id = id});
}

static struct gmt_range_payload look(const char *domain, uint64_t schema, const void *data,
                                     size_t bytes)
{
    struct gmt_range_payload payload;
    const struct gmt_nvtx_data one = {.schema = schema, .bytes = bytes, .data = data};
    gmt_nvtx_payload_read(&payload, domain, &one, 1);
    return payload;
}

/* Without offsets values stand as in a struct. */
Test(nvtx_payload, values_are_found_by_name_and_alignment)
{
    const struct gmt_nvtx_entry entries[] = {
        ENTRY(GMT_NVTX_INT, "Rank", 0), ENTRY(GMT_NVTX_UINT64, "NCCL communicator ID", 0),
        ENTRY(GMT_NVTX_INT, "No. of ranks", 0), ENTRY(GMT_NVTX_SIZE, "Message size [bytes]", 0)};
    const struct {
        int rank;
        uint64_t communicator;
        int ranks;
        size_t bytes;
    } data = {5, UINT64_C(0xfedcba9876543210), 8, 4096};
    uint64_t id = note("NCCL", 0, entries, 4);
    cr_assert_geq(id, GMT_NVTX_SCHEMA_DYNAMIC);
    struct gmt_range_payload payload = look("NCCL", id, &data, sizeof(data));
    cr_expect_eq(payload.known, 15);
    cr_expect_eq(payload.value[GMT_RANGE_COMMUNICATOR], data.communicator);
    cr_expect_eq(payload.value[GMT_RANGE_BYTES], 4096);
    cr_expect_eq(payload.value[GMT_RANGE_RANKS], 8);
    cr_expect_eq(payload.value[GMT_RANGE_RANK], 5);
    /* What lies behind its end is not read. */
    cr_expect_eq(look("NCCL", id, &data, 20).known,
                 1 << GMT_RANGE_COMMUNICATOR | 1 << GMT_RANGE_RANKS | 1 << GMT_RANGE_RANK);
    cr_expect_eq(look("NCCL", id, NULL, SIZE_MAX).known, 0);
}

Test(nvtx_payload, behind_a_value_of_unknown_size_only_offsets_count)
{
    const uint64_t id = 1 << 24;
    const struct gmt_nvtx_entry entries[] = {
        ENTRY(GMT_NVTX_SIZE, "Message size [bytes]", 0), ENTRY(id + 11, "Reduction operation", 8),
        ENTRY(GMT_NVTX_INT, "No. of ranks", 0), ENTRY(GMT_NVTX_INT, "Rank", 16)};
    const uint32_t data[] = {77, 0, 1, 2, 3};
    cr_assert_eq(note("NCCL", id, entries, 4), id);
    struct gmt_range_payload payload = look("NCCL", id, data, sizeof(data));
    cr_expect_eq(payload.known, 1 << GMT_RANGE_BYTES | 1 << GMT_RANGE_RANK);
    cr_expect_eq(payload.value[GMT_RANGE_BYTES], 77);
    cr_expect_eq(payload.value[GMT_RANGE_RANK], 3);
}

Test(nvtx_payload, other_domains_and_unknown_schemas_say_nothing)
{
    const struct gmt_nvtx_entry entries[] = {ENTRY(GMT_NVTX_SIZE, "Message size [bytes]", 0)};
    const uint64_t data = 1;
    cr_expect_eq(note("cuBLAS", 1 << 24, entries, 1), 1 << 24);
    cr_expect_eq(look("cuBLAS", 1 << 24, &data, sizeof(data)).known, 0);
    cr_expect_eq(look("NCCL", 1 << 24, &data, sizeof(data)).known, 0);
    cr_expect_eq(look("NCCL", 0, &data, sizeof(data)).known, 0);
    cr_expect_eq(gmt_nvtx_schema_note("NCCL", NULL), 0);
    /* A flag: the entry points to its value, or is an array. */
    const struct gmt_nvtx_entry pointer[] = {
        {.flags = 2, .type = GMT_NVTX_SIZE, .name = "Message size [bytes]"}};
    cr_expect_eq(look("NCCL", note("NCCL", 7, pointer, 1), &data, sizeof(data)).known, 0);
    /* More schemas than are kept. */
    for (uint64_t i = 0; i < 200; i++) {
        cr_expect_eq(note("NCCL", 1000 + i, entries, 1), 1000 + i);
    }
    cr_expect_eq(look("NCCL", 1000, &data, sizeof(data)).known, 1 << GMT_RANGE_BYTES);
    cr_expect_eq(look("NCCL", 1199, &data, sizeof(data)).known, 0);
}

Test(nvtx_payload, texts_give_back_what_was_written)
{
    char text[GMT_RANGE_PAYLOAD_BYTES];
    struct gmt_range_payload payload = {0}, found;
    cr_expect_str_eq(gmt_range_payload_write(&payload, text), "");
    for (unsigned known = 0; known < 1u << GMT_RANGE_FIELDS; known++) {
        payload = (struct gmt_range_payload){.value = {UINT64_MAX, 0, 8, 0x1234}, .known = known};
        gmt_range_payload_write(&payload, text);
        gmt_range_payload_read(&found, text, sizeof(text));
        cr_expect_eq(found.known, known, "%s", text);
        for (unsigned i = 0; i < GMT_RANGE_FIELDS; i++) {
            cr_expect_eq(found.value[i], (known >> i & 1) != 0 ? payload.value[i] : 0, "%s", text);
        }
    }
    payload = (struct gmt_range_payload){.value = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                         .known = 15};
    cr_expect_eq(strlen(gmt_range_payload_write(&payload, text)), sizeof(text) - 2);
    static const char *const wrong[] = {"1,2,3,4,5", "x", "12345678901234567,,,", "1,-2,,", "A,,,"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        gmt_range_payload_read(&found, wrong[i], strlen(wrong[i]));
        cr_expect_eq(found.known, 0, "%s", wrong[i]);
    }
}
