-- One asking of the judge.
INSERT INTO rag_judge_canary (judge_model, prompt_version, asked_at, healthy, asked, right_verdicts, failures)
VALUES (
  %(judge_model)s, %(prompt_version)s, %(asked_at)s, %(healthy)s, %(asked)s, %(right_verdicts)s, %(failures)s)
