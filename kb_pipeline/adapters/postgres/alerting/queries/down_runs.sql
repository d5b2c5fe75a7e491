-- How many runs in a row found the judge down.
SELECT runs FROM rag_judge_outage WHERE judge_model = %(judge_model)s
