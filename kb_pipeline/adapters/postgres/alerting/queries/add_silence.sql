-- A person's wish not to be told.
INSERT INTO kb_alert_silence (pattern, starts_at, ends_at, author, reason)
VALUES (%(pattern)s, %(now)s, %(ends_at)s, %(author)s, %(reason)s)
RETURNING silence_id
