INSERT INTO kb_access_record (actor, purpose, run_id, ts_from, ts_to, bodies, body_bytes)
VALUES (%(actor)s, %(purpose)s, %(run_id)s, %(ts_from)s, %(ts_to)s, %(bodies)s, %(body_bytes)s)
