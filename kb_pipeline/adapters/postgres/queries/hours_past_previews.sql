-- Hours with question previews, or reasons of the judge, past preview_days.
SELECT DISTINCT date_trunc('hour', ts, 'UTC') AS hour
FROM rag_quality
WHERE ts < %(instant)s
  AND (question_preview IS NOT NULL
       OR faithfulness_reason <> 'expired' OR answer_relevance_reason <> 'expired' OR context_relevance_reason <> 'expired')
ORDER BY 1
