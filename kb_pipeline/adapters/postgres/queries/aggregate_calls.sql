-- What the ledger says of one hour.
WITH status AS (
  SELECT tenant, surface, engine, jsonb_object_agg(parse_status, n) AS counts
  FROM (
    SELECT tenant, surface, engine, parse_status, count(*) AS n
    FROM rag_call
    WHERE ts >= %(window_start)s AND ts < %(window_end)s AND verdict = 'synthesis'
    GROUP BY tenant, surface, engine, parse_status
  ) AS each
  GROUP BY tenant, surface, engine
), fresh AS (
  SELECT
    tenant, surface, engine,
    count(*) AS examined,
    count(*) FILTER (WHERE verdict = 'synthesis') AS synthesis,
    count(*) FILTER (WHERE verdict = 'sampled_out') AS sampled_out,
    count(*) FILTER (WHERE verdict = 'other') AS other,
    count(*) FILTER (WHERE verdict = 'self') AS self,
    count(*) FILTER (WHERE verdict = 'unreadable') AS unreadable,
    count(*) FILTER (WHERE verdict = 'synthesis' AND parse_status = ANY (%(parsed_statuses)s)) AS parsed,
    count(*) FILTER (WHERE verdict = 'synthesis' AND parse_status = ANY (%(template_statuses)s)) AS parse_attempted
  FROM rag_call
  WHERE ts >= %(window_start)s AND ts < %(window_end)s
  GROUP BY tenant, surface, engine
), gone AS (
  DELETE FROM rag_call_window AS w
  WHERE w.hour = %(window_start)s
    AND NOT EXISTS (
      SELECT 1 FROM fresh AS f WHERE (f.tenant, f.surface, f.engine) = (w.tenant, w.surface, w.engine))
)
INSERT INTO rag_call_window AS w (
  hour, tenant, surface, engine, examined, synthesis, sampled_out, other, self, unreadable, parsed, parse_attempted,
  parse_status_counts)
SELECT
  %(window_start)s, f.tenant, f.surface, f.engine, f.examined, f.synthesis, f.sampled_out, f.other, f.self,
  f.unreadable, f.parsed, f.parse_attempted, coalesce(s.counts, '{}')
FROM fresh AS f
LEFT JOIN status AS s USING (tenant, surface, engine)
ON CONFLICT (hour, tenant, surface, engine) DO UPDATE SET
  examined = excluded.examined, synthesis = excluded.synthesis, sampled_out = excluded.sampled_out,
  other = excluded.other, self = excluded.self, unreadable = excluded.unreadable, parsed = excluded.parsed,
  parse_attempted = excluded.parse_attempted, parse_status_counts = excluded.parse_status_counts
WHERE w.* IS DISTINCT FROM excluded.*
