# SPDX-License-Identifier: Apache-2.0
set(sim_exec_sources )
