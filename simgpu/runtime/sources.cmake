# SPDX-License-Identifier: Apache-2.0
set(sim_runtime_sources array.c context.c copy.c copy3d.c device.c driver.c error.c exports.c
    function.c launch.c layouts.c memory.c memset.c module.c register.c stream.c symbol.c symbols.c
    unsupported.c)
