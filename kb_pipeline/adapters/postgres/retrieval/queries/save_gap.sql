-- save_gap
-- Adds or changes one diagnosis; a row that would not change is not touched. Its subject stays as long as what it was
-- named by does. A draft that was forgotten meanwhile has no outcome any more, and gets no diagnosis back.
INSERT INTO kb_retrieval_gap AS known (
  message_id, org_id, specialist_id, conversation_id, event_id, correction_id, query_sha, engine, kind, is_deep,
  decided_at, support, doc_id, chunk_id, rank, pool_rank, statements, source_state, rule_version)
SELECT
  %(message_id)s, %(org_id)s, %(specialist_id)s, %(conversation_id)s, %(event_id)s, %(correction_id)s, %(query_sha)s,
  %(engine)s, %(kind)s, %(is_deep)s, %(decided_at)s, %(support)s, %(doc_id)s, %(chunk_id)s, %(rank)s, %(pool_rank)s,
  %(statements)s, %(source_state)s, %(rule_version)s
WHERE EXISTS (SELECT FROM kb_draft_outcome AS o WHERE o.message_id = %(message_id)s)
ON CONFLICT (message_id) DO UPDATE SET
  org_id          = excluded.org_id,
  specialist_id   = excluded.specialist_id,
  conversation_id = excluded.conversation_id,
  event_id        = excluded.event_id,
  correction_id   = excluded.correction_id,
  query_sha       = excluded.query_sha,
  engine          = excluded.engine,
  kind            = excluded.kind,
  is_deep         = excluded.is_deep,
  decided_at      = excluded.decided_at,
  support         = excluded.support,
  doc_id          = excluded.doc_id,
  chunk_id        = excluded.chunk_id,
  rank            = excluded.rank,
  pool_rank       = excluded.pool_rank,
  statements      = excluded.statements,
  source_state    = excluded.source_state,
  rule_version    = excluded.rule_version,
  subject         = CASE
    WHEN (known.org_id, known.specialist_id, known.kind, known.doc_id, known.query_sha)
      IS NOT DISTINCT FROM (excluded.org_id, excluded.specialist_id, excluded.kind, excluded.doc_id, excluded.query_sha)
    THEN known.subject END,
  updated_at      = now()
WHERE (
  known.org_id, known.specialist_id, known.conversation_id, known.event_id, known.correction_id, known.query_sha,
  known.engine, known.kind, known.is_deep, known.decided_at, known.support, known.doc_id, known.chunk_id, known.rank,
  known.pool_rank, known.statements, known.source_state, known.rule_version
) IS DISTINCT FROM (
  excluded.org_id, excluded.specialist_id, excluded.conversation_id, excluded.event_id, excluded.correction_id,
  excluded.query_sha, excluded.engine, excluded.kind, excluded.is_deep, excluded.decided_at, excluded.support,
  excluded.doc_id, excluded.chunk_id, excluded.rank, excluded.pool_rank, excluded.statements, excluded.source_state,
  excluded.rule_version)
