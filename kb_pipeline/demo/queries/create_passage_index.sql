-- The index of the demo's two search engines, beside the example upstream tables.
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA upstream;
CREATE TABLE IF NOT EXISTS upstream.kb_passage_index (
  org_id        uuid NOT NULL,
  specialist_id uuid NOT NULL,
  chunk_id      text NOT NULL,
  doc_id        text NOT NULL,
  language      text NOT NULL CHECK (language IN ('id', 'en')),
  title         text NOT NULL,
  body          text NOT NULL,
  title_words   tsvector GENERATED ALWAYS AS (
    CASE language WHEN 'id' THEN to_tsvector('indonesian', title) ELSE to_tsvector('english', title) END) STORED,
  words         tsvector GENERATED ALWAYS AS (
    CASE language WHEN 'id' THEN to_tsvector('indonesian', body) ELSE to_tsvector('english', body) END) STORED,
  PRIMARY KEY (org_id, specialist_id, chunk_id)
);
COMMENT ON TABLE upstream.kb_passage_index IS 'Passages as the demo''s search engines see them, stemmed by language. Tenancy: Org x Specialist.';
