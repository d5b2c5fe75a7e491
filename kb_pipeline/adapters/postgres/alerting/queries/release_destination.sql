-- A destination works again, or somebody wants it tried at once.
UPDATE kb_alert_destination
SET next_try_at = NULL, failures = 0, reason = NULL
WHERE destination = %(destination)s AND (failures > 0 OR next_try_at IS NOT NULL)
