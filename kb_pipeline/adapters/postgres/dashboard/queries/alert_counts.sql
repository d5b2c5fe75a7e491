-- How many alerts stand where, and how bad those are that fire.
SELECT status, severity, count(*)::int AS count
FROM kb_alert_state
GROUP BY status, severity
