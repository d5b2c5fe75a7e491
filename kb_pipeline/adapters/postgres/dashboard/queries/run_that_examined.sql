-- The run that read the bodies of a call, found by when the call was examined and what the batch covered.
SELECT run_id
FROM kb_access_record
WHERE read_at >= %(examined_at)s::timestamptz - interval '1 hour'
  AND read_at <= %(examined_at)s::timestamptz + interval '1 hour'
  AND ts_from <= %(ts)s AND ts_to >= %(ts)s AND purpose = 'grading' AND run_id IS NOT NULL
ORDER BY abs(extract(epoch FROM read_at - %(examined_at)s::timestamptz))
LIMIT 1
