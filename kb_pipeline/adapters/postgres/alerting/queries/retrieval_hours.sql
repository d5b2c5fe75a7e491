-- What alert rules need of the hours of retrieval, per tenant and engine.
SELECT hour, org_id::text AS org_id, specialist_id::text AS specialist_id, engine, retrievals, empty
FROM kb_retrieval_window
WHERE hour >= %(window_start)s AND hour < %(window_end)s
