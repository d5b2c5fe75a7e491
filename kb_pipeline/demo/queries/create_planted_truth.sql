-- What the demo knows because it planted it, beside the example upstream tables.
CREATE TABLE IF NOT EXISTS upstream.planted_truth (
  event_id     text PRIMARY KEY,
  ts           timestamptz NOT NULL,
  kind         text NOT NULL,
  verdict      text NOT NULL,
  parse_status text,
  faithful     boolean,
  relevant     boolean,
  refused      boolean,
  had_context  boolean,
  passages     integer,
  question_sha text,
  streamed     boolean NOT NULL
);
CREATE INDEX IF NOT EXISTS planted_truth_ts ON upstream.planted_truth (ts);
COMMENT ON TABLE upstream.planted_truth IS 'What the demo''s generator knows of each call it planted; the pipeline never reads it.';
COMMENT ON COLUMN upstream.planted_truth.faithful IS 'Whether every claim of the answer stands in the retrieved passages; null where that is undefined.';
COMMENT ON COLUMN upstream.planted_truth.parse_status IS 'What a flawless reader says of a turn; null for a call that is none.';
