-- Keeps second, different events of messages from a JSON array of rows; gives the ids of those not kept yet.
INSERT INTO kb_retrieval_event_conflict (id, message_id, org_id, specialist_id, event)
SELECT new.id, new.message_id, new.org_id, new.specialist_id, sent.event
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
CROSS JOIN jsonb_populate_record(NULL::kb_retrieval_event, sent.event) AS new
ORDER BY sent.place
ON CONFLICT DO NOTHING
RETURNING id
