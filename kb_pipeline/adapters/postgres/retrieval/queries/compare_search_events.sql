-- Whether the search event that is kept under the id of each that was not added says the same, in their order; null
-- where none is kept any more. Times of two dispatches may differ; an expired query is compared by its hash.
SELECT
  CASE WHEN kept.id IS NOT NULL THEN
    (kept.org_id, kept.specialist_id, kept.expert_id, kept.conversation_id, kept.message_id, kept.search_id,
     kept.event_type, kept.doc_id, kept.chunk_id, kept.rank, kept.result_count)
    IS NOT DISTINCT FROM
    (new.org_id, new.specialist_id, new.expert_id, new.conversation_id, new.message_id, new.search_id,
     new.event_type, new.doc_id, new.chunk_id, new.rank, new.result_count)
    AND CASE
      WHEN kept.text_expired_at IS NULL THEN kept.query IS NOT DISTINCT FROM new.query
      ELSE kept.query_sha IS NOT DISTINCT FROM new.query_sha
    END
  END AS is_same,
  false AS is_of_same_message
FROM jsonb_array_elements(%(events)s::jsonb) WITH ORDINALITY AS sent (event, place)
CROSS JOIN jsonb_populate_record(NULL::kb_search_event, sent.event) AS new
LEFT JOIN kb_search_event AS kept ON kept.id = new.id
ORDER BY sent.place
