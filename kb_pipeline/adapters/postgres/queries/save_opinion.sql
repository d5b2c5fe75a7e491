UPDATE rag_metric
SET opinion = %(opinion)s, opinion_version = %(version)s, support_score = %(support_score)s
WHERE event_id = %(event_id)s
