-- What alert rules need of the ledger's hours, per tenant and surface; the pipeline's own calls are left out.
SELECT
  hour, tenant, surface,
  sum(examined - self)::integer AS read,
  sum(synthesis + sampled_out)::integer AS recognised,
  sum(synthesis + sampled_out)::integer AS turns,
  sum(parse_attempted)::integer AS attempted,
  sum(parse_attempted - parsed)::integer AS unparsed
FROM rag_call_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s AND surface = ANY (%(surfaces)s)
GROUP BY hour, tenant, surface
HAVING sum(examined - self) > 0
