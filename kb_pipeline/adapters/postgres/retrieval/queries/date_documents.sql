-- Which version of its document each step of a search saw.
UPDATE stage_evidence AS s
SET document_from = (
  SELECT max(chunk.valid_from)
  FROM kb_source.kb_chunk AS chunk
  WHERE chunk.org_id = s.org_id AND chunk.specialist_id = s.specialist_id AND chunk.doc_id = s.doc_id
    AND chunk.valid_from <= s.observed_at AND (chunk.valid_to IS NULL OR chunk.valid_to > s.observed_at))
