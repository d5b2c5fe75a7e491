-- The evidence that is to stand, before it is compared with what stands.
CREATE TEMPORARY TABLE stage_evidence (
  org_id uuid NOT NULL, specialist_id uuid NOT NULL, query_sha text NOT NULL, doc_id text NOT NULL, chunk_id text,
  kind text NOT NULL, weight double precision NOT NULL, conversation_id uuid, event_id uuid, message_id uuid,
  correction_id uuid, search_event_id uuid, document_from timestamptz, observed_at timestamptz NOT NULL,
  facts jsonb NOT NULL
) ON COMMIT DROP
