-- The tables of temporal-health. Forward only: a released file is never changed, the next change is the next file.
--
-- `receipts` is the truth and only grows. Everything else is kept up to date from it in the transaction that inserts them,
-- so that judging a chain reads one row of `chains` and judging a fleet reads what changed.
--
-- …_at_ms and …_ms are epoch milliseconds. Every key begins with the Temporal cluster's id: two clusters that both have
-- a namespace `default` never mix. Texts that are identities sort by bytes, the same on every machine.

-- Of each applied file, so that a file which was changed afterwards is noticed.
create table temporal_health.migration_checksums (
  name text collate "C" primary key,
  sha256 text not null
);

create table temporal_health.contracts (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_type text collate "C" not null,
  digest text collate "C" not null,
  -- Grows: the greatest one of a type is its newest contract.
  registration bigint generated always as identity,
  registered_at_ms bigint not null,
  contract jsonb not null,
  primary key (cluster_id, namespace, workflow_type, digest)
);

create table temporal_health.receipts (
  receipt_id uuid not null,
  run_started_at_ms bigint not null,
  fence bigint not null,
  occurred_at_ms bigint not null,
  recorded_at_ms bigint not null,
  attempt integer not null,
  sequence integer not null,
  schema_version smallint not null,
  sanitised boolean not null,
  kind text collate "C" not null check (kind in ('progress', 'wait', 'effect', 'deliverable')),
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  run_id text collate "C" not null,
  chain_id text collate "C" not null,
  workflow_type text collate "C" not null,
  emitter text collate "C" not null,
  activity_type text collate "C",
  mission_fingerprint text collate "C",
  -- SHA-256 of kind and body in canonical form: the same id with another one is refused.
  body_digest bytea not null,
  body jsonb not null,
  primary key (receipt_id)
) partition by range (receipt_id);

create table temporal_health.receipts_default partition of temporal_health.receipts default;

-- For the receipts of one chain in store order, from the beginning or up to a moment: `explain --at`, an export. A chain id
-- is a run id, so the rest of the key would make the index larger and no finer.
create index receipts_of_chain on temporal_health.receipts (chain_id, recorded_at_ms);

-- One row per chain, written anew by every batch that touches it: not compressed, because that would be done every time.
create table temporal_health.chains (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  workflow_type text collate "C" not null,
  run_id text collate "C" not null,
  run_started_at_ms bigint not null,
  contract_digest text collate "C",
  mission_fingerprint text collate "C",
  receipt_count bigint not null,
  first_receipt_at_ms bigint not null,
  -- Sort receipts that were recorded in the same millisecond: what the row takes from the first receipt follows the least.
  first_fence bigint not null,
  first_attempt integer not null,
  first_sequence integer not null,
  first_receipt_id uuid not null,
  last_receipt_at_ms bigint not null,
  evidence_version bigint not null,
  state jsonb not null,
  -- When the chain is due to be judged; the judge's only list of work.
  judge_at timestamptz,
  verdict text collate "C",
  verdict_reason text collate "C",
  verdict_since_ms bigint,
  verdict_evidence_version bigint,
  primary key (cluster_id, namespace, workflow_id, chain_id)
) with (fillfactor = 60, toast_tuple_target = 8160);

-- The only index beside the key, and its column moves only when it must: other updates stay within their page (HOT).
create index chains_due on temporal_health.chains (judge_at) where judge_at is not null;

-- The places of receipts that were refused: so that a place in a sequence whose sender was told is no hole. No body.
create table temporal_health.refusals (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  run_id text collate "C" not null,
  emitter text collate "C" not null,
  fence bigint not null,
  attempt integer not null,
  sequence integer not null,
  recorded_at_ms bigint not null,
  receipt_id uuid not null,
  run_started_at_ms bigint not null,
  schema_version smallint not null,
  kind text collate "C" not null,
  workflow_type text collate "C" not null,
  activity_type text collate "C",
  mission_fingerprint text collate "C",
  code text collate "C" not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt, sequence)
);

-- Per emitter its newest fence and which places of that fence's sequence were taken: decides what is late and what is
-- missing. A place that is taken twice is taken once, so a second receipt of one place hides no hole.
create table temporal_health.emitters (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  run_id text collate "C" not null,
  emitter text collate "C" not null,
  fence bigint not null,
  attempt integer not null,
  taken int4multirange not null,
  gap_since_ms bigint,
  -- Whether places were missing before the statement that touched it last.
  had_gap boolean not null,
  -- Whether another fence of it ever wrote.
  has_other_fences boolean not null,
  last_recorded_at_ms bigint not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, run_id, emitter)
) with (fillfactor = 60);

-- The same of fences that are not their emitter's newest: what is missing of a replaced attempt stays missing.
create table temporal_health.replaced_fences (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  run_id text collate "C" not null,
  emitter text collate "C" not null,
  fence bigint not null,
  attempt integer not null,
  taken int4multirange not null,
  gap_since_ms bigint,
  had_gap boolean not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt)
);

-- Everything an operation's receipts add up to, per chain, also after it has left the chain's row.
create table temporal_health.effects (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  operation_id text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  -- The name under which it counted as verified before its newest receipt.
  counted_as text collate "C",
  last_receipt_id uuid not null,
  entry jsonb not null,
  primary key (cluster_id, namespace, operation_id, workflow_id, chain_id)
) with (fillfactor = 70);

-- Every wait, also after it has left the chain's row: a late `open` must not open it again.
create table temporal_health.waits (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  -- The resume token; the receipt's id where a wait has none.
  wait_key text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  mission text collate "C" not null,
  last_receipt_id uuid not null,
  entry jsonb not null,
  primary key (cluster_id, namespace, wait_key, workflow_id, chain_id, mission)
) with (fillfactor = 70);

-- The newest check of each deliverable by each check that ran.
create table temporal_health.deliverables (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  mission text collate "C" not null,
  name text collate "C" not null,
  check_name text collate "C" not null,
  last_receipt_id uuid not null,
  entry jsonb not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, mission, name, check_name)
) with (fillfactor = 70);

-- What Temporal said of a run at a moment. Only grows, so that a past moment is judged by what was known then.
create table temporal_health.observations (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  observed_at_ms bigint not null,
  observation bigint generated always as identity,
  run_id text collate "C" not null,
  closed boolean not null,
  temporal jsonb not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, observed_at_ms, observation)
);

-- Each change of verdict with what decided it. Only grows.
create table temporal_health.judgements (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  place bigint generated always as identity,
  run_id text collate "C" not null,
  evidence_version bigint not null,
  rule_version text not null,
  judged_at_ms bigint not null,
  verdict text collate "C",
  reason text collate "C" not null,
  judgement jsonb not null,
  primary key (cluster_id, namespace, workflow_id, chain_id, place)
);

-- When a worker could not write; recorded on its return.
create table temporal_health.gaps (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  worker_id text collate "C" not null,
  from_ms bigint not null,
  until_ms bigint,
  primary key (cluster_id, namespace, worker_id, from_ms)
);

-- Appends a judgement unless the newest of its chain says the same verdict and reason; true when it was appended. Two
-- judges at once take turns. The chain's row, where there is one, shows the newest.
create function temporal_health.record_judgement(
  cluster_id text, namespace text, workflow_id text, chain_id text, run_id text, evidence_version bigint,
  rule_version text, judged_at_ms bigint, verdict text, reason text, judgement jsonb
) returns boolean
language plpgsql volatile as $$
#variable_conflict use_column
declare
  newest record;
begin
  perform pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2 || chr(31) || $3 || chr(31) || $4, 0));
  select j.verdict, j.reason into newest
  from temporal_health.judgements as j
  where (j.cluster_id, j.namespace, j.workflow_id, j.chain_id) = ($1, $2, $3, $4)
  order by j.place desc
  limit 1;
  if found and newest.verdict is not distinct from $9 and newest.reason = $10 then
    return false;
  end if;
  insert into temporal_health.judgements (
    cluster_id, namespace, workflow_id, chain_id, run_id, evidence_version, rule_version, judged_at_ms, verdict, reason,
    judgement)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
  update temporal_health.chains as c
  set verdict = $9, verdict_reason = $10, verdict_since_ms = $8, verdict_evidence_version = $6
  where (c.cluster_id, c.namespace, c.workflow_id, c.chain_id) = ($1, $2, $3, $4);
  return true;
end;
$$;
