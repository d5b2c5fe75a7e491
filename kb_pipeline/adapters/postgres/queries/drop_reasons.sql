-- Published previews and the judge's reasons follow the turns' own previews: a reason may quote the turn. A missing score
-- keeps that it has a reason.
WITH bare AS (
  SELECT event_id FROM rag_triad
  WHERE ts >= %(window_start)s AND ts < %(window_end)s AND question_preview IS NULL
    AND (text_expired_at IS NOT NULL OR ts < %(instant)s)
), score AS (
  UPDATE rag_judge_score AS s SET
    faithfulness_reason = CASE WHEN status = 'ok' AND faithfulness IS NULL THEN 'expired' END,
    answer_relevance_reason = CASE WHEN status = 'ok' AND answer_relevance IS NULL THEN 'expired' END,
    context_relevance_reason = CASE WHEN status = 'ok' AND context_relevance IS NULL THEN 'expired' END
  FROM bare
  WHERE s.event_id = bare.event_id
    AND (faithfulness_reason <> 'expired' OR answer_relevance_reason <> 'expired' OR context_relevance_reason <> 'expired')
)
UPDATE rag_quality AS q SET
  question_preview = NULL,
  faithfulness_reason = CASE WHEN judge_status = 'ok' AND faithfulness IS NULL THEN 'expired' END,
  answer_relevance_reason = CASE WHEN judge_status = 'ok' AND answer_relevance IS NULL THEN 'expired' END,
  context_relevance_reason = CASE WHEN judge_status = 'ok' AND context_relevance IS NULL THEN 'expired' END
FROM bare
WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s AND q.event_id = bare.event_id
  AND (question_preview IS NOT NULL
       OR faithfulness_reason <> 'expired' OR answer_relevance_reason <> 'expired' OR context_relevance_reason <> 'expired')
