-- B, ground truth: what retrieval returned, joined with what the experts did about the drafts, beside our judgment.
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file ground_truth.sql
--        [--set since=… --set until=… --set org=… --set specialist=…]
--        [--set rows=50]
--
-- It reads the views of kb_source and our tables (kb_auditor, kb_grader); of queries it shows the redacted preview.
-- `accepted_first` is the naive positive: drafts sent as they were whose best result was this document. `suspect` are
-- heavy edits and rejections, which speak against the retrieval and not yet against any document of it. `status` and
-- `grade` are what the evidence comes to. Where accepted_first is high and the grade is not, experts sent drafts that
-- the document does not support, or that another document supports better.

\if :{?since} \else \set since -infinity
\endif
\if :{?until} \else \set until infinity
\endif
\if :{?org} \else \set org ''
\endif
\if :{?specialist} \else \set specialist ''
\endif
\if :{?rows} \else \set rows 50
\endif

WITH reviewed AS (
  SELECT
    event.org_id, event.specialist_id, event.query_sha, event.conversation_id, event.retrieved,
    -- The derived outcome where there is one; else the queue's own word, which cannot tell a light edit from a heavy one.
    coalesce(outcome.outcome, item.status) AS outcome
  FROM kb_retrieval_event AS event
  JOIN kb_source.message AS message
    ON message.message_id = event.message_id
    AND message.org_id = event.org_id AND message.specialist_id = event.specialist_id
  JOIN kb_source.expert_queue_item AS item ON item.message_id = event.message_id
  LEFT JOIN kb_draft_outcome AS outcome ON outcome.message_id = event.message_id
  WHERE NOT event.shadow
    AND event.query_sha IS NOT NULL
    AND item.decided_at >= :'since' AND item.decided_at < :'until'
    AND (:'org' = '' OR event.org_id = nullif(:'org', '')::uuid)
    AND (:'specialist' = '' OR event.specialist_id = nullif(:'specialist', '')::uuid)
), returned AS (
  SELECT
    reviewed.org_id, reviewed.specialist_id, reviewed.query_sha, reviewed.conversation_id, reviewed.outcome,
    hit ->> 'doc_id'                                     AS doc_id,
    min((hit ->> 'rank')::int)                           AS rank,
    bool_or((hit ->> 'used_in_final')::boolean)          AS used
  FROM reviewed
  CROSS JOIN LATERAL jsonb_array_elements(reviewed.retrieved) AS hit
  GROUP BY 1, 2, 3, 4, 5, 6
), counted AS (
  SELECT
    org_id, specialist_id, query_sha, doc_id,
    count(DISTINCT conversation_id)                                                            AS conversations,
    count(DISTINCT conversation_id) FILTER (WHERE outcome = 'accepted' AND rank = 1)           AS accepted_first,
    count(DISTINCT conversation_id) FILTER (WHERE outcome = 'accepted' AND used)               AS accepted_used,
    count(DISTINCT conversation_id) FILTER (WHERE outcome IN ('edited_heavy', 'rejected'))     AS suspect,
    min(rank)                                                                                  AS best_rank
  FROM returned
  GROUP BY org_id, specialist_id, query_sha, doc_id
)
SELECT
  counted.org_id,
  counted.specialist_id,
  coalesce(query.query_preview, left(counted.query_sha, 12)) AS query,
  counted.doc_id,
  counted.conversations,
  counted.best_rank,
  counted.accepted_first,
  counted.accepted_used,
  counted.suspect,
  truth.status,
  truth.grade,
  round(truth.p::numeric, 2) AS p,
  truth.kinds
FROM counted
LEFT JOIN kb_query AS query USING (org_id, specialist_id, query_sha)
LEFT JOIN kb_ground_truth AS truth USING (org_id, specialist_id, query_sha, doc_id)
ORDER BY counted.conversations DESC, counted.org_id, counted.specialist_id, counted.query_sha, counted.best_rank
LIMIT :rows;
