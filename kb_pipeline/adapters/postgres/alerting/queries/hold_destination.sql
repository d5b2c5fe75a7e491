-- A destination backs off.
INSERT INTO kb_alert_destination AS d (destination, next_try_at, failures, reason)
VALUES (%(destination)s, %(until)s, 1, %(reason)s)
ON CONFLICT (destination) DO UPDATE SET
  next_try_at = excluded.next_try_at, failures = d.failures + 1, reason = excluded.reason
RETURNING failures
