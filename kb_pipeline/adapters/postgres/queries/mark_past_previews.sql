-- Previews go with the turns' own; drop_reasons.sql does the rest.
UPDATE rag_triad AS t SET question_preview = NULL
FROM rag_quality AS q
WHERE q.ts >= %(window_start)s AND q.ts < %(window_end)s AND q.ts < %(instant)s
  AND t.event_id = q.event_id
  AND (q.question_preview IS NOT NULL
       OR q.faithfulness_reason <> 'expired' OR q.answer_relevance_reason <> 'expired'
       OR q.context_relevance_reason <> 'expired')
