-- Corrections made after the instant: how many, when the newest was written and made, which is the same here.
SELECT count(*), max(created_at), max(created_at) FROM kb_source.correction
WHERE created_at > %(since)s AND created_at <= now()
