-- What receivers were told, in the order of time: fires and resolutions.
SELECT fingerprint, to_status
FROM kb_alert_transition
WHERE kb_seq IS NOT NULL AND to_status IN ('firing', 'ok')
ORDER BY transition_id
