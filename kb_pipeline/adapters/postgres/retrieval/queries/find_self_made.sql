-- Documents that were written from the correction of an answer, with the query that the answer was for: a harness that
-- tested the one with the other would test whether we can copy. The evidence outlives the event.
WITH written AS MATERIALIZED (
  SELECT DISTINCT chunk.org_id, chunk.specialist_id, chunk.doc_id, correction.message_id
  FROM kb_source.kb_chunk AS chunk
  JOIN kb_source.correction AS correction ON correction.correction_id = chunk.source_correction_id
  WHERE chunk.valid_from <= %(as_of)s AND (chunk.valid_to IS NULL OR chunk.valid_to > %(as_of)s)
)
INSERT INTO stage_self_made (org_id, specialist_id, query_sha, doc_id)
SELECT written.org_id, written.specialist_id, event.query_sha, written.doc_id
FROM written
JOIN kb_retrieval_event AS event USING (org_id, specialist_id, message_id)
WHERE event.query_sha IS NOT NULL
UNION
SELECT written.org_id, written.specialist_id, evidence.query_sha, written.doc_id
FROM written
JOIN kb_evidence AS evidence USING (org_id, specialist_id, message_id)
WHERE evidence.search_event_id IS NULL
