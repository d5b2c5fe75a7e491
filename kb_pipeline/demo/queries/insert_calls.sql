INSERT INTO upstream.ai_calls (
  event_id, trace_id, started_at, completed_at, tenant_id, surface, operation, engine, model, http_status)
SELECT event_id, trace_id, ts - interval '1.5 seconds', ts, tenant, surface, operation, engine, model, http_status
FROM unnest(
  %(event_ids)s::text[], %(trace_ids)s::text[], %(ts)s::timestamptz[], %(tenants)s::text[], %(surfaces)s::text[],
  %(operations)s::text[], %(engines)s::text[], %(models)s::text[], %(http_statuses)s::integer[])
  AS call (event_id, trace_id, ts, tenant, surface, operation, engine, model, http_status)
ON CONFLICT (event_id) DO NOTHING
