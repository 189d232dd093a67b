# SPDX-License-Identifier: Apache-2.0
set(sim_order_sources clock.c conflict.c device.c draw.c extents.c lane.c operation.c ready.c reference.c report.c)
