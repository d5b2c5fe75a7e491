-- A person's opening of one turn, with its number.
INSERT INTO kb_access_record (actor, purpose, run_id, ts_from, ts_to, bodies, body_bytes)
VALUES (%(actor)s, %(purpose)s, NULL, %(ts)s, %(ts)s, 1, %(body_bytes)s)
RETURNING access_id, read_at
