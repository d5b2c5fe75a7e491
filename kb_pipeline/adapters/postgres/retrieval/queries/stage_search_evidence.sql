-- A citation says the document answers the expert's query; a click says a little, unless a citation in the same search
-- says it better. The query of a step is the one last asked before it in its search, else the first one after.
WITH step AS (
  SELECT DISTINCT ON (s.id)
    s.*,
    asked.query_sha AS asked_sha,
    coalesce(s.conversation_id, asked.conversation_id) AS thread_id,
    coalesce(s.message_id, asked.message_id) AS draft_id
  FROM stage_search AS s
  JOIN stage_search AS asked USING (org_id, specialist_id, search_id)
  WHERE s.event_type <> 'kb.search.performed'
    AND asked.event_type = 'kb.search.performed' AND asked.query_sha IS NOT NULL
  ORDER BY
    s.id, asked.occurred_at <= s.occurred_at DESC, abs(date_part('epoch', asked.occurred_at - s.occurred_at)), asked.id
)
INSERT INTO stage_evidence
SELECT DISTINCT ON (step.org_id, step.specialist_id, step.search_id, step.asked_sha, step.doc_id)
  step.org_id, step.specialist_id, step.asked_sha, step.doc_id, step.chunk_id,
  CASE step.event_type WHEN 'kb.citation.inserted' THEN 'cited' ELSE 'clicked' END,
  CASE step.event_type WHEN 'kb.citation.inserted' THEN %(cited)s ELSE %(clicked)s END,
  coalesce(step.thread_id, draft.conversation_id),
  NULL::uuid, step.draft_id, NULL::uuid, step.id, NULL::timestamptz, step.occurred_at,
  jsonb_strip_nulls(jsonb_build_object('rank', step.rank))
FROM step
LEFT JOIN kb_retrieval_event AS draft
  ON draft.message_id = step.draft_id AND draft.org_id = step.org_id AND draft.specialist_id = step.specialist_id
WHERE step.event_type = 'kb.citation.inserted'
   OR NOT EXISTS (
     SELECT FROM stage_search AS cited
     WHERE cited.org_id = step.org_id AND cited.specialist_id = step.specialist_id
       AND cited.search_id = step.search_id AND cited.doc_id = step.doc_id
       AND cited.event_type = 'kb.citation.inserted')
ORDER BY
  step.org_id, step.specialist_id, step.search_id, step.asked_sha, step.doc_id,
  step.event_type = 'kb.citation.inserted' DESC, step.occurred_at, step.id
