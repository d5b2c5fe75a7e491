EXPLAIN (FORMAT JSON, VERBOSE)
SELECT event_id FROM kb_source.ai_call_body WHERE event_id = 'an id'
