# SPDX-License-Identifier: Apache-2.0
set(sim_runtime_sources version.c)
