-- SPDX-License-Identifier: Apache-2.0
-- Ranges around the calls of golden/trace.sql: 500 small copies in "fetch" of the domain "loader" inside
-- of "epoch", 20 large ones each in a "step" of its own, and one of the process that never ends.
INSERT INTO string VALUES (50, 'epoch'), (51, 'fetch'), (52, 'loader'), (53, 'all'), (54, 'elsewhere');
INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, depth) VALUES (1, 'push', 1, NULL, 50, 900000, 18000000, 0),
                         (2, 'push', 1, 52, 51, 950000, 7000000, 0),
                         (3, 'start', 1, NULL, 53, 100, NULL, 0),
                         (4, 'push', 2, NULL, 54, 900000, 90000000, 0);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO string SELECT 100 + i, 'step ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO range (id, kind, thread_id, domain_id, name_id, begin_ns, end_ns, depth) SELECT 100 + i, 'push', 1, NULL, 100 + i, 20000000 + i * 2000000 - 1000,
                         20800000 + i * 2000000, 0 FROM n;
