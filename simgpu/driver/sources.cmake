# SPDX-License-Identifier: Apache-2.0
set(sim_driver_sources array.c capture.c context.c copy.c copy_batch.c copy_box.c counting.c device.c
    errors.c event.c exports.c function.c graph.c graph_node.c heap.c image.c launch.c library.c link.c lookup.c
    managed.c map.c memory.c memset.c module.c objects.c occupancy.c patience.c pointer.c pool.c pool_share.c
    primary.c profiler.c reach.c settings.c stream.c tally.c tensor_map.c tree.c unsupported.c virtual.c watch.c
    work.c)
