-- Turns of the window that two judge versions scored, with both scores and what each cost; the question tells the
-- language and stays where it is read, the preview is what may be shown.
SELECT
  a.event_id, a.ts, t.question, t.question_preview,
  a.faithfulness, b.faithfulness, a.answer_relevance, b.answer_relevance, a.context_relevance, b.context_relevance,
  coalesce(a.prompt_tokens, 0)::bigint + coalesce(a.completion_tokens, 0),
  coalesce(b.prompt_tokens, 0)::bigint + coalesce(b.completion_tokens, 0),
  coalesce(a.latency_ms, 0), coalesce(b.latency_ms, 0)
FROM rag_judge_score AS a
JOIN rag_judge_score AS b
  ON b.event_id = a.event_id AND b.judge_model = %(second_model)s AND b.prompt_version = %(second_prompt)s
LEFT JOIN rag_triad AS t ON t.event_id = a.event_id
WHERE a.ts >= %(window_start)s AND a.ts < %(window_end)s
  AND a.judge_model = %(first_model)s AND a.prompt_version = %(first_prompt)s
  AND a.status = 'ok' AND b.status = 'ok'
