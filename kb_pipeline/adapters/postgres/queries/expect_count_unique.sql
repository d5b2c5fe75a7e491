-- Rows of the hour that share an event_id, or that the ledger does not know as a living turn of the same instant.
SELECT
  count(*) FILTER (WHERE copies > 1) AS rows_that_share_an_event_id,
  count(*) FILTER (WHERE ledger_id IS NULL) AS absent_from_ledger,
  count(*) FILTER (WHERE erased_at IS NOT NULL) AS erased_in_ledger,
  count(*) FILTER (WHERE erased_at IS NULL AND verdict <> 'synthesis') AS no_turn_in_ledger,
  count(*) FILTER (WHERE ts <> ledger_ts) AS another_instant_in_ledger
FROM (
  SELECT
    q.ts, c.event_id AS ledger_id, c.ts AS ledger_ts, c.verdict, c.erased_at,
    count(*) OVER (PARTITION BY q.event_id) AS copies
  FROM rag_quality AS q
  LEFT JOIN rag_call AS c ON c.event_id = q.event_id
  WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s AND q.event_id IS NOT NULL
) AS turn
