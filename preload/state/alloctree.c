/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The B+ tree of live allocations: nodes by their numbers.
 *
 * Every field is stored with release and loaded with acquire order: a reader that has seen anything of
 * a change also sees the caller's sequence number of it. (On x86 that costs nothing, and unlike
 * fences it is something that ThreadSanitizer knows.)
 */
#include "preload/state/alloctree.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define SLOTS 32u
#define CHUNK_NODES 4096u /* 3 MiB of address space, used as it fills */
#define CHUNKS 256u
#define ONE_LEVEL (UINT64_C(1) << 32)

/*
 * A slot of a leaf: base, bytes, tag. A slot of any other node: the base of the first entry below a
 * child, which is kept exact, and the child's number.
 */
enum field { BASE, BYTES, CHILD = BYTES, TAG, FIELDS };

struct node {
    _Atomic uint64_t field[FIELDS][SLOTS];
    _Atomic uint32_t count;
};

static struct {
    _Atomic(struct node *) chunks[CHUNKS];
    _Atomic uint64_t root; /* levels * ONE_LEVEL + node; no levels: it is empty */
    uint32_t mapped, used; /* nodes */
    uint32_t free_head, free_count;
} tree;

static struct node *chunk_at(uint32_t chunk)
{
    return atomic_load_explicit(&tree.chunks[chunk], memory_order_acquire);
}

/* Of a number that is known to be good. */
static struct node *node_at(uint32_t number)
{
    return &chunk_at(number / CHUNK_NODES)[number % CHUNK_NODES];
}

static bool is_node(uint32_t number)
{
    return number / CHUNK_NODES < CHUNKS && chunk_at(number / CHUNK_NODES) != NULL;
}

static uint64_t load(const struct node *node, enum field field, uint32_t slot)
{
    return atomic_load_explicit(&node->field[field][slot], memory_order_acquire);
}

static void store(struct node *node, enum field field, uint32_t slot, uint64_t value)
{
    atomic_store_explicit(&node->field[field][slot], value, memory_order_release);
}

/* Never more than there are slots, whatever a reader happens to see. */
static uint32_t count_of(const struct node *node)
{
    uint32_t count = atomic_load_explicit(&node->count, memory_order_acquire);
    return count <= SLOTS ? count : SLOTS;
}

static void set_count(struct node *node, uint32_t count)
{
    atomic_store_explicit(&node->count, count, memory_order_release);
}

static void set_root(uint32_t levels, uint32_t number)
{
    atomic_store_explicit(&tree.root, levels * ONE_LEVEL + number, memory_order_release);
}

static uint32_t levels_now(void)
{
    return (uint32_t)(atomic_load_explicit(&tree.root, memory_order_acquire) >> 32);
}

static void copy_slots(struct node *to, uint32_t at, const struct node *from, uint32_t begin,
                       uint32_t count)
{
    for (enum field field = 0; field < FIELDS; field++) {
        for (uint32_t i = 0; i < count; i++) {
            store(to, field, at + i, load(from, field, begin + i));
        }
    }
}

/* How many slots have a base <= address: they come first. */
static uint32_t slots_not_above(const struct node *node, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = count_of(node);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (load(node, BASE, middle) <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * The way to where `address` belongs. In nodes, the child to go into; in the leaf, how many slots are
 * not above the address. False: readers only, who see a tree in the middle of a change.
 */
static bool descend(uint64_t address, struct gmt_alloctree_cursor *place)
{
    uint64_t root = atomic_load_explicit(&tree.root, memory_order_acquire);
    uint32_t number = (uint32_t)root;
    place->levels = (uint32_t)(root >> 32);
    if (place->levels > GMT_ALLOCTREE_LEVELS) {
        return false;
    }
    for (uint32_t level = 0; level < place->levels; level++) {
        if (!is_node(number)) {
            return false;
        }
        const struct node *node = node_at(number);
        uint32_t below = slots_not_above(node, address);
        bool leaf = level + 1 == place->levels;
        uint32_t slot = leaf || below == 0 ? below : below - 1;
        place->at[level].node = number;
        place->at[level].slot = slot;
        number = leaf ? 0 : (uint32_t)load(node, CHILD, slot);
    }
    return true;
}

bool gmt_alloctree_seek(uint64_t address, struct gmt_alloctree_cursor *place)
{
    if (!descend(address, place) || place->levels == 0 || place->at[place->levels - 1].slot == 0) {
        return false;
    }
    place->at[place->levels - 1].slot--;
    return true;
}

void gmt_alloctree_get(const struct gmt_alloctree_cursor *place, struct gmt_alloctree_entry *entry)
{
    const struct node *leaf = node_at(place->at[place->levels - 1].node);
    uint32_t slot = place->at[place->levels - 1].slot;
    *entry = (struct gmt_alloctree_entry){load(leaf, BASE, slot), load(leaf, BYTES, slot),
                                          load(leaf, TAG, slot)};
}

/* From the child that the place has chosen at `level` down to its first or last entry. */
static void go_down(struct gmt_alloctree_cursor *place, uint32_t level, bool to_last)
{
    for (; level + 1 < place->levels; level++) {
        const struct node *node = node_at(place->at[level].node);
        uint32_t child = (uint32_t)load(node, CHILD, place->at[level].slot);
        place->at[level + 1].node = child;
        place->at[level + 1].slot = to_last ? count_of(node_at(child)) - 1 : 0;
    }
}

bool gmt_alloctree_first(struct gmt_alloctree_cursor *place)
{
    place->levels = levels_now();
    if (place->levels == 0) {
        return false;
    }
    place->at[0].node = (uint32_t)atomic_load_explicit(&tree.root, memory_order_acquire);
    place->at[0].slot = 0;
    go_down(place, 0, false);
    return true;
}

bool gmt_alloctree_step(struct gmt_alloctree_cursor *place, bool forward)
{
    for (uint32_t level = place->levels; level-- > 0;) {
        uint32_t slot = place->at[level].slot;
        uint32_t end = forward ? count_of(node_at(place->at[level].node)) - 1 : 0;
        if (slot != end) {
            place->at[level].slot = forward ? slot + 1 : slot - 1;
            go_down(place, level, !forward);
            return true;
        }
    }
    return false;
}

bool gmt_alloctree_reserve(void)
{
    uint32_t needed = levels_now() + 1; /* one of each level may split, and get a new root */
    if (needed > GMT_ALLOCTREE_LEVELS) {
        return false;
    }
    if (tree.free_count + tree.mapped - tree.used >= needed) {
        return true;
    }
    uint32_t chunk = tree.mapped / CHUNK_NODES;
    if (chunk == CHUNKS) {
        return false;
    }
    void *memory = mmap(NULL, CHUNK_NODES * sizeof(struct node), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    atomic_store_explicit(&tree.chunks[chunk], memory, memory_order_release);
    tree.mapped += CHUNK_NODES;
    return true;
}

static uint32_t take_node(void)
{
    uint32_t number = tree.free_head;
    if (tree.free_count == 0) {
        number = tree.used++;
    } else {
        tree.free_head = (uint32_t)load(node_at(number), CHILD, 0);
        tree.free_count--;
    }
    set_count(node_at(number), 0);
    return number;
}

static void give_node(uint32_t number)
{
    store(node_at(number), CHILD, 0, tree.free_head);
    tree.free_head = number;
    tree.free_count++;
}

static void put_slot(struct node *node, uint32_t slot, const struct gmt_alloctree_entry *entry)
{
    uint32_t count = count_of(node);
    for (uint32_t i = count; i > slot; i--) {
        copy_slots(node, i, node, i - 1, 1);
    }
    store(node, BASE, slot, entry->base);
    store(node, BYTES, slot, entry->bytes);
    store(node, TAG, slot, entry->tag);
    set_count(node, count + 1);
}

/*
 * Put it into a full node: part of what it holds goes to a new one on its right, whose number is
 * returned. Drivers mostly give out ascending addresses; the nodes left behind then stay full.
 */
static uint32_t split(struct node *node, uint32_t slot, const struct gmt_alloctree_entry *entry)
{
    uint32_t number = take_node();
    struct node *right = node_at(number);
    uint32_t keep = slot == SLOTS ? SLOTS : SLOTS / 2;
    copy_slots(right, 0, node, keep, SLOTS - keep);
    set_count(right, SLOTS - keep);
    set_count(node, keep);
    if (slot > keep || keep == SLOTS) {
        put_slot(right, slot - keep, entry);
    } else {
        put_slot(node, slot, entry);
    }
    return number;
}

static void put_root(const struct gmt_alloctree_entry *first,
                     const struct gmt_alloctree_entry *second)
{
    uint32_t number = take_node();
    put_slot(node_at(number), 0, first);
    if (second != NULL) {
        put_slot(node_at(number), 1, second);
    }
    set_root(levels_now() + 1, number);
}

/* Nodes above hold the base of the first entry below. */
static void update_parents(const struct gmt_alloctree_cursor *place, uint32_t level, uint64_t base)
{
    while (level-- > 0) {
        store(node_at(place->at[level].node), BASE, place->at[level].slot, base);
        if (place->at[level].slot != 0) {
            break;
        }
    }
}

void gmt_alloctree_insert(const struct gmt_alloctree_entry *entry)
{
    struct gmt_alloctree_cursor place;
    struct gmt_alloctree_entry slot = *entry;
    (void)descend(entry->base, &place);
    if (place.levels == 0) {
        put_root(entry, NULL);
        return;
    }
    if (place.at[place.levels - 1].slot == 0) { /* below all that there is */
        update_parents(&place, place.levels - 1, entry->base);
    }
    for (uint32_t level = place.levels; level-- > 0;) {
        uint32_t number = place.at[level].node;
        struct node *node = node_at(number);
        bool leaf = level + 1 == place.levels;
        uint32_t at = place.at[level].slot + (leaf ? 0 : 1);
        if (count_of(node) < SLOTS) {
            put_slot(node, at, &slot);
            return;
        }
        uint32_t right = split(node, at, &slot);
        slot = (struct gmt_alloctree_entry){load(node_at(right), BASE, 0), right, 0};
        if (level == 0) {
            put_root(&(struct gmt_alloctree_entry){load(node, BASE, 0), number, 0}, &slot);
        }
    }
}

/* Merge the node of `level` with a neighbour, if both are sparse; the slot that its parent loses. */
static bool merge(const struct gmt_alloctree_cursor *place, uint32_t level, uint32_t *lost)
{
    const struct node *parent = node_at(place->at[level - 1].node);
    uint32_t slot = place->at[level - 1].slot;
    if (count_of(node_at(place->at[level].node)) > SLOTS / 4) {
        return false;
    }
    for (uint32_t i = slot > 0 ? slot - 1 : slot; i <= slot && i + 1 < count_of(parent); i++) {
        uint32_t number = (uint32_t)load(parent, CHILD, i + 1);
        struct node *left = node_at((uint32_t)load(parent, CHILD, i));
        struct node *right = node_at(number);
        uint32_t count = count_of(left);
        uint32_t more = count_of(right);
        if (count + more <= SLOTS * 3 / 4) {
            copy_slots(left, count, right, 0, more);
            set_count(left, count + more);
            give_node(number);
            *lost = i + 1;
            return true;
        }
    }
    return false;
}

/* A root that leads to one node only is not needed; nor is one that holds nothing. */
static void trim_root(void)
{
    uint64_t root = atomic_load_explicit(&tree.root, memory_order_acquire);
    uint32_t levels = (uint32_t)(root >> 32);
    uint32_t number = (uint32_t)root;
    while (levels > 1 && count_of(node_at(number)) == 1) {
        uint32_t child = (uint32_t)load(node_at(number), CHILD, 0);
        give_node(number);
        number = child;
        levels--;
    }
    if (count_of(node_at(number)) == 0) {
        give_node(number);
        levels = 0;
    }
    set_root(levels, number);
}

void gmt_alloctree_remove(const struct gmt_alloctree_cursor *place)
{
    uint32_t slot = place->at[place->levels - 1].slot;
    for (uint32_t level = place->levels; level-- > 0;) {
        struct node *node = node_at(place->at[level].node);
        uint32_t count = count_of(node) - 1;
        copy_slots(node, slot, node, slot + 1, count - slot);
        set_count(node, count);
        if (level == 0) {
            break;
        }
        if (count == 0) {
            give_node(place->at[level].node);
            slot = place->at[level - 1].slot;
            continue;
        }
        if (slot == 0) {
            update_parents(place, level, load(node, BASE, 0));
        }
        if (!merge(place, level, &slot)) {
            break;
        }
    }
    trim_root();
}

void gmt_alloctree_clear(void)
{
    set_root(0, 0);
    tree.used = 0;
    tree.free_count = 0;
}
