EXPLAIN (FORMAT JSON, VERBOSE)
SELECT event_id FROM kb_source.ai_call WHERE ts >= now() - interval '1 hour' AND ts < now()
