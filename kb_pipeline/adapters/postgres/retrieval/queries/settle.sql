-- Appends a person's word on one document and query.
INSERT INTO kb_evidence (
  org_id, specialist_id, query_sha, doc_id, kind, weight, document_from, observed_at, rule_version, author, reason)
VALUES (
  %(org_id)s, %(specialist_id)s, %(query_sha)s, %(doc_id)s, 'settled', %(weight)s, %(document_from)s, now(), %(rules)s,
  %(author)s, %(reason)s)
