-- SPDX-License-Identifier: Apache-2.0
-- Host memory in the last page of the address space: what follows it begins again at 0.
UPDATE transfer SET src = -4096 WHERE direction = 'h2d';
UPDATE transfer SET dst = -1 WHERE direction = 'd2h';
