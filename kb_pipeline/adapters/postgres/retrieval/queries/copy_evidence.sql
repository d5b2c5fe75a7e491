COPY stage_evidence (
  org_id, specialist_id, query_sha, doc_id, chunk_id, kind, weight, conversation_id, event_id, message_id,
  correction_id, search_event_id, document_from, observed_at, facts) FROM STDIN
