-- Example upstream tables: what a gateway and a chat application typically keep. The demo and the tests fill them, and
-- sql/source_views.sql maps them to schema kb_source. Nothing in kb_pipeline reads schema upstream directly; an
-- operator does not need this file. Safe to run again.

CREATE SCHEMA IF NOT EXISTS upstream;
COMMENT ON SCHEMA upstream IS 'Example tables of other systems: a model gateway and a chat application with expert review.';

-- The gateway: one row per model call, and its bodies as compressed frames in a hash chain.

CREATE TABLE IF NOT EXISTS upstream.ai_calls (
  event_id     text PRIMARY KEY,
  trace_id     text,
  started_at   timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  tenant_id    text NOT NULL,
  surface      text NOT NULL,
  operation    text NOT NULL DEFAULT 'chat',
  engine       text NOT NULL DEFAULT '',
  model        text,
  http_status  integer
);
CREATE INDEX IF NOT EXISTS ai_calls_completed_at ON upstream.ai_calls (completed_at, event_id);
CREATE INDEX IF NOT EXISTS ai_calls_trace_id ON upstream.ai_calls (trace_id);
COMMENT ON TABLE upstream.ai_calls IS 'One audited call of a model through the gateway.';
COMMENT ON COLUMN upstream.ai_calls.completed_at IS 'When the answer was complete; null while the call runs.';
COMMENT ON COLUMN upstream.ai_calls.surface IS 'Where the user sat: public, staff or system.';
COMMENT ON COLUMN upstream.ai_calls.operation IS 'chat, search or embedding.';
COMMENT ON COLUMN upstream.ai_calls.engine IS 'The chatbot engine that made the call; empty when it does not say.';

CREATE TABLE IF NOT EXISTS upstream.ai_call_bodies (
  event_id      text PRIMARY KEY,
  request_body  bytea,
  response_body bytea,
  prev_hash     bytea NOT NULL CHECK (octet_length(prev_hash) = 32),
  body_hash     bytea NOT NULL CHECK (octet_length(body_hash) = 32),
  stored_at     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE upstream.ai_call_bodies IS 'Stored bodies, one zstd frame each. The row may arrive later than its call.';
COMMENT ON COLUMN upstream.ai_call_bodies.prev_hash IS 'body_hash of the body stored before this one; 32 zero bytes for the first.';
COMMENT ON COLUMN upstream.ai_call_bodies.body_hash IS 'sha256(prev_hash || event_id in UTF-8 || request_body || response_body) over the stored bytes, a missing body counting as none.';

-- The chat application: messages, the experts' queue and their corrections, its own audit log.

CREATE TABLE IF NOT EXISTS upstream.messages (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  conversation_id uuid NOT NULL,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  role            text NOT NULL CHECK (role IN ('client', 'draft', 'expert', 'system')),
  content         text NOT NULL,
  trace_id        text,
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS messages_conversation ON upstream.messages (conversation_id, created_at);
CREATE INDEX IF NOT EXISTS messages_created_at ON upstream.messages (created_at);
CREATE INDEX IF NOT EXISTS messages_trace_id ON upstream.messages (trace_id) WHERE trace_id IS NOT NULL;
COMMENT ON TABLE upstream.messages IS 'Messages of a conversation; a draft is what the agent proposes to an expert.';
COMMENT ON COLUMN upstream.messages.trace_id IS 'Trace of the model call that wrote the draft, as in ai_calls.';

CREATE TABLE IF NOT EXISTS upstream.expert_queue_items (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  message_id       uuid NOT NULL UNIQUE REFERENCES upstream.messages (id) ON DELETE CASCADE,
  status           text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'edited', 'rejected')),
  rejection_reason text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  opened_at        timestamptz,
  decided_at       timestamptz,
  updated_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS expert_queue_items_decided_at ON upstream.expert_queue_items (decided_at);
CREATE INDEX IF NOT EXISTS expert_queue_items_updated_at ON upstream.expert_queue_items (updated_at);
COMMENT ON TABLE upstream.expert_queue_items IS 'One draft that waits for an expert, or what became of it.';

CREATE TABLE IF NOT EXISTS upstream.corrections (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  message_id     uuid NOT NULL REFERENCES upstream.messages (id) ON DELETE CASCADE,
  expert_id      uuid,
  original_text  text NOT NULL,
  corrected_text text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS corrections_message ON upstream.corrections (message_id, created_at);
CREATE INDEX IF NOT EXISTS corrections_created_at ON upstream.corrections (created_at);
COMMENT ON TABLE upstream.corrections IS 'What an expert made of a draft.';

CREATE TABLE IF NOT EXISTS upstream.audit_log (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_type      text NOT NULL,
  message_id      uuid,
  conversation_id uuid,
  trace_id        text,
  payload         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(payload) = 'object'),
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS audit_log_type_created_at ON upstream.audit_log (event_type, created_at);
COMMENT ON TABLE upstream.audit_log IS 'The application''s own events, for example kb.retrieval.context_loaded.';
COMMENT ON COLUMN upstream.audit_log.payload IS 'For kb.retrieval.context_loaded: {"doc_ids": [text], "top_k": int, "query_hash": text}.';

-- The knowledge base, in versions: a chunk holds from valid_from until valid_to.

CREATE TABLE IF NOT EXISTS upstream.kb_chunks (
  chunk_id             text NOT NULL,
  doc_id               text NOT NULL,
  org_id               uuid NOT NULL,
  specialist_id        uuid NOT NULL,
  title                text,
  body                 text NOT NULL,
  valid_from           timestamptz NOT NULL DEFAULT now(),
  valid_to             timestamptz CHECK (valid_to > valid_from),
  source_correction_id uuid REFERENCES upstream.corrections (id) ON DELETE SET NULL,
  PRIMARY KEY (org_id, specialist_id, chunk_id, valid_from)
);
CREATE INDEX IF NOT EXISTS kb_chunks_document ON upstream.kb_chunks (org_id, specialist_id, doc_id);
COMMENT ON TABLE upstream.kb_chunks IS 'Chunks of knowledge-base documents per organisation and specialist.';
COMMENT ON COLUMN upstream.kb_chunks.source_correction_id IS 'The correction this chunk was written from, if any.';
