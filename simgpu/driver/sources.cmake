# SPDX-License-Identifier: Apache-2.0
set(sim_driver_sources array.c call.c capture.c capture_streams.c context.c copy.c copy_batch.c copy_box.c counting.c current.c
    device.c device_count.c errors.c event.c exports.c fault.c function.c graph.c graph_node.c heap.c image.c ipc.c
    late.c late_caller.c late_event.c late_frontier.c late_graph.c late_node.c late_queue.c late_record.c launch.c
    library.c library_shared.c link.c lookup.c managed.c map.c memory.c memset.c module.c node_run.c objects.c
    occupancy.c watchdog.c pointer.c pool.c pool_memory.c pool_share.c primary.c profiler.c reach.c settings.c skip.c
    stream.c tally.c tensor_map.c tree.c unsupported.c virtual.c watch.c work.c work_lock.c)
