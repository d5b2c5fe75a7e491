-- Alerts: where every rule stands with every subject, what flipped, what is to be delivered, who wants silence.

CREATE TABLE kb_alert_state (
  fingerprint   text PRIMARY KEY CHECK (char_length(fingerprint) BETWEEN 1 AND 255),
  rule          text NOT NULL,
  metric        text NOT NULL,
  subject       text[] NOT NULL CHECK (cardinality(subject) >= 1),
  status        text NOT NULL CHECK (status IN ('ok', 'pending', 'firing', 'recovering', 'no_data')),
  severity      text CHECK (severity IN ('critical', 'high', 'warning', 'info', 'low')),
  since         timestamptz NOT NULL,
  window_end    timestamptz,
  sentence      text NOT NULL,
  reading       jsonb NOT NULL CHECK (jsonb_typeof(reading) = 'object'),
  memory        jsonb NOT NULL CHECK (jsonb_typeof(memory) = 'object'),
  before        jsonb NOT NULL CHECK (jsonb_typeof(before) = 'object'),
  inhibited_by  text,
  is_silenced   boolean NOT NULL DEFAULT false,
  notice        jsonb CHECK (jsonb_typeof(notice) = 'object'),
  kb_seq        bigint NOT NULL DEFAULT 0 CHECK (kb_seq >= 0),
  version       bigint NOT NULL CHECK (version >= 1),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT kb_alert_state_active_has_a_severity CHECK ((status IN ('firing', 'recovering')) = (severity IS NOT NULL)),
  CONSTRAINT kb_alert_state_told_has_a_number CHECK ((notice IS NOT NULL) = (kb_seq > 0))
);
CREATE INDEX kb_alert_state_active ON kb_alert_state (rule) WHERE status IN ('firing', 'recovering');
COMMENT ON TABLE kb_alert_state IS 'Where each alert rule stands with each subject. Changed by compare-and-set on version, together with its flip and its outbox rows. Holds numbers and names, no text of a citizen.';
COMMENT ON COLUMN kb_alert_state.fingerprint IS 'id|metric|subject, cleaned: the same for as long as it is the same thing.';
COMMENT ON COLUMN kb_alert_state.rule IS 'The rule.';
COMMENT ON COLUMN kb_alert_state.metric IS 'What the rule looks at.';
COMMENT ON COLUMN kb_alert_state.subject IS 'Environment, then tenant, surface and engine, or what the rule speaks of, as they are named at their source.';
COMMENT ON COLUMN kb_alert_state.status IS 'ok, pending (in breach, not often enough), firing, recovering (good, not long enough) or no_data.';
COMMENT ON COLUMN kb_alert_state.severity IS 'How bad it is; set while it fires or recovers.';
COMMENT ON COLUMN kb_alert_state.since IS 'Since when the status is what it is.';
COMMENT ON COLUMN kb_alert_state.window_end IS 'End of the newest window that was judged; an older one is closed. Null while another alert has held the rule from the first.';
COMMENT ON COLUMN kb_alert_state.sentence IS 'What the newest reading says, in words.';
COMMENT ON COLUMN kb_alert_state.reading IS 'The newest reading: finding, value, bound, threshold, n, window, baseline, coverage.';
COMMENT ON COLUMN kb_alert_state.memory IS 'What the rule remembers: evaluations in a row, fires of the last day, what was usual.';
COMMENT ON COLUMN kb_alert_state.before IS 'The memory before the newest window: data that comes late is judged from there.';
COMMENT ON COLUMN kb_alert_state.inhibited_by IS 'Fingerprint of the alert that holds this rule, or null.';
COMMENT ON COLUMN kb_alert_state.is_silenced IS 'Whether a silence covered it at the newest evaluation.';
COMMENT ON COLUMN kb_alert_state.notice IS 'What receivers were told last: status, severity, whether it flaps; null before the first time.';
COMMENT ON COLUMN kb_alert_state.kb_seq IS 'Number of the last notice of the fingerprint; it never goes back.';
COMMENT ON COLUMN kb_alert_state.version IS 'Number of the last change of the row.';
COMMENT ON COLUMN kb_alert_state.updated_at IS 'When the row last changed.';

CREATE TABLE kb_alert_transition (
  transition_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fingerprint   text NOT NULL,
  rule          text NOT NULL,
  from_status   text NOT NULL,
  to_status     text NOT NULL,
  severity      text,
  reason        text NOT NULL,
  kb_seq        bigint,
  window_end    timestamptz,
  sentence      text NOT NULL,
  reading       jsonb NOT NULL CHECK (jsonb_typeof(reading) = 'object'),
  happened_at   timestamptz NOT NULL,
  UNIQUE (fingerprint, kb_seq)
);
CREATE INDEX kb_alert_transition_happened_at ON kb_alert_transition (happened_at);
COMMENT ON TABLE kb_alert_transition IS 'Every flip of a state, for ever: rows are added and never changed.';
COMMENT ON COLUMN kb_alert_transition.transition_id IS 'A number of its own.';
COMMENT ON COLUMN kb_alert_transition.fingerprint IS 'The state that flipped.';
COMMENT ON COLUMN kb_alert_transition.rule IS 'Its rule.';
COMMENT ON COLUMN kb_alert_transition.from_status IS 'Where it stood.';
COMMENT ON COLUMN kb_alert_transition.to_status IS 'Where it stands since.';
COMMENT ON COLUMN kb_alert_transition.severity IS 'How bad it is, where it fires or resolves.';
COMMENT ON COLUMN kb_alert_transition.reason IS 'Why: fired, escalated, flapping, resolved, silenced, silence_ended, or the new status.';
COMMENT ON COLUMN kb_alert_transition.kb_seq IS 'Number of the notice that went out with it; null where nobody was told.';
COMMENT ON COLUMN kb_alert_transition.window_end IS 'End of the window that decided.';
COMMENT ON COLUMN kb_alert_transition.sentence IS 'The numbers that decided, in words.';
COMMENT ON COLUMN kb_alert_transition.reading IS 'The numbers that decided.';
COMMENT ON COLUMN kb_alert_transition.happened_at IS 'When it was decided.';

CREATE TABLE kb_alert_outbox (
  destination   text NOT NULL CHECK (destination <> ''),
  fingerprint   text NOT NULL,
  kb_seq        bigint NOT NULL CHECK (kb_seq > 0),
  state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'confirmed', 'dead')),
  payload       jsonb NOT NULL CHECK (jsonb_typeof(payload) = 'object'),
  attempts      integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  reason        text,
  queued_at     timestamptz NOT NULL,
  sent_at       timestamptz,
  settled_at    timestamptz,
  PRIMARY KEY (destination, fingerprint, kb_seq),
  CONSTRAINT kb_alert_outbox_dead_has_a_reason CHECK (state <> 'dead' OR reason IS NOT NULL),
  CONSTRAINT kb_alert_outbox_settled_has_a_time CHECK ((state IN ('confirmed', 'dead')) = (settled_at IS NOT NULL))
);
CREATE INDEX kb_alert_outbox_open ON kb_alert_outbox (destination, queued_at) WHERE state IN ('pending', 'sent');
CREATE INDEX kb_alert_outbox_dead ON kb_alert_outbox (destination, settled_at) WHERE state = 'dead';
COMMENT ON TABLE kb_alert_outbox IS 'What is to be delivered where: written with the state that it tells of, in one transaction, and delivered by another step, per fingerprint in the order of kb_seq.';
COMMENT ON COLUMN kb_alert_outbox.destination IS 'keep, webhook, or apprise-1, apprise-2, … by place in the configuration.';
COMMENT ON COLUMN kb_alert_outbox.fingerprint IS 'The alert.';
COMMENT ON COLUMN kb_alert_outbox.kb_seq IS 'Its place among the notices of the fingerprint.';
COMMENT ON COLUMN kb_alert_outbox.state IS 'pending; sent (accepted, not confirmed yet); confirmed; dead (refused for good).';
COMMENT ON COLUMN kb_alert_outbox.payload IS 'The alert as it goes out.';
COMMENT ON COLUMN kb_alert_outbox.attempts IS 'How often it was sent.';
COMMENT ON COLUMN kb_alert_outbox.reason IS 'Why it is dead, or why the last try failed.';
COMMENT ON COLUMN kb_alert_outbox.queued_at IS 'When it was decided.';
COMMENT ON COLUMN kb_alert_outbox.sent_at IS 'When it was last sent.';
COMMENT ON COLUMN kb_alert_outbox.settled_at IS 'When it was confirmed or given up.';

CREATE TABLE kb_alert_destination (
  destination       text PRIMARY KEY,
  next_try_at       timestamptz,
  failures          integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  reason            text,
  last_confirmed_at timestamptz
);
COMMENT ON TABLE kb_alert_destination IS 'How delivery to a destination stands: it is the destination that backs off, never a single alert.';
COMMENT ON COLUMN kb_alert_destination.destination IS 'keep, webhook, or apprise-1, apprise-2, … by place in the configuration.';
COMMENT ON COLUMN kb_alert_destination.next_try_at IS 'Nothing is sent before; null when nothing is held.';
COMMENT ON COLUMN kb_alert_destination.failures IS 'Failures in a row.';
COMMENT ON COLUMN kb_alert_destination.reason IS 'What the last failure was; null when all is well.';
COMMENT ON COLUMN kb_alert_destination.last_confirmed_at IS 'When an alert was last confirmed.';

CREATE TABLE kb_alert_silence (
  silence_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  pattern    text NOT NULL CHECK (pattern <> '' AND char_length(pattern) <= 256),
  starts_at  timestamptz NOT NULL,
  ends_at    timestamptz NOT NULL,
  author     text NOT NULL CHECK (author <> ''),
  reason     text NOT NULL CHECK (reason <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT kb_alert_silence_ends_after_it_starts CHECK (ends_at >= starts_at)
);
CREATE INDEX kb_alert_silence_ends_at ON kb_alert_silence (ends_at);
COMMENT ON TABLE kb_alert_silence IS 'Who did not want to be told of what, from when to when, and why. States go on meanwhile.';
COMMENT ON COLUMN kb_alert_silence.silence_id IS 'A number of its own.';
COMMENT ON COLUMN kb_alert_silence.pattern IS 'A fingerprint, a rule, or the beginning of fingerprints with a final *.';
COMMENT ON COLUMN kb_alert_silence.starts_at IS 'From when.';
COMMENT ON COLUMN kb_alert_silence.ends_at IS 'Until when; ending a silence early moves it.';
COMMENT ON COLUMN kb_alert_silence.author IS 'Who said so.';
COMMENT ON COLUMN kb_alert_silence.reason IS 'Why.';
COMMENT ON COLUMN kb_alert_silence.created_at IS 'When the row was written.';
