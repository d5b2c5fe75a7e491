-- The map from your tables to what kb_pipeline reads. Edit the SELECTs; keep names, order and types of the columns.
-- As it stands this file maps the example tables of sql/source_example.sql.
--
--   psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file source_views.sql
--   kb-pipeline check
--
-- kb_pipeline only ever SELECTs from schema kb_source. A view runs with the rights of the role that creates it, so that
-- role needs SELECT on your tables and kb_pipeline's roles do not. Grading requires `ai_call` and `ai_call_body`; each of
-- the others, and these two where retrieval runs alone, may be left out (drop its block), and `kb-pipeline check` says
-- what does without it.
-- docs/how-to/map-your-tables.md goes through it view by view.

CREATE SCHEMA IF NOT EXISTS kb_source;
COMMENT ON SCHEMA kb_source IS 'Views that map the operator''s tables; kb_pipeline only selects from them.';

-- Required by grading: the audited calls of the gateway. Only completed calls: ts never changes afterwards. Keep ts a
-- bare, indexed column of your table: every run asks for one hour of it.

DROP VIEW IF EXISTS kb_source.ai_call;
CREATE VIEW kb_source.ai_call AS
SELECT
  call.event_id,
  call.trace_id,
  call.completed_at AS ts,
  call.surface,
  call.tenant_id    AS tenant,
  call.operation,
  call.engine,
  call.model,
  call.http_status
FROM upstream.ai_calls AS call
WHERE call.completed_at IS NOT NULL;
COMMENT ON VIEW kb_source.ai_call IS 'One row per completed, audited model call.';
COMMENT ON COLUMN kb_source.ai_call.event_id IS 'text, unique, never reused, at most 1000 bytes (a call with a longer one is not seen): the key of a turn everywhere in kb_pipeline.';
COMMENT ON COLUMN kb_source.ai_call.trace_id IS 'text or null: the same trace as in message.trace_id and audit_log.trace_id.';
COMMENT ON COLUMN kb_source.ai_call.ts IS 'timestamptz: when the call completed.';
COMMENT ON COLUMN kb_source.ai_call.surface IS 'text: a name under rag_quality.surfaces of kb_pipeline.yaml, for example public.';
COMMENT ON COLUMN kb_source.ai_call.tenant IS 'text: who called the gateway; calls of rag_quality.judge_tenant are never graded.';
COMMENT ON COLUMN kb_source.ai_call.operation IS 'text or null: what the gateway calls the kind of call, for example chat.';
COMMENT ON COLUMN kb_source.ai_call.engine IS 'text: the chatbot engine, a dimension of every window; empty when there is one only.';
COMMENT ON COLUMN kb_source.ai_call.model IS 'text or null: the model that answered.';
COMMENT ON COLUMN kb_source.ai_call.http_status IS 'integer or null: the status the caller saw.';

-- Required by grading: the stored bodies. A call whose body has not arrived is examined when it does.

DROP VIEW IF EXISTS kb_source.ai_call_body;
CREATE VIEW kb_source.ai_call_body AS
SELECT
  body.event_id,
  body.request_body,
  body.response_body,
  body.prev_hash,
  body.body_hash
FROM upstream.ai_call_bodies AS body;
COMMENT ON VIEW kb_source.ai_call_body IS 'At most one row per call: the stored bytes of its request and response.';
COMMENT ON COLUMN kb_source.ai_call_body.event_id IS 'text: as in ai_call.';
COMMENT ON COLUMN kb_source.ai_call_body.request_body IS 'bytea or null: zstd frames, gzip, zlib or plain JSON, as stored.';
COMMENT ON COLUMN kb_source.ai_call_body.response_body IS 'bytea or null: likewise; a stream may be stored as it was sent.';
COMMENT ON COLUMN kb_source.ai_call_body.prev_hash IS 'bytea or null: hash of the body before; write NULL::bytea where your trail has no chain, and the chain is not checked.';
COMMENT ON COLUMN kb_source.ai_call_body.body_hash IS 'bytea or null: sha256(prev_hash || event_id || request_body || response_body) over the stored bytes.';

-- Optional: the application's audit log. It tells how many retrievals there should be.

DROP VIEW IF EXISTS kb_source.audit_log;
CREATE VIEW kb_source.audit_log AS
SELECT
  entry.event_type,
  entry.message_id,
  entry.conversation_id,
  entry.trace_id,
  entry.payload ->> 'query_hash' AS query_hash,
  CASE WHEN jsonb_typeof(entry.payload -> 'doc_ids') = 'array'
       THEN ARRAY(SELECT jsonb_array_elements_text(entry.payload -> 'doc_ids'))
  END AS doc_ids,
  entry.created_at
FROM upstream.audit_log AS entry;
COMMENT ON VIEW kb_source.audit_log IS 'Optional. Events the application recorded itself.';
COMMENT ON COLUMN kb_source.audit_log.event_type IS 'text: for example kb.retrieval.context_loaded.';
COMMENT ON COLUMN kb_source.audit_log.message_id IS 'uuid or null: the draft the event belongs to.';
COMMENT ON COLUMN kb_source.audit_log.conversation_id IS 'uuid or null.';
COMMENT ON COLUMN kb_source.audit_log.trace_id IS 'text or null: as in ai_call.';
COMMENT ON COLUMN kb_source.audit_log.query_hash IS 'text or null: the application''s hash of the retrieval query.';
COMMENT ON COLUMN kb_source.audit_log.doc_ids IS 'text[] or null: the documents that were loaded, best first.';
COMMENT ON COLUMN kb_source.audit_log.created_at IS 'timestamptz.';

-- Optional: messages, so that a draft's retrieval can be joined with what the expert did about it.

DROP VIEW IF EXISTS kb_source.message;
CREATE VIEW kb_source.message AS
SELECT
  message.id AS message_id,
  message.conversation_id,
  message.org_id,
  message.specialist_id,
  message.role,
  message.content,
  message.trace_id,
  message.created_at
FROM upstream.messages AS message;
COMMENT ON VIEW kb_source.message IS 'Optional. Messages of all conversations, drafts included; tenancy is org_id x specialist_id.';
COMMENT ON COLUMN kb_source.message.message_id IS 'uuid, unique.';
COMMENT ON COLUMN kb_source.message.conversation_id IS 'uuid.';
COMMENT ON COLUMN kb_source.message.org_id IS 'uuid: organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_source.message.specialist_id IS 'uuid: specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_source.message.role IS 'text: client, draft, expert or system.';
COMMENT ON COLUMN kb_source.message.content IS 'text: what the message says.';
COMMENT ON COLUMN kb_source.message.trace_id IS 'text or null: trace of the model call that wrote the draft, as in ai_call.';
COMMENT ON COLUMN kb_source.message.created_at IS 'timestamptz.';

-- Optional: the experts' queue.

DROP VIEW IF EXISTS kb_source.expert_queue_item;
CREATE VIEW kb_source.expert_queue_item AS
SELECT
  item.message_id,
  item.status,
  item.rejection_reason,
  item.opened_at,
  item.decided_at,
  item.updated_at
FROM upstream.expert_queue_items AS item;
COMMENT ON VIEW kb_source.expert_queue_item IS 'Optional. At most one row per draft: whether an expert decided, and how.';
COMMENT ON COLUMN kb_source.expert_queue_item.message_id IS 'uuid: the draft, as in message.';
COMMENT ON COLUMN kb_source.expert_queue_item.status IS 'text: pending, accepted, edited or rejected.';
COMMENT ON COLUMN kb_source.expert_queue_item.rejection_reason IS 'text or null.';
COMMENT ON COLUMN kb_source.expert_queue_item.opened_at IS 'timestamptz or null: when the expert opened the draft; a decision within two seconds of it counts as unreviewed.';
COMMENT ON COLUMN kb_source.expert_queue_item.decided_at IS 'timestamptz or null while pending.';
COMMENT ON COLUMN kb_source.expert_queue_item.updated_at IS 'timestamptz: last change of the row.';

-- Optional: corrections.

DROP VIEW IF EXISTS kb_source.correction;
CREATE VIEW kb_source.correction AS
SELECT
  correction.id AS correction_id,
  correction.message_id,
  correction.expert_id,
  correction.original_text,
  correction.corrected_text,
  correction.created_at
FROM upstream.corrections AS correction;
COMMENT ON VIEW kb_source.correction IS 'Optional. What experts made of drafts; several rows of one draft are allowed, the newest counts.';
COMMENT ON COLUMN kb_source.correction.correction_id IS 'uuid, unique.';
COMMENT ON COLUMN kb_source.correction.message_id IS 'uuid: the draft, as in message.';
COMMENT ON COLUMN kb_source.correction.expert_id IS 'uuid or null.';
COMMENT ON COLUMN kb_source.correction.original_text IS 'text: the draft as the expert saw it.';
COMMENT ON COLUMN kb_source.correction.corrected_text IS 'text: what was sent instead.';
COMMENT ON COLUMN kb_source.correction.created_at IS 'timestamptz.';

-- Optional: the knowledge base with its history, for support scores and the diagnosis of gaps.

DROP VIEW IF EXISTS kb_source.kb_chunk;
CREATE VIEW kb_source.kb_chunk AS
SELECT
  chunk.org_id,
  chunk.specialist_id,
  chunk.doc_id,
  chunk.chunk_id,
  chunk.title,
  chunk.body AS text,
  chunk.valid_from,
  chunk.valid_to,
  chunk.source_correction_id
FROM upstream.kb_chunks AS chunk;
COMMENT ON VIEW kb_source.kb_chunk IS 'Optional. Chunks of the knowledge base per organisation and specialist, old versions included.';
COMMENT ON COLUMN kb_source.kb_chunk.org_id IS 'uuid: organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_source.kb_chunk.specialist_id IS 'uuid: specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_source.kb_chunk.doc_id IS 'text: as in the retrieval events.';
COMMENT ON COLUMN kb_source.kb_chunk.chunk_id IS 'text: as in the retrieval events; unique within the tenant, other versions of the chunk aside, so that no two documents share one.';
COMMENT ON COLUMN kb_source.kb_chunk.title IS 'text or null.';
COMMENT ON COLUMN kb_source.kb_chunk.text IS 'text: the words of the chunk.';
COMMENT ON COLUMN kb_source.kb_chunk.valid_from IS 'timestamptz: from when on the chunk could be retrieved.';
COMMENT ON COLUMN kb_source.kb_chunk.valid_to IS 'timestamptz or null: until when; null for the version in force.';
COMMENT ON COLUMN kb_source.kb_chunk.source_correction_id IS 'uuid or null: the correction this chunk was written from; it is left out where its own query is tested.';

-- A view made anew has lost its grants.

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'kb_source_reader') THEN
    GRANT USAGE ON SCHEMA kb_source TO kb_source_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA kb_source TO kb_source_reader;
  END IF;
END $$;
