DELETE FROM event_logs
WHERE id IN (
  SELECT e.id
  FROM event_logs AS e
  JOIN runs AS r ON r.run_id = e.run_id
  WHERE r.status IN ('SUCCESS', 'FAILURE', 'CANCELED')
    AND r.end_time < :before
    AND (e.dagster_event_type IS NULL OR e.dagster_event_type <> ALL (:kept))
  LIMIT :limit
)
