# SPDX-License-Identifier: Apache-2.0
set(sim_ptx_sources )
