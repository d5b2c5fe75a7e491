-- Turns past quality_days leave; the ledger keeps its tombstones, or an erased turn would be graded again.
UPDATE rag_call SET erased_at = now()
WHERE ts >= %(window_start)s AND ts < %(window_end)s AND ts < %(instant)s AND verdict = 'synthesis' AND erased_at IS NULL
