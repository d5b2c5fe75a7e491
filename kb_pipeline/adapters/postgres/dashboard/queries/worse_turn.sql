-- The turn of a window that stands before a place in the order of the least faithful first.
SELECT event_id FROM rag_quality
WHERE faithfulness <= %(score)s AND ts >= %(window_start)s AND ts < %(window_end)s
  AND (faithfulness < %(score)s OR ts > %(ts)s OR (ts = %(ts)s AND event_id < %(event_id)s))
ORDER BY faithfulness DESC, ts, event_id DESC
LIMIT 1
