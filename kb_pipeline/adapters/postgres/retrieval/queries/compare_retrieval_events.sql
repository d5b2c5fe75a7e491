-- What is kept in place of retrieval events that were not added, in their order: whether it says the same, and whether
-- it is the event of the same message. Times and latency of two dispatches may differ; an expired query is compared by
-- its hash. Null where nothing is kept any more.
SELECT
  CASE WHEN kept.id IS NOT NULL THEN
    (kept.org_id, kept.specialist_id, kept.conversation_id, kept.message_id, kept.engine, kept.top_k,
     kept.result_count, kept.retrieved, kept.candidate_pool, kept.kb_version, kept.degraded, kept.shadow,
     kept.trace_id)
    IS NOT DISTINCT FROM
    (new.org_id, new.specialist_id, new.conversation_id, new.message_id, new.engine, new.top_k,
     new.result_count, new.retrieved, new.candidate_pool, new.kb_version, new.degraded, new.shadow,
     new.trace_id)
    AND CASE
      WHEN kept.text_expired_at IS NULL
        THEN (kept.query, kept.query_rewritten) IS NOT DISTINCT FROM (new.query, new.query_rewritten)
      ELSE kept.query_sha IS NOT DISTINCT FROM new.query_sha
    END
  END AS is_same,
  coalesce(kept.message_id = new.message_id, false) AS is_of_same_message
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
CROSS JOIN jsonb_populate_record(NULL::kb_retrieval_event, sent.event) AS new
LEFT JOIN LATERAL (
  SELECT event.*
  FROM kb_retrieval_event AS event
  WHERE event.id = new.id OR event.message_id = new.message_id
  -- Where one event has its id and another its message, that of the message.
  ORDER BY event.message_id IS NOT DISTINCT FROM new.message_id DESC, event.id = new.id DESC
  LIMIT 1
) AS kept ON true
ORDER BY sent.place
