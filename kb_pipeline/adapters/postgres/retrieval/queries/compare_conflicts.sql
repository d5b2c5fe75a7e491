-- Whether the conflict that is kept under the id of each event says the same, in their order, times and latency aside;
-- one whose text has expired cannot be told apart from a repetition.
SELECT
  coalesce(
    kept.event - ARRAY['occurred_at', 'latency_ms'] = sent.event - ARRAY['occurred_at', 'latency_ms'], true) AS is_same
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
LEFT JOIN kb_retrieval_event_conflict AS kept ON kept.id = (sent.event ->> 'id')::uuid
ORDER BY sent.place
