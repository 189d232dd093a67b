/* SPDX-License-Identifier: Apache-2.0 */
/* _dl_find_object, which glibc has since 2.35, for the unwinder of a libgcc that was built with it and is linked
 * statically. By dl_iterate_phdr, as that unwinder did before. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#ifdef DLFO_EH_SEGMENT_TYPE
struct search {
    uintptr_t address;
    struct dl_find_object *found;
};

static int look_into(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    const struct search *search = context;
    const ElfW(Phdr) *inside = NULL, *tables = NULL;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD &&
            search->address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
            inside = segment;
        } else if (segment->p_type == DLFO_EH_SEGMENT_TYPE) {
            tables = segment;
        }
    }
    if (inside == NULL || tables == NULL) {
        return inside != NULL ? -1 : 0;
    }
    uintptr_t start = object->dlpi_addr + inside->p_vaddr;
    *search->found = (struct dl_find_object){
        .dlfo_map_start = (void *)start,
        .dlfo_map_end = (void *)(start + inside->p_memsz),
        .dlfo_eh_frame = (void *)(object->dlpi_addr + tables->p_vaddr),
    };
    return 1;
}

/* The unwinder does not read dlfo_link_map, which stays NULL. */
int _dl_find_object(void *address, struct dl_find_object *found)
{
    struct search search = {(uintptr_t)address, found};
    return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
#endif
