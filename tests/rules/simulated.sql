-- SPDX-License-Identifier: Apache-2.0
-- Run after a fixture: makes of it what the software device would have recorded. No time means anything,
-- no hardware was asked, and the device says what it is.
INSERT INTO capability VALUES
    ('software_device', 'ok', NULL, 'kernels were executed on the CPU by the software device', NULL),
    ('timestamps', 'off', NULL, 'software device: it states no times', NULL);
UPDATE device SET name = 'gmtrace software device', uuid = NULL, driver_version = NULL;
UPDATE kernel SET registers = NULL;
UPDATE kernel_class SET max_blocks_per_sm = NULL, theoretical_occupancy = NULL;
UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL, no_activity = 1,
                  measured = CASE WHEN measured IS NOT NULL THEN 'simulated' END;
UPDATE transfer SET device_start_ns = NULL, device_end_ns = NULL;
DELETE FROM kernel_counters WHERE grp IN ('hardware', 'spill');
UPDATE kernel_counters SET source = 'simulated', grp = 'simulated';
