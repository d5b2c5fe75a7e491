-- Per planted kind: what was planted, what was found, and where the two agree. Null facts are not compared.
-- A call waits while its body has not arrived; a turn left out by the sample rate has no status to compare.
SELECT
  t.kind,
  count(*) AS planted,
  count(*) FILTER (WHERE c.event_id IS NULL AND b.event_id IS NULL) AS waiting,
  count(*) FILTER (WHERE c.event_id IS NULL AND b.event_id IS NOT NULL) AS missing,
  count(c.event_id) AS examined,
  count(c.event_id) FILTER (WHERE c.verdict = t.verdict OR (t.verdict = 'synthesis' AND c.verdict = 'sampled_out')) AS verdict_agrees,
  count(*) FILTER (
    WHERE t.parse_status IS NOT NULL AND b.event_id IS NOT NULL AND c.verdict IS DISTINCT FROM 'sampled_out') AS status_compared,
  count(*) FILTER (WHERE c.parse_status = t.parse_status) AS status_agrees,
  count(q.event_id) FILTER (WHERE t.verdict <> 'synthesis') AS wrongly_published,
  count(q.event_id) FILTER (WHERE q.judge_status = 'ok') AS graded,
  count(q.event_id) FILTER (WHERE t.refused IS NOT NULL) AS refused_compared,
  count(q.event_id) FILTER (WHERE q.refused = t.refused) AS refused_agrees,
  count(q.event_id) FILTER (WHERE t.had_context IS NOT NULL) AS context_compared,
  count(q.event_id) FILTER (WHERE q.had_context = t.had_context AND q.num_passages IS NOT DISTINCT FROM t.passages) AS context_agrees,
  count(q.event_id) FILTER (WHERE t.question_sha IS NOT NULL AND q.question_sha IS NOT NULL) AS question_compared,
  count(q.event_id) FILTER (WHERE q.question_sha = t.question_sha) AS question_agrees,
  count(*) FILTER (WHERE NOT t.faithful) AS unfaithful,
  avg(q.faithfulness) AS mean_faithfulness,
  avg(q.answer_relevance) AS mean_answer_relevance
FROM upstream.planted_truth AS t
LEFT JOIN upstream.ai_call_bodies AS b USING (event_id)
LEFT JOIN rag_call AS c USING (event_id)
LEFT JOIN rag_quality AS q ON q.event_id = t.event_id AND q.ts = t.ts
WHERE t.ts >= %(window_start)s AND t.ts < %(window_end)s
GROUP BY t.kind
ORDER BY t.kind
