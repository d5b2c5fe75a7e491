-- save_outcome
-- Adds or changes one outcome; a row that would not change is not touched. What was found rephrased stays so once the
-- words that showed it have expired.
INSERT INTO kb_draft_outcome AS known (
  message_id, org_id, specialist_id, conversation_id, event_id, trace_id, correction_id, outcome, drafted_at, decided_at,
  decision_s, kept_sentences, new_sentences, removed_sentences, similarity, wrong_source, suspect, rephrased,
  source_state, rule_version)
SELECT
  %(message_id)s, %(org_id)s, %(specialist_id)s, %(conversation_id)s, %(event_id)s, %(trace_id)s, %(correction_id)s,
  %(outcome)s, %(drafted_at)s, %(decided_at)s, %(decision_s)s, %(kept)s, %(new)s, %(removed)s, %(similarity)s,
  %(wrong_source)s, %(suspect)s,
  %(rephrased)s OR (%(outcome)s NOT IN ('accepted', 'edited_light') AND EXISTS (
    SELECT FROM kb_draft_outcome AS o
    JOIN kb_retrieval_event AS e ON e.id = o.event_id
    WHERE o.message_id = %(message_id)s AND o.rephrased AND o.event_id = %(event_id)s AND e.text_expired_at IS NOT NULL)),
  %(source_state)s, %(rule_version)s
ON CONFLICT (message_id) DO UPDATE SET
  org_id            = excluded.org_id,
  specialist_id     = excluded.specialist_id,
  conversation_id   = excluded.conversation_id,
  event_id          = excluded.event_id,
  trace_id          = excluded.trace_id,
  correction_id     = excluded.correction_id,
  outcome           = excluded.outcome,
  drafted_at        = excluded.drafted_at,
  decided_at        = excluded.decided_at,
  decision_s        = excluded.decision_s,
  kept_sentences    = excluded.kept_sentences,
  new_sentences     = excluded.new_sentences,
  removed_sentences = excluded.removed_sentences,
  similarity        = excluded.similarity,
  wrong_source      = excluded.wrong_source,
  suspect           = excluded.suspect,
  rephrased         = excluded.rephrased,
  source_state      = excluded.source_state,
  rule_version      = excluded.rule_version,
  updated_at        = now()
WHERE (
  known.org_id, known.specialist_id, known.conversation_id, known.event_id, known.trace_id, known.correction_id,
  known.outcome, known.drafted_at, known.decided_at, known.decision_s, known.kept_sentences, known.new_sentences,
  known.removed_sentences, known.similarity, known.wrong_source, known.suspect, known.rephrased, known.source_state,
  known.rule_version
) IS DISTINCT FROM (
  excluded.org_id, excluded.specialist_id, excluded.conversation_id, excluded.event_id, excluded.trace_id,
  excluded.correction_id, excluded.outcome, excluded.drafted_at, excluded.decided_at, excluded.decision_s,
  excluded.kept_sentences, excluded.new_sentences, excluded.removed_sentences, excluded.similarity,
  excluded.wrong_source, excluded.suspect, excluded.rephrased, excluded.source_state, excluded.rule_version)
