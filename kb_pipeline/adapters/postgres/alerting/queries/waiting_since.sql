-- Since when the turn waits that has waited longest for the judge: from its publication on, were it older itself.
SELECT min(greatest(ts, created_at)) FROM rag_quality WHERE judge_status IN ('pending', 'error') AND ts <= %(now)s
