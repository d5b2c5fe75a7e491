-- The hourly windows of the ledger, over all tenants and engines.
SELECT
  coalesce(sum(examined), 0), coalesce(sum(synthesis), 0), coalesce(sum(sampled_out), 0), coalesce(sum(other), 0),
  coalesce(sum(self), 0), coalesce(sum(unreadable), 0), coalesce(sum(parsed), 0), coalesce(sum(parse_attempted), 0)
FROM rag_call_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s AND surface = ANY (%(surfaces)s)
