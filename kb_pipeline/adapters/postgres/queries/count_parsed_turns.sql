-- How many turns of one surface were parsed in a window, by the ledger.
SELECT count(*)
FROM rag_call
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND surface = %(surface)s AND verdict = 'synthesis'
  AND parse_status NOT IN ('context_fallback', 'no_question', 'truncated_prompt')
