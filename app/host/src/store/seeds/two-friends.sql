-- Two friends, somebody blocked, two unfinished matches of gomoku, and records enough to fill pages. Setups and actions are
-- protobuf: setup {gomoku {size 15, edge_five_wins}}, action {place: row * 1024 + column}.
INSERT OR REPLACE INTO settings VALUES ('name', 'Anna'), ('visibility', 'VISIBILITY_FRIENDS');
INSERT INTO friends (key, name, advert_key, met_unix_ms, note) VALUES
    (x'0707070707070707070707070707070707070707070707070707070707070707', 'Ben', zeroblob(32), 5, 'lunch'),
    (x'0808080808080808080808080808080808080808080808080808080808080808', '小明', zeroblob(32), 6, '');
INSERT INTO blocked VALUES (zeroblob(32), 'Mallory', 7, NULL, 'Bluetooth:00:AA');
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 40)
INSERT INTO matches (match_id, setup, first_seat, second_seat, open, began_unix_ms, changed_unix_ms)
    SELECT CAST(printf('%.16c', char(n)) AS BLOB), x'0a06080f10011801', 'here',
        'peer:0707070707070707070707070707070707070707070707070707070707070707', n <= 2, n, n FROM number;
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 14)
INSERT INTO actions (match_id, ply, action)
    SELECT match_id, n, CAST(char(8) || char(n) AS BLOB) FROM matches, number;
