-- C, the proof: documents that experts cited from searches of their own, and where retrieval had them for the draft.
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file cited_documents.sql
--        [--set since=… --set until=… --set org=… --set specialist=…]
--
-- No text is compared here: an expert who cites a document says himself what the right information was. It reads the
-- view kb_source.kb_chunk and our tables (kb_auditor, kb_grader). `found` is where the retrieval of the draft had the
-- document; only what is `nowhere` is for the authors, and that is then a document made, or mapped, since.

\if :{?since} \else \set since -infinity
\endif
\if :{?until} \else \set until infinity
\endif
\if :{?org} \else \set org ''
\endif
\if :{?specialist} \else \set specialist ''
\endif

WITH cited AS (
  SELECT DISTINCT ON (search.message_id, search.doc_id)
    event.org_id, event.specialist_id, event.engine, event.conversation_id, event.occurred_at, search.doc_id,
    (SELECT min((hit ->> 'rank')::int) FROM jsonb_array_elements(event.retrieved) AS hit
     WHERE hit ->> 'doc_id' = search.doc_id) AS rank,
    (SELECT min((candidate ->> 'pre_rank')::int) FROM jsonb_array_elements(event.candidate_pool) AS candidate
     WHERE candidate ->> 'doc_id' = search.doc_id) AS pool_rank,
    (SELECT bool_or((hit ->> 'used_in_final')::boolean) FROM jsonb_array_elements(event.retrieved) AS hit
     WHERE hit ->> 'doc_id' = search.doc_id) AS used
  FROM kb_search_event AS search
  JOIN kb_retrieval_event AS event
    ON event.message_id = search.message_id
    AND event.org_id = search.org_id AND event.specialist_id = search.specialist_id
  WHERE search.event_type = 'kb.citation.inserted'
    AND NOT event.shadow
    AND search.occurred_at >= :'since' AND search.occurred_at < :'until'
    AND (:'org' = '' OR event.org_id = nullif(:'org', '')::uuid)
    AND (:'specialist' = '' OR event.specialist_id = nullif(:'specialist', '')::uuid)
  ORDER BY search.message_id, search.doc_id, search.occurred_at
), placed AS (
  SELECT
    cited.*,
    EXISTS (
      SELECT FROM kb_source.kb_chunk AS chunk
      WHERE chunk.org_id = cited.org_id AND chunk.specialist_id = cited.specialist_id AND chunk.doc_id = cited.doc_id
        AND chunk.valid_from <= cited.occurred_at
        AND (chunk.valid_to IS NULL OR chunk.valid_to > cited.occurred_at)) AS was_known
  FROM cited
)
SELECT
  org_id,
  specialist_id,
  engine,
  CASE
    WHEN used THEN 'retrieved and used'
    WHEN rank IS NOT NULL THEN 'retrieved, not used'
    WHEN pool_rank IS NOT NULL THEN 'in the candidate pool only'
    WHEN was_known THEN 'in the knowledge base only'
    ELSE 'nowhere'
  END AS found,
  CASE
    WHEN used THEN 'generation_gap'
    WHEN rank IS NOT NULL OR pool_rank IS NOT NULL THEN 'ranking_gap'
    WHEN was_known THEN 'recall_gap'
    ELSE 'kb_gap'
  END AS verdict,
  count(*)                                                     AS citations,
  count(DISTINCT conversation_id)                              AS conversations,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY rank)            AS rank_p50,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY pool_rank)       AS pool_rank_p50
FROM placed
GROUP BY org_id, specialist_id, engine, found, verdict
ORDER BY org_id, specialist_id, engine, citations DESC, found;
