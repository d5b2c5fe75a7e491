-- Published turns of a window for human eyes: first those on which judge and second opinion disagree strongly, the
-- strongest first, then the least faithful. Previews and reasons, no text of a turn.
SELECT
  q.event_id, q.ts, q.tenant, q.surface, q.engine, q.question_preview,
  q.faithfulness, q.answer_relevance, q.context_relevance, q.support_score, q.disagreement,
  coalesce(q.disagreement >= %(strong)s, false) AS disagrees,
  ARRAY(SELECT jsonb_array_elements_text(m.opinion -> 'flags')) AS doubted,
  q.faithfulness_reason
FROM (
  (SELECT * FROM rag_quality
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND disagreement >= %(strong)s
     AND (%(surface)s::text IS NULL OR surface = %(surface)s)
   ORDER BY disagreement DESC, ts DESC, event_id
   LIMIT %(limit)s)
  UNION ALL
  (SELECT * FROM rag_quality
   WHERE ts >= %(window_start)s AND ts < %(window_end)s AND disagreement >= %(strong)s IS NOT TRUE
     AND faithfulness IS NOT NULL AND (%(surface)s::text IS NULL OR surface = %(surface)s)
   ORDER BY faithfulness, ts DESC, event_id
   LIMIT %(limit)s)
) AS q
LEFT JOIN rag_metric AS m USING (event_id)
ORDER BY disagrees DESC, CASE WHEN q.disagreement >= %(strong)s THEN -q.disagreement ELSE q.faithfulness END, q.ts DESC, q.event_id
LIMIT %(limit)s
