/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool needs to know of NVTX 2 and 3 to be given a program's calls.
 *
 * Every library that was compiled with NVTX holds tables of pointers to the implementations of its
 * functions. At its first NVTX call it loads the library that NVTX_INJECTION64_PATH names and calls
 * InitializeInjectionNvtx2 there, once per such library; what the tool does not set does nothing.
 * Numbers and layouts are NVTX's binary interface; tests/clients/nvtxclient.c, compiled with NVIDIA's
 * headers, holds them to it.
 */
#ifndef GMT_PRELOAD_STATE_NVTX_H
#define GMT_PRELOAD_STATE_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void (*gmt_nvtx_function)(void);

struct gmt_nvtx_callbacks { /* export table 1 */
    size_t struct_size;
    /* 1 and the table: an array of pointers to function pointers, by id; 0: no such module. */
    int (*get_module)(int module, gmt_nvtx_function ***table, unsigned *size);
};
struct gmt_nvtx_version { /* export table 3 */
    size_t struct_size;
    uint32_t version;
    uint32_t reserved;
    void (*set_tool_version)(uint32_t version);
};
enum { GMT_NVTX_TABLE_CALLBACKS = 1, GMT_NVTX_TABLE_VERSION = 3 };
enum { GMT_NVTX_CORE = 1, GMT_NVTX_CORE2 = 5 };

typedef const void *(*gmt_nvtx_get_table)(uint32_t table);
int InitializeInjectionNvtx2(gmt_nvtx_get_table get_table);

enum gmt_nvtx_message { GMT_NVTX_ASCII = 1, GMT_NVTX_UNICODE, GMT_NVTX_REGISTERED };
struct gmt_nvtx_attributes {
    uint16_t version;
    uint16_t size; /* of what the program has filled */
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type; /* enum gmt_nvtx_message */
    const void *message;
};

/* What nvtxRangePush and Pop return when nobody counts levels: programs see no difference. */
#define GMT_NVTX_NO_LEVELS (-2)

/* The one copy of a text that lives as long as the process; NULL: no memory. */
const char *gmt_nvtx_keep(const char *text);
/* In a forked child. */
void gmt_nvtx_forked(void);
/* UTF-8, cut to fit. Returns `text`. */
const char *gmt_nvtx_from_wide(const wchar_t *wide, char *text, size_t bytes);
/* The text of a message of that type (enum gmt_nvtx_message); "" for other types and NULL. `text`: GMT_RANGE_NAME_BYTES of room. */
const char *gmt_nvtx_message(uint32_t type, const void *message, char *text);

#endif
