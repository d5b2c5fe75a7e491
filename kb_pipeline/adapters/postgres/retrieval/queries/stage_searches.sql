-- Every step of each search that has one that was not read by these rules, as it is at this moment.
CREATE TEMPORARY TABLE stage_search ON COMMIT DROP AS
SELECT
  id, org_id, specialist_id, search_id, event_type, conversation_id, message_id, query_sha, doc_id, chunk_id, rank,
  occurred_at
FROM kb_search_event
JOIN (
  SELECT DISTINCT org_id, specialist_id, search_id
  FROM kb_search_event
  WHERE harvested_by IS NULL OR harvested_by < %(rules)s OR harvested_by > %(rules)s
) AS due USING (org_id, specialist_id, search_id)
