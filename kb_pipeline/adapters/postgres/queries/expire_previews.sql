-- Previews and the judge's reasons go together: a reason may quote the turn. A missing score keeps that it has a reason.
WITH triad AS (
  UPDATE rag_triad SET question_preview = NULL WHERE ts < %(before)s AND question_preview IS NOT NULL
), score AS (
  UPDATE rag_judge_score SET
    faithfulness_reason = CASE WHEN status = 'ok' AND faithfulness IS NULL THEN 'expired' END,
    answer_relevance_reason = CASE WHEN status = 'ok' AND answer_relevance IS NULL THEN 'expired' END,
    context_relevance_reason = CASE WHEN status = 'ok' AND context_relevance IS NULL THEN 'expired' END
  WHERE ts < %(before)s
    AND (faithfulness_reason <> 'expired' OR answer_relevance_reason <> 'expired' OR context_relevance_reason <> 'expired')
)
UPDATE rag_quality SET
  question_preview = NULL,
  faithfulness_reason = CASE WHEN judge_status = 'ok' AND faithfulness IS NULL THEN 'expired' END,
  answer_relevance_reason = CASE WHEN judge_status = 'ok' AND answer_relevance IS NULL THEN 'expired' END,
  context_relevance_reason = CASE WHEN judge_status = 'ok' AND context_relevance IS NULL THEN 'expired' END
WHERE ts < %(before)s
  AND (question_preview IS NOT NULL
       OR faithfulness_reason <> 'expired' OR answer_relevance_reason <> 'expired' OR context_relevance_reason <> 'expired')
