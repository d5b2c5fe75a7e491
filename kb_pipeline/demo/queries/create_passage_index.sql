-- The index of the demo's search engine, beside the example upstream tables.
CREATE TABLE IF NOT EXISTS upstream.kb_passage_index (
  chunk_id text PRIMARY KEY,
  doc_id   text NOT NULL,
  language text NOT NULL CHECK (language IN ('id', 'en')),
  body     text NOT NULL,
  words    tsvector GENERATED ALWAYS AS (
    CASE language WHEN 'id' THEN to_tsvector('indonesian', body) ELSE to_tsvector('english', body) END) STORED
);
CREATE INDEX IF NOT EXISTS kb_passage_index_words ON upstream.kb_passage_index USING gin (words);
COMMENT ON TABLE upstream.kb_passage_index IS 'Full-text index of the demo''s search engine, stemmed by language.';
