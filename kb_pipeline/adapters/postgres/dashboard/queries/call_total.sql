-- What the ledger's windows say of a window, and the newest hour with a call; a filter that is null takes all. Without an
-- engine the calls that are no turns count too: they may be of other engines.
SELECT
  coalesce(sum(examined), 0)::bigint, coalesce(sum(synthesis), 0)::bigint, coalesce(sum(sampled_out), 0)::bigint,
  coalesce(sum(other), 0)::bigint, coalesce(sum(self), 0)::bigint, coalesce(sum(unreadable), 0)::bigint,
  coalesce(sum(parsed), 0)::bigint, coalesce(sum(parse_attempted), 0)::bigint, max(hour)
FROM rag_call_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
  AND (%(surface)s::text IS NULL OR surface = %(surface)s)
  AND (%(engine)s::text IS NULL OR engine = %(engine)s)
