-- Where a published turn stands in the order of the least faithful first; no row without a score.
SELECT faithfulness, ts, event_id FROM rag_quality
WHERE event_id = %(event_id)s AND ts = %(ts)s AND faithfulness IS NOT NULL
