-- SPDX-License-Identifier: Apache-2.0
-- Names that end a script or a title, hide in a comment, are no UTF-8, or are very long.
UPDATE process SET exe = '/x/</title><script>alert(1)</script><!--', command = CAST(x'2e2f61ff00' AS
    TEXT), hostname = CAST(x'eda080' AS TEXT), options = 'a=<b>;=;;c;d=' || char(27) || ';e=f=g';
UPDATE thread SET name = CAST(x'c328ff' AS TEXT) || '</script>';
UPDATE kernel SET name = '</script><img src=x onerror=alert(1)>' || char(0x202e) || char(1) ||
    CAST(x'f09f98' AS TEXT) WHERE id = 1;
UPDATE kernel SET name = hex(zeroblob(524288)) WHERE id = 2;
UPDATE process SET cwd = hex(zeroblob(524288));
UPDATE string SET text = CAST(x'eda0bdedb880' AS TEXT) || id;
UPDATE module SET path = '//' || char(10) || '<!--' || id;
UPDATE capability SET detail = CAST(x'ff' AS TEXT), remedy = '<b>';
UPDATE loss SET detail = '"' || char(8232) || '&';
UPDATE device SET name = CAST(x'80' AS TEXT), attributes = 'x';
UPDATE api SET runtime_name = '"><script>' || id;
INSERT INTO string VALUES(9001, '/x/</script><img src=x onerror=alert(1)>.cu'), (9002, '__proto__');
INSERT INTO instruction(launch_seq, class_id, site, opcode_id, file_id, line, kind, executed, lanes, requests,
    bytes, sectors, ideal_sectors, source)
SELECT 1, id, 0, 9001, 9001 + id % 2, 2, 'global_load', 1, 32, 1, 128, 32, 4, 'simulated' FROM kernel_class;
INSERT INTO source_file VALUES(9001, 'embedded', 1, 'h', 'a' || char(10) || '</script><script>alert(1)</script>' ||
    char(27) || '[31m' || char(0x202e)), (9002, 'embedded', 1, '<b>', '<img src=x onerror=alert(1)>');
-- Ranges in ranges: without a name, of a domain that is none, longer than a line; one that ends before it began.
INSERT INTO string VALUES(9003, hex(zeroblob(524288))), (9004, '"><img src=x onerror=alert(1)>' || char(0x202e) || '</script>');
INSERT INTO range(id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, depth) VALUES
    (1, 'push', 1, 9002, 9004, 900000, 90000000, 0), (2, 'push', 1, NULL, 9003, 950000, 7000000, 1),
    (3, 'push', 1, NULL, NULL, 960000, 6000000, 2), (4, 'push', 1, 9999, 9999, 970000, 5000000, 3),
    (5, 'push', 1, NULL, 9002, 8000000, 7000000, 1), (6, 'start', NULL, NULL, 9004, 0, NULL, 0);
