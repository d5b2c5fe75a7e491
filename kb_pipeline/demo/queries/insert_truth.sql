INSERT INTO upstream.planted_truth (
  event_id, ts, kind, verdict, parse_status, faithful, relevant, refused, had_context, passages, question_sha, streamed)
SELECT * FROM unnest(
  %(event_ids)s::text[], %(ts)s::timestamptz[], %(kinds)s::text[], %(verdicts)s::text[], %(parse_statuses)s::text[],
  %(faithful)s::boolean[], %(relevant)s::boolean[], %(refused)s::boolean[], %(had_context)s::boolean[],
  %(passages)s::integer[], %(question_shas)s::text[], %(streamed)s::boolean[])
ON CONFLICT (event_id) DO NOTHING
