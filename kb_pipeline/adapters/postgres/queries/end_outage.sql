DELETE FROM rag_judge_outage WHERE judge_model = %(judge_model)s
