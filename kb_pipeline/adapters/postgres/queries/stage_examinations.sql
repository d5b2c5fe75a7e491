CREATE TEMPORARY TABLE IF NOT EXISTS stage_examination (
  event_id text, ts timestamptz, trace_id text, surface text, tenant text, operation text, engine text, model text,
  http_status integer, verdict text, parse_status text, evidence_intact boolean,
  question text, context text, passages jsonb, history jsonb, answer text, finish_reason text,
  question_sha text, question_preview text,
  had_context boolean, num_passages integer, top_score double precision, mean_score double precision,
  context_chars integer, answer_chars integer, refused boolean, answer_truncated boolean
) ON COMMIT DELETE ROWS
