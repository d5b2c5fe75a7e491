-- Best scores and latencies by engine over whole UTC days and the hours before and after them: the counts of each bin.
-- {score} and {latency} add up bins one by one: that is several times as fast as unnesting them.
SELECT engine, ARRAY[{score}]::bigint[], ARRAY[{latency}]::bigint[]
FROM (
  SELECT org_id, specialist_id, engine, top_score_hist, latency_hist
  FROM kb_retrieval_day
  WHERE day >= %(first_day)s AND day < %(last_day)s
  UNION ALL
  SELECT org_id, specialist_id, engine, top_score_hist, latency_hist
  FROM kb_retrieval_window
  WHERE hour >= %(head_start)s AND hour < %(head_end)s
  UNION ALL
  SELECT org_id, specialist_id, engine, top_score_hist, latency_hist
  FROM kb_retrieval_window
  WHERE hour >= %(tail_start)s AND hour < %(tail_end)s
) AS part
WHERE (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
GROUP BY engine
