# SPDX-License-Identifier: Apache-2.0
set(sim_driver_sources array.c context.c copy.c device.c exports.c graph.c launch.c memory.c memset.c
    module.c ptx.c registry.c stream.c waits.c)
