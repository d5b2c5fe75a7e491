-- The silences of a pattern end now.
UPDATE kb_alert_silence
SET ends_at = %(now)s
WHERE pattern = %(pattern)s AND starts_at <= %(now)s AND ends_at > %(now)s
