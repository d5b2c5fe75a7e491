-- What the knowledge base says of the evidence; both stay empty where it is not mapped.
CREATE TEMPORARY TABLE stage_outdated (evidence_id bigint NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE stage_self_made (
  org_id uuid NOT NULL, specialist_id uuid NOT NULL, query_sha text NOT NULL, doc_id text NOT NULL
) ON COMMIT DROP;
