# SPDX-License-Identifier: Apache-2.0
set(sim_fatbin_sources fatbin.c)
