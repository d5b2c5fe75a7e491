-- The ground truth as its evidence has it, in one statement: by the rules of retrieval/labels.py, which says why.
-- Rows that would not change are not touched, judgments that nothing stands for leave; gives how many rows changed.
WITH newest_word AS MATERIALIZED (
  -- The newest word of a person on each document and query; older ones count no more.
  SELECT DISTINCT ON (e.org_id, e.specialist_id, e.query_sha, e.doc_id) e.evidence_id
  FROM kb_evidence AS e
  LEFT JOIN stage_document AS d USING (org_id, specialist_id, doc_id)
  WHERE e.kind = 'settled' AND e.superseded_at IS NULL AND {is_of_today}
  ORDER BY e.org_id, e.specialist_id, e.query_sha, e.doc_id, e.observed_at DESC, e.evidence_id DESC
), standing AS (
  -- In an order by which both groupings below find their rows side by side: a number sorts faster than the long keys.
  -- Kinds are bits: arrays would have to be sorted too.
  SELECT
    hashtextextended(e.query_sha || e.doc_id, 0) AS cluster,
    e.org_id, e.specialist_id, e.query_sha, e.doc_id, e.observed_at,
    CASE WHEN e.kind <> 'settled' THEN e.conversation_id END AS conversation_id,
    CASE WHEN e.kind = 'settled' OR e.conversation_id IS NULL THEN e.evidence_id END AS own_vote,
    e.weight * power(
      0.5::double precision,
      greatest(0, date_part('epoch', %(decay_as_of)s::timestamptz) - date_part('epoch', e.observed_at))
      / (86400 * %(half_life_days)s::double precision)) AS mass,
    CASE e.kind
      WHEN 'accepted' THEN 1 WHEN 'cited' THEN 2 WHEN 'clicked' THEN 4 WHEN 'kept_only' THEN 8 WHEN 'light_edit' THEN 16
      WHEN 'removed_only' THEN 32 WHEN 'settled' THEN 64 WHEN 'supports_new' THEN 128 WHEN 'wrong_source' THEN 256
    END AS kind_bit
  FROM kb_evidence AS e
  LEFT JOIN stage_document AS d USING (org_id, specialist_id, doc_id)
  WHERE e.superseded_at IS NULL
    AND (e.kind <> 'settled' OR e.evidence_id IN (SELECT evidence_id FROM newest_word))
    AND {is_of_today}
  ORDER BY cluster, e.org_id, e.specialist_id, e.query_sha, e.doc_id, conversation_id, own_vote
), heard AS (
  -- One row a conversation, with its heaviest vote for and against; a person's word is a row of its own.
  SELECT
    cluster, org_id, specialist_id, query_sha, doc_id, conversation_id,
    greatest(max(mass), 0)  AS positive,
    greatest(-min(mass), 0) AS negative,
    count(*)                AS evidence_count,
    bit_or(kind_bit)        AS kind_bits,
    min(observed_at)        AS first_observed_at,
    max(observed_at)        AS last_observed_at
  FROM standing
  GROUP BY cluster, org_id, specialist_id, query_sha, doc_id, conversation_id, own_vote
), tally AS (
  SELECT
    org_id, specialist_id, query_sha, doc_id,
    round(sum(positive) * 1e6::double precision) / 1e6::double precision AS positive,
    round(sum(negative) * 1e6::double precision) / 1e6::double precision AS negative,
    count(conversation_id)::int AS conversations,
    sum(evidence_count)::int    AS evidence_count,
    bit_or(kind_bits)           AS kind_bits,
    min(first_observed_at)      AS first_observed_at,
    max(last_observed_at)       AS last_observed_at,
    max(CASE WHEN kind_bits = 64 THEN sign(positive - negative) END) AS word
  FROM heard
  GROUP BY cluster, org_id, specialist_id, query_sha, doc_id
), weighed AS (
  SELECT
    *,
    round((positive + %(prior)s::double precision) / (positive + negative + 2 * %(prior)s::double precision)
          * 1e6::double precision) / 1e6::double precision AS p,
    round((positive + negative) * 1e6::double precision) / 1e6::double precision AS total,
    CASE
      WHEN kind_bits & (2 | 128) <> 0 OR positive >= %(strong_mass)s::double precision THEN 3
      WHEN positive >= %(fair_mass)s::double precision THEN 2
      ELSE 1
    END AS grade_if_relevant
  FROM tally
), graded AS (
  SELECT
    *,
    CASE
      WHEN word IS NOT NULL THEN 'judged'
      WHEN total < %(least_mass)s::double precision THEN 'insufficient'
      WHEN least(positive, negative) >= %(conflict_side)s::double precision
        AND p > %(irrelevant_up_to)s::double precision AND p < %(conflict_below)s::double precision THEN 'conflict'
      WHEN p > %(irrelevant_up_to)s::double precision AND p < %(relevant_from)s::double precision THEN 'insufficient'
      ELSE 'judged'
    END AS status,
    CASE
      WHEN word > 0 THEN greatest(2, grade_if_relevant)
      WHEN word < 0 OR p <= %(irrelevant_up_to)s::double precision THEN 0
      ELSE grade_if_relevant
    END AS grade_if_judged
  FROM weighed
), judged AS (
  SELECT
    org_id, specialist_id, query_sha, doc_id, status,
    (CASE WHEN status = 'judged' THEN grade_if_judged END)::smallint AS grade,
    p, positive, negative, conversations, evidence_count,
    array_remove(ARRAY[
      CASE WHEN kind_bits &   1 <> 0 THEN 'accepted' END,
      CASE WHEN kind_bits &   2 <> 0 THEN 'cited' END,
      CASE WHEN kind_bits &   4 <> 0 THEN 'clicked' END,
      CASE WHEN kind_bits &   8 <> 0 THEN 'kept_only' END,
      CASE WHEN kind_bits &  16 <> 0 THEN 'light_edit' END,
      CASE WHEN kind_bits &  32 <> 0 THEN 'removed_only' END,
      CASE WHEN kind_bits &  64 <> 0 THEN 'settled' END,
      CASE WHEN kind_bits & 128 <> 0 THEN 'supports_new' END,
      CASE WHEN kind_bits & 256 <> 0 THEN 'wrong_source' END
    ], NULL) AS kinds,
    (org_id, specialist_id, query_sha, doc_id) IN (SELECT org_id, specialist_id, query_sha, doc_id FROM stage_self_made) AS self_made,
    first_observed_at, last_observed_at
  FROM graded
), difference AS MATERIALIZED (
  -- Both sides are large: one full join, which is never a look-up a row.
  SELECT
    g.org_id IS NULL                           AS is_new,
    coalesce(j.org_id, g.org_id)               AS org_id,
    coalesce(j.specialist_id, g.specialist_id) AS specialist_id,
    coalesce(j.query_sha, g.query_sha)         AS query_sha,
    coalesce(j.doc_id, g.doc_id)               AS doc_id,
    j.status, j.grade, j.p, j.positive, j.negative, j.conversations, j.evidence_count, j.kinds, j.self_made,
    j.first_observed_at, j.last_observed_at
  FROM judged AS j
  FULL JOIN kb_ground_truth AS g
    ON j.org_id = g.org_id AND j.specialist_id = g.specialist_id AND j.query_sha = g.query_sha AND j.doc_id = g.doc_id
  WHERE (
    j.status, j.grade, j.p, j.positive, j.negative, j.conversations, j.evidence_count, j.kinds, j.self_made,
    j.first_observed_at, j.last_observed_at, %(decay_as_of)s::timestamptz, %(rules)s::text
  ) IS DISTINCT FROM (
    g.status, g.grade, g.p, g.positive, g.negative, g.conversations, g.evidence_count, g.kinds, g.self_made,
    g.first_observed_at, g.last_observed_at, g.as_of, g.rule_version
  )
), gone AS (
  DELETE FROM kb_ground_truth AS g
  USING difference AS d
  WHERE d.status IS NULL
    AND g.org_id = d.org_id AND g.specialist_id = d.specialist_id AND g.query_sha = d.query_sha AND g.doc_id = d.doc_id
  RETURNING 1
), added AS (
  INSERT INTO kb_ground_truth (
    org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative, conversations, evidence_count, kinds,
    self_made, first_observed_at, last_observed_at, as_of, rule_version)
  SELECT
    org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative, conversations, evidence_count, kinds,
    self_made, first_observed_at, last_observed_at, %(decay_as_of)s, %(rules)s
  FROM difference
  WHERE is_new
  ORDER BY org_id, specialist_id, query_sha, doc_id  -- as the index has them, which then grows at one end
  RETURNING 1
), changed AS (
  UPDATE kb_ground_truth AS g
  SET status = d.status, grade = d.grade, p = d.p, positive = d.positive, negative = d.negative,
      conversations = d.conversations, evidence_count = d.evidence_count, kinds = d.kinds, self_made = d.self_made,
      first_observed_at = d.first_observed_at, last_observed_at = d.last_observed_at, as_of = %(decay_as_of)s,
      rule_version = %(rules)s, updated_at = now()
  FROM difference AS d
  WHERE NOT d.is_new AND d.status IS NOT NULL
    AND g.org_id = d.org_id AND g.specialist_id = d.specialist_id AND g.query_sha = d.query_sha AND g.doc_id = d.doc_id
  RETURNING 1
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM added) + (SELECT count(*) FROM changed)
