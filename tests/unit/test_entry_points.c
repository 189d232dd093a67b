/* SPDX-License-Identifier: Apache-2.0 */
/* The table of driver entry points: found by name, and of the class that their hooks' families say. */
#include <criterion/criterion.h>
#include <string.h>

#include "libtrace/record/entry_points.h"

Test(entry_points, are_found_by_their_names)
{
    for (size_t i = 0; i < gmt_entry_point_count; i++) {
        cr_assert(i == 0 || strcmp(gmt_entry_points[i - 1].name, gmt_entry_points[i].name) < 0,
                  "%s is out of order", gmt_entry_points[i].name);
        cr_assert_eq(gmt_entry_class(gmt_entry_points[i].name), gmt_entry_points[i].class);
        cr_assert_neq(gmt_entry_points[i].class, GMT_ENTRY_UNKNOWN);
    }
    cr_assert_eq(gmt_entry_class("cuMemcpyToTheMoon"), GMT_ENTRY_UNKNOWN);
    cr_assert_eq(gmt_entry_class(""), GMT_ENTRY_UNKNOWN);
    cr_assert_eq(gmt_entry_class("cuZ"), GMT_ENTRY_UNKNOWN);
}

Test(entry_points, of_which_a_call_would_be_missed)
{
    static const struct {
        const char *name;
        enum gmt_entry_class class;
    } some[] = {
        {"cuMemcpyHtoD_v2", GMT_ENTRY_MOVE},
        {"cuMemcpyBatchAsync_v2_ptsz", GMT_ENTRY_MOVE},
        {"cuMemPrefetchAsync", GMT_ENTRY_MOVE},
        {"cuMemGetInfo_v2", GMT_ENTRY_OTHER},
        {"cuGraphicsResourceGetMappedPointer_v2", GMT_ENTRY_SHARE},
        {"cuMulticastBindMem", GMT_ENTRY_SHARE},
        {"cuMulticastAddDevice", GMT_ENTRY_MAP},
        {"cuMemPoolExportPointer", GMT_ENTRY_SHARE},
        {"cuMemGetHandleForAddressRange", GMT_ENTRY_SHARE},
        {"cuIpcCloseMemHandle", GMT_ENTRY_MAP},
        {"cuIpcGetEventHandle", GMT_ENTRY_OTHER},
        {"cuImportExternalSemaphore", GMT_ENTRY_OTHER},
        {"cuLaunchCooperativeKernelMultiDevice", GMT_ENTRY_LAUNCH},
        {"cuGraphNodeSetEnabled", GMT_ENTRY_GRAPH},
        {"cuEventRecord", GMT_ENTRY_OTHER},
    };
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        cr_expect_eq(gmt_entry_class(some[i].name), some[i].class, "%s: %s", some[i].name,
                     gmt_entry_class_name(gmt_entry_class(some[i].name)));
    }
    cr_expect(gmt_entry_matters(GMT_ENTRY_UNKNOWN));
    cr_expect(!gmt_entry_matters(GMT_ENTRY_OTHER));
}

/* Hooks of the first two families say what the call does; the others are of several kinds. */
#define CLASS_OF_TRANSFER GMT_ENTRY_MOVE
#define CLASS_OF_MEMSET GMT_ENTRY_MOVE
#define CLASS_OF_LAUNCH GMT_ENTRY_CLASS_COUNT
#define CLASS_OF_SYNC GMT_ENTRY_CLASS_COUNT
#define CLASS_OF_ALLOC GMT_ENTRY_CLASS_COUNT
#define CLASS_OF_MODULE GMT_ENTRY_CLASS_COUNT
#define CLASS_OF_STREAM GMT_ENTRY_CLASS_COUNT
#define CLASS_OF_OTHER GMT_ENTRY_CLASS_COUNT

Test(entry_points, that_are_hooked_are_of_the_class_of_their_family)
{
    static const struct {
        const char *name;
        enum gmt_entry_class class;
    } hooks[] = {
#define GMT_HOOK(symbol, family, runtime, traits, ...) {#symbol, CLASS_OF_##family},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    };
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        enum gmt_entry_class class = gmt_entry_class(hooks[i].name);
        cr_expect(hooks[i].class == GMT_ENTRY_CLASS_COUNT || hooks[i].class == class, "%s: %s",
                  hooks[i].name, gmt_entry_class_name(class));
    }
}
