SELECT
  -- What Great Expectations reads: the published rows of one hour, each with the facts that a rule about two columns
  -- needs. The file begins with SELECT because Great Expectations asks for that. It goes through SQLAlchemy as text, so
  -- no percent sign stands in it, and no colon alone before a word.
  q.*,
  c.ts AS ledger_ts,
  CASE
    WHEN c.event_id IS NULL THEN 'absent'
    WHEN c.erased_at IS NOT NULL THEN 'erased'
    ELSE c.verdict
  END AS ledger_verdict,
  num_nonnulls(q.faithfulness, q.answer_relevance, q.context_relevance) AS scores,
  (q.faithfulness IS NULL AND coalesce(q.faithfulness_reason, '') = '')::integer
    + (q.answer_relevance IS NULL AND coalesce(q.answer_relevance_reason, '') = '')::integer
    + (q.context_relevance IS NULL AND coalesce(q.context_relevance_reason, '') = '')::integer AS unexplained_gaps
FROM rag_quality AS q
LEFT JOIN rag_call AS c ON c.event_id = q.event_id
WHERE q.ts >= {window_start} AND q.ts < {window_end}
