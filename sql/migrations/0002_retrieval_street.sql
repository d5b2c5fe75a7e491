-- The retrieval street: events, what experts did with the drafts, evidence, ground truth, gaps, hourly windows.

CREATE TABLE kb_retrieval_event (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  conversation_id uuid NOT NULL,
  message_id      uuid NULL,
  engine          text NOT NULL CHECK (engine <> '' AND char_length(engine) <= 64),
  query           text NOT NULL CHECK (octet_length(query) <= 8192),
  top_k           int  NOT NULL CHECK (top_k >= 0),
  result_count    int  NOT NULL CHECK (result_count >= 0),
  latency_ms      int  NULL CHECK (latency_ms >= 0),
  retrieved       jsonb NOT NULL DEFAULT '[]',
  created_at      timestamptz NOT NULL DEFAULT now(),
  occurred_at     timestamptz NOT NULL DEFAULT now(),
  query_rewritten text NULL CHECK (octet_length(query_rewritten) <= 8192),
  query_sha       text NULL CHECK (query_sha ~ '^[0-9a-f]+$' AND char_length(query_sha) = 64),
  candidate_pool  jsonb NOT NULL DEFAULT '[]',
  kb_version      text NULL CHECK (char_length(kb_version) <= 200),
  degraded        boolean NOT NULL DEFAULT false,
  shadow          boolean NOT NULL DEFAULT false,
  trace_id        text NULL CHECK (char_length(trace_id) <= 200),
  text_expired_at timestamptz NULL,
  noted_at        timestamptz NULL,
  CONSTRAINT kb_retrieval_event_created_at_sane
    CHECK (created_at >= '2020-01-01Z' AND created_at < now() + interval '1 day'),
  CONSTRAINT kb_retrieval_event_occurred_at_sane
    CHECK (occurred_at >= '2020-01-01Z' AND occurred_at < now() + interval '1 day'),
  CONSTRAINT kb_retrieval_event_retrieved_is_list
    CHECK (jsonb_typeof(retrieved) = 'array' AND octet_length(retrieved::text) < 262144),
  CONSTRAINT kb_retrieval_event_candidate_pool_is_list
    CHECK (jsonb_typeof(candidate_pool) = 'array' AND octet_length(candidate_pool::text) < 262144),
  CONSTRAINT kb_retrieval_event_result_count_fits
    CHECK (CASE WHEN jsonb_typeof(retrieved) = 'array' THEN result_count >= jsonb_array_length(retrieved) END)
);
CREATE INDEX kb_retrieval_event_org_spec_time ON kb_retrieval_event (org_id, specialist_id, created_at DESC);
CREATE INDEX kb_retrieval_event_conversation  ON kb_retrieval_event (conversation_id);
CREATE UNIQUE INDEX kb_retrieval_event_message_uq ON kb_retrieval_event (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX kb_retrieval_event_occurred_at ON kb_retrieval_event (occurred_at);
CREATE INDEX kb_retrieval_event_created_at ON kb_retrieval_event USING brin (created_at);
CREATE INDEX kb_retrieval_event_query ON kb_retrieval_event (org_id, specialist_id, query_sha);
CREATE INDEX kb_retrieval_event_to_note ON kb_retrieval_event (created_at) WHERE noted_at IS NULL;
CREATE INDEX kb_retrieval_event_text_to_expire ON kb_retrieval_event (occurred_at) WHERE text_expired_at IS NULL;
COMMENT ON TABLE kb_retrieval_event IS 'One row per retrieval, written by the worker from the queue: what it returned, and the keys that join it with its draft. Tenancy: Org x Specialist; org_id and specialist_id are part of every key that is read.';
COMMENT ON COLUMN kb_retrieval_event.id IS 'Made by the producer, so that it deduplicates events without a message.';
COMMENT ON COLUMN kb_retrieval_event.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_event.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_event.conversation_id IS 'The thread; always there, also where no draft was persisted.';
COMMENT ON COLUMN kb_retrieval_event.message_id IS 'The draft that the retrieval served, at most one event each; null where no draft was persisted.';
COMMENT ON COLUMN kb_retrieval_event.engine IS 'The engine whose results this row holds, of the configured list, or other. Before the agent and the application share one retriever the row holds what the application resolved at draft-save, which need not be what the agent read; afterwards they are the same.';
COMMENT ON COLUMN kb_retrieval_event.query IS 'What was searched for, as the client wrote it; empty once text_expired_at is set.';
COMMENT ON COLUMN kb_retrieval_event.top_k IS 'How many results were asked for.';
COMMENT ON COLUMN kb_retrieval_event.result_count IS 'How many came back, computed here; 0 is an empty retrieval.';
COMMENT ON COLUMN kb_retrieval_event.latency_ms IS 'How long the retrieval took, in milliseconds.';
COMMENT ON COLUMN kb_retrieval_event.retrieved IS 'Results by rank, at most 50: doc_id, chunk_id, rank (from 1), score, bm25_score, vector_similarity, pre_rerank_rank, rerank_score, used_in_final (whether the answer cites it).';
COMMENT ON COLUMN kb_retrieval_event.created_at IS 'When the row was written.';
COMMENT ON COLUMN kb_retrieval_event.occurred_at IS 'When the retrieval happened, by the producer; the hour of the windows.';
COMMENT ON COLUMN kb_retrieval_event.query_rewritten IS 'What the engine was asked instead of query, where the two differ.';
COMMENT ON COLUMN kb_retrieval_event.query_sha IS 'SHA-256 (hex) of the normalised query: the key of the query in ground truth. Filled in later where a writer left it null.';
COMMENT ON COLUMN kb_retrieval_event.candidate_pool IS 'What was considered before the re-ranker, at most 50: doc_id, chunk_id, pre_rank (from 1).';
COMMENT ON COLUMN kb_retrieval_event.kb_version IS 'The version of the knowledge base or its index, as the producer calls it.';
COMMENT ON COLUMN kb_retrieval_event.degraded IS 'Whether a part of the engine was left out, for example the re-ranker.';
COMMENT ON COLUMN kb_retrieval_event.shadow IS 'Whether nobody saw the results: a trial run beside the serving engine.';
COMMENT ON COLUMN kb_retrieval_event.trace_id IS 'Joins with the audited call that wrote the draft.';
COMMENT ON COLUMN kb_retrieval_event.text_expired_at IS 'When the query text was dropped, by retention or because the source deleted the message.';
COMMENT ON COLUMN kb_retrieval_event.noted_at IS 'When kb_query took note of its query; null until then.';

CREATE FUNCTION kb_list_facts(
  retrieved jsonb, candidate_pool jsonb, OUT hits bigint, OUT malformed_hits bigint, OUT repeated_hits bigint,
  OUT hits_out_of_order bigint, OUT candidates bigint, OUT malformed_candidates bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.hits, r.malformed_hits, r.repeated_hits, r.hits_out_of_order, c.candidates, c.malformed_candidates
  FROM (
    SELECT
      count(*) AS hits,
      count(*) FILTER (WHERE is_malformed) AS malformed_hits,
      count(*) - count(DISTINCT (doc_id, chunk_id)) AS repeated_hits,
      count(*) FILTER (WHERE rank < rank_before) AS hits_out_of_order
    FROM (
      SELECT
        f.doc_id, f.chunk_id, f.rank,
        lag(f.rank) OVER (ORDER BY place) AS rank_before,
        coalesce(f.doc_id, '') = '' OR f.rank IS NULL OR f.rank < 1 OR f.rank <> floor(f.rank)
          OR jsonb_typeof(hit -> 'used_in_final') NOT IN ('boolean', 'null')
          OR jsonb_typeof(hit -> 'score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'bm25_score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'vector_similarity') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'rerank_score') NOT IN ('number', 'null')
          OR jsonb_typeof(hit -> 'pre_rerank_rank') NOT IN ('number', 'null') AS is_malformed
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(kb_list_facts.retrieved) = 'array' THEN kb_list_facts.retrieved END)
        WITH ORDINALITY AS h(hit, place)
      CROSS JOIN LATERAL (
        SELECT
          CASE WHEN jsonb_typeof(hit -> 'doc_id') = 'string' THEN hit ->> 'doc_id' END AS doc_id,
          hit ->> 'chunk_id' AS chunk_id,
          CASE WHEN jsonb_typeof(hit -> 'rank') = 'number' THEN (hit ->> 'rank')::numeric END AS rank
      ) AS f
    ) AS each
  ) AS r
  CROSS JOIN (
    SELECT count(*) AS candidates, count(*) FILTER (
      WHERE jsonb_typeof(hit -> 'doc_id') IS DISTINCT FROM 'string' OR hit ->> 'doc_id' = ''
        OR CASE WHEN jsonb_typeof(hit -> 'pre_rank') = 'number' THEN (hit ->> 'pre_rank')::numeric < 1 ELSE true END
    ) AS malformed_candidates
    FROM jsonb_array_elements(CASE WHEN jsonb_typeof(kb_list_facts.candidate_pool) = 'array' THEN kb_list_facts.candidate_pool END) AS hit
  ) AS c
$$;
COMMENT ON FUNCTION kb_list_facts IS 'What a rule about the lists of a retrieval event needs: how many elements, and how many of them are malformed, repeated or out of order. A list that is no array has none.';

CREATE TABLE kb_retrieval_event_conflict (
  id         uuid PRIMARY KEY,
  message_id uuid NOT NULL,
  org_id     uuid NOT NULL,
  specialist_id uuid NOT NULL,
  event      jsonb CHECK (jsonb_typeof(event) = 'object' AND octet_length(event::text) < 524288),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kb_retrieval_event_conflict_message ON kb_retrieval_event_conflict (message_id);
CREATE INDEX kb_retrieval_event_conflict_created_at ON kb_retrieval_event_conflict USING brin (created_at);
COMMENT ON TABLE kb_retrieval_event_conflict IS 'A second, different event of a message that has one: kept, counted, used by nothing. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_retrieval_event_conflict.id IS 'The id that the producer gave the second event.';
COMMENT ON COLUMN kb_retrieval_event_conflict.message_id IS 'The message; its first event is in kb_retrieval_event.';
COMMENT ON COLUMN kb_retrieval_event_conflict.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_event_conflict.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_event_conflict.event IS 'The second event as a row of kb_retrieval_event would hold it; null once its text has expired.';
COMMENT ON COLUMN kb_retrieval_event_conflict.created_at IS 'When it arrived.';

CREATE TABLE kb_search_event (
  id              uuid PRIMARY KEY,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  expert_id       uuid NULL,
  conversation_id uuid NULL,
  message_id      uuid NULL,
  search_id       uuid NOT NULL,
  event_type      text NOT NULL CHECK (event_type IN (
    'kb.search.performed', 'kb.result.clicked', 'kb.citation.inserted')),
  query           text NULL CHECK (octet_length(query) <= 8192),
  doc_id          text NULL CHECK (char_length(doc_id) <= 512),
  chunk_id        text NULL CHECK (char_length(chunk_id) <= 512),
  rank            int  NULL CHECK (rank >= 1),
  result_count    int  NULL CHECK (result_count >= 0),
  created_at      timestamptz NOT NULL DEFAULT now()
    CHECK (created_at >= '2020-01-01Z' AND created_at < now() + interval '1 day'),
  occurred_at     timestamptz NOT NULL DEFAULT now()
    CHECK (occurred_at >= '2020-01-01Z' AND occurred_at < now() + interval '1 day'),
  query_sha       text NULL CHECK (query_sha ~ '^[0-9a-f]+$' AND char_length(query_sha) = 64),
  text_expired_at timestamptz NULL,
  noted_at        timestamptz NULL,
  harvested_by    text NULL,
  CONSTRAINT kb_search_event_fits_its_type CHECK (CASE
    WHEN event_type = 'kb.search.performed' THEN query IS NOT NULL OR text_expired_at IS NOT NULL
    ELSE doc_id IS NOT NULL END)
);
CREATE INDEX kb_search_event_org_spec_time ON kb_search_event (org_id, specialist_id, created_at DESC);
CREATE INDEX kb_search_event_search ON kb_search_event (search_id);
CREATE INDEX kb_search_event_message ON kb_search_event (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX kb_search_event_conversation ON kb_search_event (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX kb_search_event_occurred_at ON kb_search_event (occurred_at);
CREATE INDEX kb_search_event_query ON kb_search_event (org_id, specialist_id, query_sha) WHERE query_sha IS NOT NULL;
CREATE INDEX kb_search_event_to_note ON kb_search_event (created_at)
  WHERE noted_at IS NULL AND event_type = 'kb.search.performed';
CREATE INDEX kb_search_event_harvested_by ON kb_search_event (harvested_by);
CREATE INDEX kb_search_event_text_to_expire ON kb_search_event (occurred_at)
  WHERE text_expired_at IS NULL AND event_type = 'kb.search.performed';
COMMENT ON TABLE kb_search_event IS 'One row per step of an expert''s own search in the workspace. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_search_event.id IS 'Made by the producer.';
COMMENT ON COLUMN kb_search_event.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_search_event.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_search_event.expert_id IS 'Who searched.';
COMMENT ON COLUMN kb_search_event.conversation_id IS 'The thread the expert worked on.';
COMMENT ON COLUMN kb_search_event.message_id IS 'The draft the expert worked on.';
COMMENT ON COLUMN kb_search_event.search_id IS 'Holds the steps of one search together.';
COMMENT ON COLUMN kb_search_event.event_type IS 'kb.search.performed, kb.result.clicked or kb.citation.inserted.';
COMMENT ON COLUMN kb_search_event.query IS 'What was searched for; set for kb.search.performed until text_expired_at.';
COMMENT ON COLUMN kb_search_event.doc_id IS 'The document clicked or cited.';
COMMENT ON COLUMN kb_search_event.chunk_id IS 'The chunk of it.';
COMMENT ON COLUMN kb_search_event.rank IS 'Where it stood in the results, from 1.';
COMMENT ON COLUMN kb_search_event.result_count IS 'How many results a performed search had.';
COMMENT ON COLUMN kb_search_event.created_at IS 'When the row was written.';
COMMENT ON COLUMN kb_search_event.occurred_at IS 'When it happened, by the producer.';
COMMENT ON COLUMN kb_search_event.query_sha IS 'SHA-256 (hex) of the normalised query.';
COMMENT ON COLUMN kb_search_event.text_expired_at IS 'When the query text was dropped.';
COMMENT ON COLUMN kb_search_event.noted_at IS 'When kb_query took note of its query; null until then, and for clicks and citations.';
COMMENT ON COLUMN kb_search_event.harvested_by IS 'The rules that the evidence of its search was taken by; null until then.';

CREATE TABLE kb_query (
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  query_sha       text NOT NULL CHECK (query_sha ~ '^[0-9a-f]+$' AND char_length(query_sha) = 64),
  query           text NULL,
  query_preview   text NULL CHECK (char_length(query_preview) <= 120),
  first_seen_at   timestamptz NOT NULL,
  last_seen_at    timestamptz NOT NULL,
  text_expired_at timestamptz NULL,
  PRIMARY KEY (org_id, specialist_id, query_sha),
  CONSTRAINT kb_query_expired_has_no_text CHECK (text_expired_at IS NULL OR query IS NULL)
);
CREATE INDEX kb_query_preview_to_expire ON kb_query (last_seen_at) WHERE query_preview IS NOT NULL;
COMMENT ON TABLE kb_query IS 'One row per query of a tenant, however often it was asked: the words behind a query_sha, until they expire; then a tombstone. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_query.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_query.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_query.query_sha IS 'SHA-256 (hex) of the normalised query.';
COMMENT ON COLUMN kb_query.query IS 'The query as it was first written; null once it has expired (retention.query_text_days).';
COMMENT ON COLUMN kb_query.query_preview IS 'At most 120 characters of it, redacted; expires after retention.preview_days.';
COMMENT ON COLUMN kb_query.first_seen_at IS 'When it was first retrieved for.';
COMMENT ON COLUMN kb_query.last_seen_at IS 'When it was last retrieved for.';
COMMENT ON COLUMN kb_query.text_expired_at IS 'When its words were dropped.';

CREATE TABLE kb_draft_outcome (
  message_id      uuid PRIMARY KEY,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  conversation_id uuid NOT NULL,
  event_id        uuid NULL,
  trace_id        text NULL,
  correction_id   uuid NULL,
  outcome         text NOT NULL CHECK (outcome IN (
    'accepted', 'edited_light', 'edited_heavy', 'rejected', 'pending', 'unreviewed')),
  drafted_at      timestamptz NOT NULL,
  decided_at      timestamptz NULL,
  decision_s      double precision NULL,
  kept_sentences    int NOT NULL CHECK (kept_sentences >= 0),
  new_sentences     int NOT NULL CHECK (new_sentences >= 0),
  removed_sentences int NOT NULL CHECK (removed_sentences >= 0),
  similarity      double precision NULL CHECK (similarity BETWEEN 0 AND 1),
  wrong_source    boolean NOT NULL DEFAULT false,
  suspect         boolean NOT NULL DEFAULT false,
  rephrased       boolean NOT NULL DEFAULT false,
  source_state    text NOT NULL,
  rule_version    text NOT NULL,
  harvested_state text NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT kb_draft_outcome_decided_unless_pending CHECK ((outcome = 'pending') = (decided_at IS NULL))
);
CREATE INDEX kb_draft_outcome_decided_at ON kb_draft_outcome (decided_at);
CREATE INDEX kb_draft_outcome_drafted_at ON kb_draft_outcome (drafted_at);
CREATE INDEX kb_draft_outcome_pending ON kb_draft_outcome (drafted_at) WHERE outcome = 'pending';
CREATE INDEX kb_draft_outcome_org_spec ON kb_draft_outcome (org_id, specialist_id, decided_at);
CREATE INDEX kb_draft_outcome_conversation ON kb_draft_outcome (conversation_id);
CREATE INDEX kb_draft_outcome_trace ON kb_draft_outcome (trace_id) WHERE trace_id IS NOT NULL;
COMMENT ON TABLE kb_draft_outcome IS 'What became of each draft, derived by joining messages, the experts'' queue, corrections and retrieval events; counts, no text. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_draft_outcome.message_id IS 'The draft.';
COMMENT ON COLUMN kb_draft_outcome.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_draft_outcome.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_draft_outcome.conversation_id IS 'The thread.';
COMMENT ON COLUMN kb_draft_outcome.event_id IS 'The retrieval that served the draft; null where none was recorded.';
COMMENT ON COLUMN kb_draft_outcome.trace_id IS 'Joins with the audited call that wrote the draft: so experts calibrate the judge.';
COMMENT ON COLUMN kb_draft_outcome.correction_id IS 'The newest correction of the draft.';
COMMENT ON COLUMN kb_draft_outcome.outcome IS 'accepted: sent as it was; edited_light: nothing that asserts something is new or gone; edited_heavy: something is; rejected; pending: no decision; unreviewed: decided within two seconds.';
COMMENT ON COLUMN kb_draft_outcome.drafted_at IS 'When the draft was made.';
COMMENT ON COLUMN kb_draft_outcome.decided_at IS 'When the expert decided; the hour of the partition. Null while pending.';
COMMENT ON COLUMN kb_draft_outcome.decision_s IS 'Seconds between opening and deciding; null where the source does not say.';
COMMENT ON COLUMN kb_draft_outcome.kept_sentences IS 'Sentences of the draft that stand in the final text.';
COMMENT ON COLUMN kb_draft_outcome.new_sentences IS 'Sentences of the final text that assert something and are not in the draft.';
COMMENT ON COLUMN kb_draft_outcome.removed_sentences IS 'Sentences of the draft that assert something and are not in the final text.';
COMMENT ON COLUMN kb_draft_outcome.similarity IS 'Similarity of draft and final text, a fraction; for reading only: no rule uses it, because a changed number is .98 similar.';
COMMENT ON COLUMN kb_draft_outcome.wrong_source IS 'Rejected, and the reason names its sources.';
COMMENT ON COLUMN kb_draft_outcome.suspect IS 'The retrieval may be bad: a heavy edit or a rejection.';
COMMENT ON COLUMN kb_draft_outcome.rephrased IS 'The client asked again in other words after this answer, and was retrieved for again.';
COMMENT ON COLUMN kb_draft_outcome.source_state IS 'Fingerprint of what the source said; another one makes the row be derived again.';
COMMENT ON COLUMN kb_draft_outcome.rule_version IS 'Which rules derived the row.';
COMMENT ON COLUMN kb_draft_outcome.harvested_state IS 'source_state and rules that its evidence was taken from; null until then.';
COMMENT ON COLUMN kb_draft_outcome.created_at IS 'When the row was first derived.';
COMMENT ON COLUMN kb_draft_outcome.updated_at IS 'When the row last changed.';

CREATE TABLE kb_evidence (
  evidence_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  query_sha       text NOT NULL CHECK (query_sha ~ '^[0-9a-f]+$' AND char_length(query_sha) = 64),
  doc_id          text NOT NULL CHECK (doc_id <> ''),
  chunk_id        text NULL,
  kind            text NOT NULL CHECK (kind IN (
    'cited', 'supports_new', 'light_edit', 'accepted', 'kept_only', 'clicked', 'removed_only', 'wrong_source', 'settled')),
  weight          double precision NOT NULL CHECK (weight >= -1 AND weight <= 1 AND weight <> 0),
  conversation_id uuid NULL,
  event_id        uuid NULL,
  message_id      uuid NULL,
  correction_id   uuid NULL,
  search_event_id uuid NULL,
  document_from   timestamptz NULL,
  observed_at     timestamptz NOT NULL,
  facts           jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(facts) = 'object'),
  rule_version    text NOT NULL,
  author          text NULL,
  reason          text NULL,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  superseded_at   timestamptz NULL,
  CONSTRAINT kb_evidence_settled_by_somebody
    CHECK (kind <> 'settled' OR (author IS NOT NULL AND author <> '' AND reason IS NOT NULL AND reason <> ''))
);
CREATE INDEX kb_evidence_judgment ON kb_evidence (org_id, specialist_id, query_sha, doc_id);
CREATE UNIQUE INDEX kb_evidence_draft_uq ON kb_evidence (message_id, query_sha, doc_id, kind)
  WHERE superseded_at IS NULL AND message_id IS NOT NULL AND search_event_id IS NULL AND kind <> 'settled';
CREATE UNIQUE INDEX kb_evidence_search_uq ON kb_evidence (search_event_id, doc_id, kind)
  WHERE superseded_at IS NULL AND search_event_id IS NOT NULL;
CREATE INDEX kb_evidence_message ON kb_evidence (message_id) WHERE message_id IS NOT NULL;
COMMENT ON TABLE kb_evidence IS 'Every observation for or against a document of a query, appended; a row is never changed but for superseded_at, set when its draft or search is read anew. No text. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_evidence.evidence_id IS 'The number of the observation.';
COMMENT ON COLUMN kb_evidence.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_evidence.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_evidence.query_sha IS 'The query, as in kb_query.';
COMMENT ON COLUMN kb_evidence.doc_id IS 'The document it speaks of.';
COMMENT ON COLUMN kb_evidence.chunk_id IS 'The chunk of it that decided; null where none did.';
COMMENT ON COLUMN kb_evidence.kind IS 'The rule that made it: cited, supports_new, light_edit, accepted, kept_only, clicked, removed_only, wrong_source, settled.';
COMMENT ON COLUMN kb_evidence.weight IS 'How much it says: positive for, negative against.';
COMMENT ON COLUMN kb_evidence.conversation_id IS 'One vote per conversation and polarity.';
COMMENT ON COLUMN kb_evidence.event_id IS 'The retrieval it was seen at.';
COMMENT ON COLUMN kb_evidence.message_id IS 'The draft it was seen at.';
COMMENT ON COLUMN kb_evidence.correction_id IS 'The correction it was read from.';
COMMENT ON COLUMN kb_evidence.search_event_id IS 'The step of an expert''s search it was read from.';
COMMENT ON COLUMN kb_evidence.document_from IS 'Start of the document version it speaks of: a changed document drops its evidence. Null where the knowledge base is not mapped.';
COMMENT ON COLUMN kb_evidence.observed_at IS 'When the expert decided; its weight halves every 180 days from then on.';
COMMENT ON COLUMN kb_evidence.facts IS 'Counts and scores that explain it; no words of a text.';
COMMENT ON COLUMN kb_evidence.rule_version IS 'Which rules made it.';
COMMENT ON COLUMN kb_evidence.author IS 'Who settled a conflict.';
COMMENT ON COLUMN kb_evidence.reason IS 'Why, in his words.';
COMMENT ON COLUMN kb_evidence.recorded_at IS 'When the row was written.';
COMMENT ON COLUMN kb_evidence.superseded_at IS 'When it ceased to count, because its draft or search was read anew.';

CREATE TABLE kb_ground_truth (
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  query_sha       text NOT NULL,
  doc_id          text NOT NULL,
  status          text NOT NULL CHECK (status IN ('judged', 'insufficient', 'conflict')),
  grade           smallint NULL CHECK (grade BETWEEN 0 AND 3),
  p               double precision NOT NULL CHECK (p > 0 AND p < 1),
  positive        double precision NOT NULL CHECK (positive >= 0),
  negative        double precision NOT NULL CHECK (negative >= 0),
  conversations   int NOT NULL CHECK (conversations >= 0),
  evidence_count  int NOT NULL CHECK (evidence_count >= 1),
  kinds           text[] NOT NULL,
  self_made       boolean NOT NULL DEFAULT false,
  first_observed_at timestamptz NOT NULL,
  last_observed_at  timestamptz NOT NULL,
  as_of           timestamptz NOT NULL,
  rule_version    text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, specialist_id, query_sha, doc_id),
  CONSTRAINT kb_ground_truth_graded_when_judged CHECK ((status = 'judged') = (grade IS NOT NULL))
)
-- Decay rewrites every row once a day: with room on its page a row is rewritten there, and no index has to be.
WITH (fillfactor = 50);
CREATE INDEX kb_ground_truth_conflicts ON kb_ground_truth (org_id, specialist_id) WHERE status = 'conflict';
COMMENT ON TABLE kb_ground_truth IS 'One judgment per tenant, query and document: a pure function of the evidence as of as_of. The retrieval harness reads this. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_ground_truth.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_ground_truth.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_ground_truth.query_sha IS 'The query, as in kb_query.';
COMMENT ON COLUMN kb_ground_truth.doc_id IS 'The document.';
COMMENT ON COLUMN kb_ground_truth.status IS 'judged: has a grade; insufficient: too little evidence; conflict: much for and much against, quarantined for a person.';
COMMENT ON COLUMN kb_ground_truth.grade IS '3: cited, corrected to, or positive mass 2 and more; 2: mass 1 and more; 1: less; 0: not relevant. Null unless judged: unjudged is not 0.';
COMMENT ON COLUMN kb_ground_truth.p IS '(positive + .1) / (positive + negative + .2).';
COMMENT ON COLUMN kb_ground_truth.positive IS 'Decayed mass for it, at most one vote a conversation.';
COMMENT ON COLUMN kb_ground_truth.negative IS 'Decayed mass against it, at most one vote a conversation.';
COMMENT ON COLUMN kb_ground_truth.conversations IS 'How many conversations it rests on.';
COMMENT ON COLUMN kb_ground_truth.evidence_count IS 'How many rows of kb_evidence it rests on.';
COMMENT ON COLUMN kb_ground_truth.kinds IS 'Which kinds of evidence.';
COMMENT ON COLUMN kb_ground_truth.self_made IS 'The document was written from a correction of this very query; a harness leaves it out.';
COMMENT ON COLUMN kb_ground_truth.first_observed_at IS 'The oldest evidence.';
COMMENT ON COLUMN kb_ground_truth.last_observed_at IS 'The newest evidence.';
COMMENT ON COLUMN kb_ground_truth.as_of IS 'The instant that the decay was computed for.';
COMMENT ON COLUMN kb_ground_truth.rule_version IS 'Which rules judged.';
COMMENT ON COLUMN kb_ground_truth.created_at IS 'When the judgment first stood.';
COMMENT ON COLUMN kb_ground_truth.updated_at IS 'When it last changed.';

CREATE TABLE kb_retrieval_gap (
  message_id      uuid PRIMARY KEY,
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  conversation_id uuid NOT NULL,
  event_id        uuid NOT NULL,
  correction_id   uuid NULL,
  query_sha       text NOT NULL,
  engine          text NOT NULL,
  kind            text NOT NULL CHECK (kind IN (
    'kb_gap', 'ranking_gap', 'recall_gap', 'generation_gap', 'undetermined', 'none')),
  is_deep         boolean NOT NULL DEFAULT false,
  decided_at      timestamptz NOT NULL,
  support         double precision NULL CHECK (support BETWEEN 0 AND 1),
  doc_id          text NULL,
  chunk_id        text NULL,
  rank            int NULL,
  pool_rank       int NULL,
  statements      jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(statements) = 'array'),
  subject         text NULL,
  source_state    text NOT NULL,
  rule_version    text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kb_retrieval_gap_decided_at ON kb_retrieval_gap (decided_at);
CREATE INDEX kb_retrieval_gap_org_spec ON kb_retrieval_gap (org_id, specialist_id, kind, subject);
COMMENT ON TABLE kb_retrieval_gap IS 'Where the right information went missing, per corrected draft; positions and scores, no text. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_retrieval_gap.message_id IS 'The corrected draft.';
COMMENT ON COLUMN kb_retrieval_gap.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_gap.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_gap.conversation_id IS 'The thread.';
COMMENT ON COLUMN kb_retrieval_gap.event_id IS 'The retrieval that served the draft.';
COMMENT ON COLUMN kb_retrieval_gap.correction_id IS 'The correction that was read.';
COMMENT ON COLUMN kb_retrieval_gap.query_sha IS 'The query, as in kb_query.';
COMMENT ON COLUMN kb_retrieval_gap.engine IS 'The engine of the retrieval.';
COMMENT ON COLUMN kb_retrieval_gap.kind IS 'kb_gap: the knowledge base does not say it; ranking_gap: found, ranked too low or not used; recall_gap: in the knowledge base, not found; generation_gap: found and used; undetermined; none: nothing asserted was added.';
COMMENT ON COLUMN kb_retrieval_gap.is_deep IS 'A ranking gap whose document was in the candidate pool only.';
COMMENT ON COLUMN kb_retrieval_gap.decided_at IS 'When the expert decided; the hour of the partition.';
COMMENT ON COLUMN kb_retrieval_gap.support IS 'How well the knowledge base, as it stood at the retrieval, supports the deciding statement; a fraction.';
COMMENT ON COLUMN kb_retrieval_gap.doc_id IS 'The document that supports it best.';
COMMENT ON COLUMN kb_retrieval_gap.chunk_id IS 'The chunk of it.';
COMMENT ON COLUMN kb_retrieval_gap.rank IS 'Its rank in the results; null where it was not among them.';
COMMENT ON COLUMN kb_retrieval_gap.pool_rank IS 'Its rank among the candidates; null where it was not among them.';
COMMENT ON COLUMN kb_retrieval_gap.statements IS 'Every statement that was added: position, kind, support, doc_id, chunk_id, rank, pool_rank.';
COMMENT ON COLUMN kb_retrieval_gap.subject IS 'What gaps of one kind have in common: the document, or for a kb_gap the query that began it. Null for none and undetermined.';
COMMENT ON COLUMN kb_retrieval_gap.source_state IS 'Fingerprint of what it was read from.';
COMMENT ON COLUMN kb_retrieval_gap.rule_version IS 'Which rules diagnosed.';
COMMENT ON COLUMN kb_retrieval_gap.created_at IS 'When the row was first written.';
COMMENT ON COLUMN kb_retrieval_gap.updated_at IS 'When it last changed.';

CREATE VIEW kb_gap_task AS
SELECT
  org_id,
  specialist_id,
  kind,
  subject,
  count(DISTINCT conversation_id)::int AS conversations,
  count(*)::int                        AS gaps,
  min(decided_at)                      AS first_seen_at,
  max(decided_at)                      AS last_seen_at,
  (array_agg(message_id ORDER BY decided_at DESC))[1:5] AS examples
FROM kb_retrieval_gap
WHERE subject IS NOT NULL
GROUP BY org_id, specialist_id, kind, subject
HAVING count(DISTINCT conversation_id) >= 2;
COMMENT ON VIEW kb_gap_task IS 'What is worth somebody''s work: gaps of one kind and subject from two conversations on. Tenancy: Org x Specialist.';

CREATE TABLE kb_retrieval_window (
  hour            timestamptz NOT NULL CHECK (date_trunc('hour', hour AT TIME ZONE 'UTC') = hour AT TIME ZONE 'UTC'),
  org_id          uuid NOT NULL,
  specialist_id   uuid NOT NULL,
  engine          text NOT NULL,
  retrievals      int NOT NULL CHECK (retrievals >= 0),
  shadows         int NOT NULL DEFAULT 0,
  empty           int NOT NULL CHECK (empty BETWEEN 0 AND retrievals),
  degraded        int NOT NULL DEFAULT 0,
  with_message    int NOT NULL DEFAULT 0,
  result_count_sum bigint NOT NULL DEFAULT 0,
  top_score_n     int NOT NULL DEFAULT 0,
  top_score_sum   double precision NOT NULL DEFAULT 0,
  top_score_hist  int[] NOT NULL,
  latency_n       int NOT NULL DEFAULT 0,
  latency_sum     bigint NOT NULL DEFAULT 0,
  latency_hist    int[] NOT NULL,
  newest_event_at timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hour, org_id, specialist_id, engine)
);
COMMENT ON TABLE kb_retrieval_window IS 'Retrieval health per UTC hour, tenant and engine: counts, sums and histograms that can be added up. Tenancy: Org x Specialist.';
COMMENT ON COLUMN kb_retrieval_window.hour IS 'Start of the UTC hour of occurred_at.';
COMMENT ON COLUMN kb_retrieval_window.org_id IS 'Organisation, first half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_window.specialist_id IS 'Specialist, second half of the tenancy key.';
COMMENT ON COLUMN kb_retrieval_window.engine IS 'The engine.';
COMMENT ON COLUMN kb_retrieval_window.retrievals IS 'Retrievals that served somebody; shadow runs are counted apart.';
COMMENT ON COLUMN kb_retrieval_window.shadows IS 'Shadow runs; they are in no other column.';
COMMENT ON COLUMN kb_retrieval_window.empty IS 'Retrievals without a result.';
COMMENT ON COLUMN kb_retrieval_window.degraded IS 'Retrievals with a part of the engine left out.';
COMMENT ON COLUMN kb_retrieval_window.with_message IS 'Retrievals whose draft was persisted.';
COMMENT ON COLUMN kb_retrieval_window.result_count_sum IS 'Sum of the results.';
COMMENT ON COLUMN kb_retrieval_window.top_score_n IS 'Retrievals whose best result has a score.';
COMMENT ON COLUMN kb_retrieval_window.top_score_sum IS 'Sum of the best scores.';
COMMENT ON COLUMN kb_retrieval_window.top_score_hist IS 'Best scores: [1] below 0, [2] to [21] by twentieths of [0, 1], 1 itself in the last, [22] above 1.';
COMMENT ON COLUMN kb_retrieval_window.latency_n IS 'Retrievals with a latency.';
COMMENT ON COLUMN kb_retrieval_window.latency_sum IS 'Sum of the latencies in milliseconds.';
COMMENT ON COLUMN kb_retrieval_window.latency_hist IS 'Latencies up to and including 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000 ms, and above.';
COMMENT ON COLUMN kb_retrieval_window.newest_event_at IS 'created_at of the newest event that was counted.';
COMMENT ON COLUMN kb_retrieval_window.updated_at IS 'When the row last changed.';
