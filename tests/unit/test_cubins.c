/* SPDX-License-Identifier: Apache-2.0 */
/* From CUPTI's callback for a loaded module to what the collector says of its kernels. CUPTI is a fake. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_fixture.h"
#include "libtrace/cupti/code/cubins.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/record/collector.h"

static CUpti_CallbackFunc callback;
static const char *variable;

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc function,
                                      void *data)
{
    *handle = (CUpti_SubscriberHandle)&callback;
    callback = function;
    cr_expect_null(data);
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle handle)
{
    (void)handle;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable(uint32_t on, CUpti_SubscriberHandle handle,
                                   CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)on, (void)handle, (void)domain, (void)id;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI checksum(CUpti_GetCubinCrcParams *params)
{
    params->cubinCrc = params->cubinSize;
    return CUPTI_SUCCESS;
}

static void nothing(void)
{
}

static const struct gmt_cupti_api api = {
    .cuptiSubscribe = subscribe,
    .cuptiUnsubscribe = unsubscribe,
    .cuptiEnableCallback = enable,
    .cuptiGetCubinCrc = checksum,
};
static const struct gmt_collector_config config = {
    .enter = nothing, .leave = nothing, .repeat = true};

static void setup(void)
{
    const char *failed = NULL;
    cr_assert_eq(gmt_cubins_start(&api, &config, &failed), CUPTI_SUCCESS, "%s", failed);
}

TestSuite(cubins, .init = setup, .timeout = 60);

static void report(CUpti_CallbackId id, const void *cubin, size_t bytes)
{
    CUpti_ModuleResourceData module = {.cubinSize = bytes, .pCubin = cubin};
    CUpti_ResourceData resource = {.resourceDescriptor = &module};
    callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
}

static void load(const char *kernel)
{
    const struct cubin_symbol symbols[] = {{kernel, STT_FUNC, CUBIN_TEXT},
                                           {"variable", STT_OBJECT, CUBIN_GLOBAL}};
    struct cubin_image image = cubin_make(symbols, 2);
    report(CUPTI_CBID_RESOURCE_MODULE_LOADED, image.bytes, image.size);
    free(image.bytes);
}

static void note(void *data, const char *name)
{
    (void)data;
    variable = name;
}

static int reach(const char *kernel)
{
    const struct gmt_collector_class cls = {.kernel_name = kernel};
    variable = NULL;
    return gmt_cupti_collector()->code_reach(&cls, NULL, note, NULL);
}

Test(cubins, finds_what_the_code_of_a_loaded_kernel_reaches)
{
    cr_expect_eq(reach("k"), -ENOENT);
    load("k");
    cr_expect_eq(reach("k"), 0);
    cr_expect_str_eq(variable, "variable");
    report(CUPTI_CBID_RESOURCE_MODULE_PROFILED, NULL, 0);
    cr_expect_eq(reach("k"), 0, "no module was loaded");
}

Test(cubins, knows_nothing_where_cupti_shows_no_image)
{
    load("k");
    report(CUPTI_CBID_RESOURCE_MODULE_LOADED, NULL, 0);
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, knows_nothing_after_the_program_had_the_subscription)
{
    load("k");
    cr_expect(gmt_cubins_yield(gmt_measure_quiesce));
    gmt_cubins_resume();
    load("k");
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, knows_nothing_after_cupti_was_taken_down)
{
    load("k");
    gmt_cubins_lost();
    gmt_cubins_resume();
    cr_expect_eq(reach("k"), -ENOENT);
}

Test(cubins, forgets_what_the_parent_of_a_fork_has_loaded)
{
    load("k");
    gmt_cubins_abandon();
    cr_expect_eq(reach("k"), -ENOENT);
    load("k");
    cr_expect_eq(reach("k"), -ENOENT, "nobody listens there");
}
