-- Served retrievals of each UTC day and engine; the hours before the first whole day and after the last count for theirs.
SELECT day, engine, sum(retrievals)::int, sum(empty)::int
FROM (
  SELECT day, org_id, specialist_id, engine, retrievals, empty
  FROM kb_retrieval_day
  WHERE day >= %(first_day)s AND day < %(last_day)s
  UNION ALL
  SELECT (hour AT TIME ZONE 'UTC')::date, org_id, specialist_id, engine, retrievals, empty
  FROM kb_retrieval_window
  WHERE hour >= %(head_start)s AND hour < %(head_end)s
  UNION ALL
  SELECT (hour AT TIME ZONE 'UTC')::date, org_id, specialist_id, engine, retrievals, empty
  FROM kb_retrieval_window
  WHERE hour >= %(tail_start)s AND hour < %(tail_end)s
) AS part
WHERE (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY day, engine
