-- The silences of an instant.
SELECT silence_id, pattern, starts_at, ends_at, author, reason
FROM kb_alert_silence
WHERE starts_at <= %(now)s AND ends_at > %(now)s
ORDER BY silence_id
