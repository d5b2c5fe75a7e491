-- The ledger itself, for windows that are not aggregated yet.
SELECT
  count(*),
  count(*) FILTER (WHERE verdict = 'synthesis'),
  count(*) FILTER (WHERE verdict = 'sampled_out'),
  count(*) FILTER (WHERE verdict = 'other'),
  count(*) FILTER (WHERE verdict = 'self'),
  count(*) FILTER (WHERE verdict = 'unreadable'),
  count(*) FILTER (WHERE verdict = 'synthesis' AND parse_status = ANY (%(parsed_statuses)s)),
  count(*) FILTER (WHERE verdict = 'synthesis' AND parse_status = ANY (%(template_statuses)s))
FROM rag_call
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND surface = ANY (%(surfaces)s)
