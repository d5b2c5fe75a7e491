-- Search events of the hour that lack what their type needs.
SELECT
  count(*) FILTER (WHERE event_type = 'kb.search.performed' AND query IS NULL AND text_expired_at IS NULL)
    AS search_without_query,
  count(*) FILTER (WHERE event_type = 'kb.result.clicked' AND doc_id IS NULL) AS click_without_document,
  count(*) FILTER (WHERE event_type = 'kb.citation.inserted' AND doc_id IS NULL) AS citation_without_document
FROM kb_search_event
WHERE occurred_at >= %(window_start)s AND occurred_at < %(window_end)s
