-- First the triads, which whoever claims a turn locks: after this no new claim of a marked turn appears.
DELETE FROM rag_triad AS t
USING rag_call AS r
WHERE r.ts >= %(window_start)s AND r.ts < %(window_end)s AND r.erased_at IS NOT NULL AND t.event_id = r.event_id
