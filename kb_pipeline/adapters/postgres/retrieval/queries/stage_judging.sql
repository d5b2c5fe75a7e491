-- What the knowledge base says of tenants, documents and evidence; all of them stay empty where it is not mapped.
CREATE TEMPORARY TABLE stage_known_tenant (org_id uuid NOT NULL, specialist_id uuid NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE stage_document (
  org_id uuid NOT NULL, specialist_id uuid NOT NULL, doc_id text NOT NULL, started_at timestamptz, shrunk_at timestamptz
) ON COMMIT DROP;
CREATE TEMPORARY TABLE stage_outdated (evidence_id bigint NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE stage_self_made (
  org_id uuid NOT NULL, specialist_id uuid NOT NULL, query_sha text NOT NULL, doc_id text NOT NULL
) ON COMMIT DROP;
