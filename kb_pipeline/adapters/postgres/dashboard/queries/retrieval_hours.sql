-- Served retrievals of each hour and engine, added up over tenants; a filter that is null takes all.
SELECT hour, engine, sum(retrievals)::int, sum(empty)::int
FROM kb_retrieval_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY hour, engine
