/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by kernel and launch shape; the one that was least busy of late gives its place to a new one. */
#include "libtrace/store/live/live_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KERNELS (1u << 20)
#define LAUNCH_WEIGHT 1000u /* ns: where there are no device times, launches decide */

void gmt_live_kernels_free(struct gmt_live_kernels *kernels)
{
    for (size_t i = 0; i < kernels->name_count; i++) {
        free(kernels->names[i].text);
    }
    free(kernels->names);
    gmt_intern_free(&kernels->ids);
    *kernels = (struct gmt_live_kernels){0};
}

int gmt_live_kernels_name(struct gmt_live_kernels *kernels, uint32_t kernel, const char *name,
                          size_t room)
{
    uint64_t first = kernel;
    if (kernel == 0 || kernel >= MOST_KERNELS) {
        return 0;
    }
    if (kernel >= kernels->name_count) {
        size_t count = (size_t)kernel + 64;
        struct gmt_live_kernel_name *names = realloc(kernels->names, count * sizeof(*names));
        if (names == NULL) {
            return -ENOMEM;
        }
        memset(names + kernels->name_count, 0, (count - kernels->name_count) * sizeof(*names));
        kernels->names = names;
        kernels->name_count = count;
    }
    struct gmt_live_kernel_name *entry = &kernels->names[kernel];
    if (entry->text != NULL) {
        return 0;
    }
    entry->text = strndup(name, room);
    if (entry->text == NULL ||
        gmt_intern_id(&kernels->ids, name, strnlen(name, room), kernel, &first) < 0) {
        return -ENOMEM;
    }
    entry->first = (uint32_t)first;
    return 0;
}

static size_t hash_of(const struct gmt_live_kernel *key)
{
    uint64_t hash = key->kernel;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ key->grid[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ key->block[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (size_t)(hash >> 54); /* of 1024 places */
}

static int is_row(const struct gmt_live_kernel *row, const struct gmt_live_kernel *key)
{
    return row->kernel == key->kernel && memcmp(row->grid, key->grid, sizeof(key->grid)) == 0 &&
           memcmp(row->block, key->block, sizeof(key->block)) == 0;
}

static size_t row_of(struct gmt_live_kernels *kernels, uint32_t kernel, const uint32_t grid[3],
                     const uint32_t block[3])
{
    struct gmt_live_kernel key = {.kernel = kernel};
    memcpy(key.grid, grid, sizeof(key.grid));
    memcpy(key.block, block, sizeof(key.block));
    size_t place = hash_of(&key), row = kernels->place[place], least = 0;
    if (is_row(&kernels->row[row], &key)) {
        return row;
    }
    for (row = 0; row < GMT_LIVE_KERNELS && !is_row(&kernels->row[row], &key); row++) {
        least = kernels->weight[row] < kernels->weight[least] ? row : least;
    }
    if (row == GMT_LIVE_KERNELS) {
        row = least;
        kernels->row[row] = key;
        kernels->weight[row] = 0;
    }
    kernels->place[place] = (uint8_t)row;
    return row;
}

void gmt_live_kernels_launch(struct gmt_live_kernels *kernels, uint32_t kernel,
                             const uint32_t grid[static 3], const uint32_t block[static 3])
{
    if (kernel == 0) {
        return;
    }
    if (kernel < kernels->name_count && kernels->names[kernel].first != 0) {
        kernel = kernels->names[kernel].first;
    }
    size_t row = row_of(kernels, kernel, grid, block);
    kernels->row[row].launches++;
    kernels->weight[row] += LAUNCH_WEIGHT;
}

void gmt_live_kernels_device(struct gmt_live_kernels *kernels, const char *name, size_t room,
                             const uint32_t grid[static 3], const uint32_t block[static 3],
                             uint64_t ns)
{
    uint64_t kernel;
    if (gmt_intern_find(&kernels->ids, name, strnlen(name, room), &kernel)) {
        size_t row = row_of(kernels, (uint32_t)kernel, grid, block);
        kernels->row[row].device_ns += ns;
        kernels->weight[row] += ns;
    }
}

void gmt_live_kernels_age(struct gmt_live_kernels *kernels)
{
    for (size_t i = 0; i < GMT_LIVE_KERNELS; i++) {
        kernels->weight[i] -= kernels->weight[i] / 4;
    }
}

void gmt_live_kernels_put(const struct gmt_live_kernels *kernels, struct gmt_live_page *page)
{
    for (size_t i = 0; i < GMT_LIVE_KERNELS; i++) {
        const struct gmt_live_kernel *row = &kernels->row[i];
        page->kernel[i] = *row;
        if (row->kernel < kernels->name_count && kernels->names[row->kernel].text != NULL) {
            (void)snprintf(page->kernel[i].name, sizeof(page->kernel[i].name), "%s",
                           kernels->names[row->kernel].text);
        }
    }
}
