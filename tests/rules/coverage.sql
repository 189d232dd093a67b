-- SPDX-License-Identifier: Apache-2.0
-- A recording that checked itself, and found that something went past it.
INSERT INTO coverage(kind, what, requests, detail) VALUES
    ('lookup_path', 'dlsym', 3, NULL),
    ('lookup_path', 'cuGetProcAddress_v2', 1410, 'for versions up to 13.0'),
    ('lookup_path', 'linked', 4, 'imported by 1 module');
INSERT INTO coverage(kind, what, class, requests, expected, seen, detail) VALUES
    ('entry point', 'cuMemGetInfo_v2', 'other', 2, NULL, 0, 'dlsym'),
    ('entry point', 'cuMemBatchDecompressAsync', 'move', 1, 7, 0, 'cuGetProcAddress_v2'),
    ('entry point', 'cuGraphicsMapResources', 'map', 1, NULL, 0, 'linked by app'),
    ('entry point', 'cuLaunchGrid', 'launch', 1, 0, 0, 'dlsym');
INSERT INTO loss VALUES ('entry point not covered', 'cuMemBatchDecompressAsync', 7);
INSERT INTO coverage(kind, what, class, detail) VALUES
    ('runtime', '/opt/app/bin/app', 'static', 'version 13.0 or later'),
    ('runtime', '/opt/app/lib/libx.so', 'shared', 'version 12.8.90: /opt/app/lib/libcudart.so.12'),
    ('runtime', '/opt/app/lib/libgone.so', 'unknown', 'the file cannot be read'),
    ('runtime', '/lib/libc.so.6', 'none', NULL);
INSERT INTO coverage(kind, what, expected, seen, extra, detail) VALUES
    ('records', 'copies', 1203, 1200, 2, '1190 records, 4 of these for several calls of a batch, 2 calls failed'),
    ('records', 'kernels', 45, 45, 0, '45 records'),
    ('records', 'graph launches', 10, 10, 0, NULL),
    ('records', 'memsets in graphs', 20, 19, 0, NULL);
INSERT INTO coverage_example VALUES
    ('copies', 'call', 17, 'cuMemcpyHtoD_v2 of 64 bytes, stream 3'),
    ('copies', 'record', 9, 'copy of 4096 bytes, stream 7 of CUPTI'),
    ('memsets in graphs', 'call', 30, 'graph 1: 2 in it, 1 recorded');
