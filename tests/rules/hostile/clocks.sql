-- SPDX-License-Identifier: Apache-2.0
-- Clocks that run backwards, or leave what 64 bits hold.
UPDATE process SET start_ns = 50000000, end_ns = 1000, realtime_ns = -1;
UPDATE transfer SET end_ns = begin_ns - 1000 WHERE id < 100;
UPDATE transfer SET begin_ns = -9223372036854775807 WHERE id = 100;
UPDATE transfer SET begin_ns = 9223372036854775807, end_ns = -9223372036854775807 WHERE id = 101;
UPDATE transfer SET device_start_ns = 90, device_end_ns = 10 WHERE id = 102;
UPDATE launch SET begin_ns = -begin_ns, end_ns = -end_ns;
UPDATE allocation SET free_begin_ns = -5, address = -1, bytes = 9223372036854775807;
