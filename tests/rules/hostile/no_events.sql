-- SPDX-License-Identifier: Apache-2.0
-- A program that did nothing, of which nothing is known.
DELETE FROM transfer;
DELETE FROM launch;
DELETE FROM allocation;
DELETE FROM api;
DELETE FROM stack_frame;
DELETE FROM frame;
DELETE FROM thread;
DELETE FROM stream;
DELETE FROM context;
DELETE FROM device;
DELETE FROM kernel_class;
DELETE FROM kernel;
DELETE FROM process;
DELETE FROM meta;
DELETE FROM capability;
DELETE FROM kernel_counters;
