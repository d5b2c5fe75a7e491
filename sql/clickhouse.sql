-- The copy of retrieval events in ClickHouse: keys, scores and hashes, no text. kb_pipeline runs this by itself; every
-- statement may run again. An event copied twice is one row: read with FINAL, or wait for a merge.
CREATE TABLE IF NOT EXISTS kb_retrieval_event (
  id              UUID,
  org_id          UUID,
  specialist_id   UUID,
  conversation_id UUID,
  message_id      Nullable(UUID),
  engine          LowCardinality(String),
  query_sha       String,
  top_k           Int32,
  result_count    Int32,
  latency_ms      Nullable(Int32),
  doc_ids         Array(String),
  scores          Array(Nullable(Float64)),
  used_in_final   Array(Nullable(Bool)),
  kb_version      LowCardinality(String),
  degraded        Bool,
  shadow          Bool,
  trace_id        String,
  occurred_at     DateTime64(6, 'UTC'),
  created_at      DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(occurred_at)
ORDER BY (org_id, specialist_id, occurred_at, id)
