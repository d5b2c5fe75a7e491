-- reviewed_drafts
-- The beginning of a statement: each candidate with the expert's decision, the retrieval that served it, what the expert
-- cited and what was asked next in its conversation, as the source shows them now. Filled in are the queue and the
-- corrections, which are the operator's views or, where he has none, empty stand-ins, and who is a candidate.
--
-- decided_at: the queue's own instant; where it has none, the newest correction's, else the last change of the row. A
-- status other than accepted or rejected decides nothing without a correction. Never before the draft was made.
-- source_state: a digest of everything that an outcome or its evidence is made of.
WITH queue AS NOT MATERIALIZED ({queue}),
correction AS NOT MATERIALIZED ({corrections}),
candidate AS ({candidates}),
reviewed AS (
  SELECT
    m.message_id,
    m.org_id,
    m.specialist_id,
    m.conversation_id,
    coalesce(m.trace_id, e.trace_id) AS trace_id,
    m.created_at AS drafted_at,
    coalesce(oldest.original_text, m.content, '') AS draft,
    q.status,
    q.rejection_reason,
    q.opened_at,
    decision.decided_at,
    newest.correction_id,
    newest.corrected_text AS final,
    e.id AS event_id,
    e.engine,
    e.query,
    e.top_k,
    e.result_count,
    e.latency_ms,
    e.retrieved,
    e.occurred_at,
    e.query_rewritten,
    e.candidate_pool,
    e.kb_version,
    e.degraded,
    e.trace_id AS event_trace_id,
    e.conversation_id AS event_conversation_id,
    coalesce(cited.doc_ids, ARRAY[]::text[]) AS cited,
    coalesce(later.queries, ARRAY[]::text[]) AS later_queries,
    encode(sha256(convert_to(jsonb_build_array(
      m.org_id, m.specialist_id, m.conversation_id, coalesce(m.trace_id, e.trace_id), m.created_at,
      encode(sha256(convert_to(coalesce(oldest.original_text, m.content, ''), 'UTF8')), 'hex'),
      q.status, q.rejection_reason, q.opened_at, decision.decided_at,
      newest.correction_id, encode(sha256(convert_to(newest.corrected_text, 'UTF8')), 'hex'),
      e.id, cited.doc_ids, later.count
    )::text, 'UTF8')), 'hex') AS source_state
  FROM candidate
  JOIN kb_source.message AS m ON m.message_id = candidate.message_id AND m.role = 'draft'
  LEFT JOIN LATERAL (
    SELECT queue.* FROM queue
    WHERE queue.message_id = m.message_id
    ORDER BY queue.updated_at DESC NULLS LAST
    LIMIT 1
  ) AS q ON true
  LEFT JOIN LATERAL (
    SELECT correction.* FROM correction
    WHERE correction.message_id = m.message_id AND correction.corrected_text IS NOT NULL
    ORDER BY correction.created_at DESC NULLS LAST, correction.correction_id DESC
    LIMIT 1
  ) AS newest ON true
  LEFT JOIN LATERAL (
    SELECT correction.original_text FROM correction
    WHERE correction.message_id = m.message_id AND correction.original_text ~ '\S'
    ORDER BY correction.created_at, correction.correction_id
    LIMIT 1
  ) AS oldest ON newest.correction_id IS NOT NULL
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN lower(btrim(q.status)) IN ('accepted', 'rejected') OR newest.correction_id IS NOT NULL THEN
        greatest(m.created_at, coalesce(q.decided_at, newest.created_at, q.updated_at, m.created_at))
    END AS decided_at
  ) AS decision
  LEFT JOIN kb_retrieval_event AS e
    ON e.message_id = m.message_id AND e.org_id = m.org_id AND e.specialist_id = m.specialist_id AND NOT e.shadow
  LEFT JOIN LATERAL (
    SELECT array_agg(step.doc_id ORDER BY step.first_at, step.doc_id) AS doc_ids
    FROM (
      SELECT s.doc_id, min(s.occurred_at) AS first_at
      FROM (
        SELECT doc_id, occurred_at FROM kb_search_event
        WHERE message_id = m.message_id AND event_type = 'kb.citation.inserted'
          AND org_id = m.org_id AND specialist_id = m.specialist_id
        UNION ALL
        SELECT doc_id, occurred_at FROM kb_search_event
        WHERE message_id IS NULL AND conversation_id = m.conversation_id AND event_type = 'kb.citation.inserted'
          AND org_id = m.org_id AND specialist_id = m.specialist_id
          AND occurred_at >= m.created_at AND occurred_at <= decision.decided_at
      ) AS s
      GROUP BY s.doc_id
    ) AS step
  ) AS cited ON true
  LEFT JOIN LATERAL (
    SELECT
      array_agg(n.query ORDER BY n.occurred_at, n.id) FILTER (WHERE n.query <> '') AS queries,
      count(*) AS count
    FROM (
      SELECT id, query, occurred_at FROM kb_retrieval_event
      WHERE conversation_id = m.conversation_id AND org_id = m.org_id AND specialist_id = m.specialist_id
        AND NOT shadow AND id IS DISTINCT FROM e.id
        AND occurred_at > coalesce(e.occurred_at, m.created_at)
        AND occurred_at <= coalesce(e.occurred_at, m.created_at) + interval '24 hours'
      ORDER BY occurred_at, id
      LIMIT 20
    ) AS n
  ) AS later ON true
  WHERE m.org_id IS NOT NULL AND m.specialist_id IS NOT NULL AND m.conversation_id IS NOT NULL
    AND m.created_at IS NOT NULL
)
