-- The schema temporal_health as the files in sql/ make it, read from the catalog of PostgreSQL 18. Written by
-- `npx vitest run --project store test/store/schema.test.ts -u`; for reading, not for running.

table chains (
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
  first_fence bigint not null,
  first_attempt integer not null,
  first_sequence integer not null,
  first_receipt_id uuid not null,
  last_receipt_at_ms bigint not null,
  evidence_version bigint not null,
  state jsonb not null,
  judge_at timestamp with time zone,
  verdict text collate "C",
  verdict_reason text collate "C",
  verdict_since_ms bigint,
  verdict_evidence_version bigint
) with (fillfactor=60, toast_tuple_target=8160)

table contracts (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_type text collate "C" not null,
  digest text collate "C" not null,
  registration bigint not null generated as identity,
  registered_at_ms bigint not null,
  contract jsonb not null
)

table deliverables (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  mission text collate "C" not null,
  name text collate "C" not null,
  check_name text collate "C" not null,
  last_receipt_id uuid not null,
  entry jsonb not null
) with (fillfactor=70)

table effects (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  operation_id text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  counted_as text collate "C",
  last_receipt_id uuid not null,
  entry jsonb not null
) with (fillfactor=70)

table emitters (
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
  has_other_fences boolean not null,
  last_recorded_at_ms bigint not null
) with (fillfactor=60)

table gaps (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  worker_id text collate "C" not null,
  from_ms bigint not null,
  until_ms bigint
)

table judgements (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  place bigint not null generated as identity,
  run_id text collate "C" not null,
  evidence_version bigint not null,
  rule_version text not null,
  judged_at_ms bigint not null,
  verdict text collate "C",
  reason text collate "C" not null,
  judgement jsonb not null
)

table migration_checksums (
  name text collate "C" not null,
  sha256 text not null
)

table migrations (
  id integer not null default nextval('temporal_health.migrations_id_seq'::regclass),
  name character varying(255) not null,
  run_on timestamp without time zone not null
)

table observations (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  observed_at_ms bigint not null,
  observation bigint not null generated as identity,
  run_id text collate "C" not null,
  closed boolean not null,
  temporal jsonb not null
)

table receipts (
  receipt_id uuid not null,
  run_started_at_ms bigint not null,
  fence bigint not null,
  occurred_at_ms bigint not null,
  recorded_at_ms bigint not null,
  attempt integer not null,
  sequence integer not null,
  schema_version smallint not null,
  sanitised boolean not null,
  kind text collate "C" not null,
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  run_id text collate "C" not null,
  chain_id text collate "C" not null,
  workflow_type text collate "C" not null,
  emitter text collate "C" not null,
  activity_type text collate "C",
  mission_fingerprint text collate "C",
  body_digest bytea not null,
  body jsonb not null
) partition by RANGE (receipt_id)

table receipts_default (
  receipt_id uuid not null,
  run_started_at_ms bigint not null,
  fence bigint not null,
  occurred_at_ms bigint not null,
  recorded_at_ms bigint not null,
  attempt integer not null,
  sequence integer not null,
  schema_version smallint not null,
  sanitised boolean not null,
  kind text collate "C" not null,
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  workflow_id text collate "C" not null,
  run_id text collate "C" not null,
  chain_id text collate "C" not null,
  workflow_type text collate "C" not null,
  emitter text collate "C" not null,
  activity_type text collate "C",
  mission_fingerprint text collate "C",
  body_digest bytea not null,
  body jsonb not null
) partition DEFAULT

table refusals (
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
  code text collate "C" not null
)

table replaced_fences (
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
  had_gap boolean not null
)

table waits (
  cluster_id text collate "C" not null,
  namespace text collate "C" not null,
  wait_key text collate "C" not null,
  workflow_id text collate "C" not null,
  chain_id text collate "C" not null,
  mission text collate "C" not null,
  last_receipt_id uuid not null,
  entry jsonb not null
) with (fillfactor=70)

constraint chains_pkey on temporal_health.chains: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id)
constraint contracts_pkey on temporal_health.contracts: PRIMARY KEY (cluster_id, namespace, workflow_type, digest)
constraint deliverables_pkey on temporal_health.deliverables: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, mission, name, check_name)
constraint effects_pkey on temporal_health.effects: PRIMARY KEY (cluster_id, namespace, operation_id, workflow_id, chain_id)
constraint emitters_pkey on temporal_health.emitters: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, run_id, emitter)
constraint gaps_pkey on temporal_health.gaps: PRIMARY KEY (cluster_id, namespace, worker_id, from_ms)
constraint judgements_pkey on temporal_health.judgements: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, place)
constraint migration_checksums_pkey on temporal_health.migration_checksums: PRIMARY KEY (name)
constraint migrations_pkey on temporal_health.migrations: PRIMARY KEY (id)
constraint observations_pkey on temporal_health.observations: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, observed_at_ms, observation)
constraint receipts_kind_check on temporal_health.receipts: CHECK ((kind = ANY (ARRAY['progress'::text, 'wait'::text, 'effect'::text, 'deliverable'::text])))
constraint receipts_pkey on temporal_health.receipts: PRIMARY KEY (receipt_id)
constraint receipts_kind_check on temporal_health.receipts_default: CHECK ((kind = ANY (ARRAY['progress'::text, 'wait'::text, 'effect'::text, 'deliverable'::text])))
constraint refusals_pkey on temporal_health.refusals: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt, sequence)
constraint replaced_fences_pkey on temporal_health.replaced_fences: PRIMARY KEY (cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt)
constraint waits_pkey on temporal_health.waits: PRIMARY KEY (cluster_id, namespace, wait_key, workflow_id, chain_id, mission)

CREATE INDEX chains_due ON temporal_health.chains USING btree (judge_at) WHERE (judge_at IS NOT NULL)
CREATE INDEX receipts_of_chain ON ONLY temporal_health.receipts USING btree (chain_id, recorded_at_ms)

CREATE OR REPLACE FUNCTION temporal_health.change_fence(block temporal_health.emitter_block)
 RETURNS temporal_health.emitter_block
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  known temporal_health.emitters;
begin
  select e.* into strict known
  from temporal_health.emitters as e
  where (e.cluster_id, e.namespace, e.workflow_id, e.chain_id, e.run_id, e.emitter)
    = (block.cluster_id, block.namespace, block.workflow_id, block.chain_id, block.run_id, block.emitter)
  for update;
  block.is_late := (block.fence, block.attempt) < (known.fence, known.attempt);
  block.recorded_at_ms := greatest(block.recorded_at_ms, known.last_recorded_at_ms + block.is_late::integer);
  block.gap_since_ms := case when temporal_health.has_hole(block.taken) then block.recorded_at_ms end;
  if block.is_late then
    insert into temporal_health.replaced_fences as f (
      cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt, taken, gap_since_ms, had_gap)
    values (
      block.cluster_id, block.namespace, block.workflow_id, block.chain_id, block.run_id, block.emitter, block.fence,
      block.attempt, block.taken, block.gap_since_ms, false)
    on conflict (cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt) do update
    set
      taken = f.taken + excluded.taken,
      gap_since_ms = case
        when temporal_health.has_hole(f.taken + excluded.taken)
          then coalesce(f.gap_since_ms, block.recorded_at_ms)
      end,
      had_gap = f.gap_since_ms is not null
    returning f.taken, f.gap_since_ms, f.had_gap into block.taken, block.gap_since_ms, block.had_gap;
  else
    insert into temporal_health.replaced_fences (
      cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt, taken, gap_since_ms, had_gap)
    values (
      known.cluster_id, known.namespace, known.workflow_id, known.chain_id, known.run_id, known.emitter, known.fence,
      known.attempt, known.taken, known.gap_since_ms, known.gap_since_ms is not null);
    known.fence := block.fence;
    known.attempt := block.attempt;
    known.taken := block.taken;
    known.gap_since_ms := block.gap_since_ms;
  end if;
  update temporal_health.emitters as e
  set
    fence = known.fence,
    attempt = known.attempt,
    taken = known.taken,
    gap_since_ms = known.gap_since_ms,
    had_gap = false,
    has_other_fences = true,
    last_recorded_at_ms = block.recorded_at_ms
  where (e.cluster_id, e.namespace, e.workflow_id, e.chain_id, e.run_id, e.emitter)
    = (known.cluster_id, known.namespace, known.workflow_id, known.chain_id, known.run_id, known.emitter);
  block.newest_fence := temporal_health.fence_key(known.fence, known.attempt);
  return block;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.correct_recorded(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[], recorded_ms bigint)
 RETURNS temporal_health.receipts[]
 LANGUAGE plpgsql
AS $function$
declare
  corrected temporal_health.receipts[];
  one temporal_health.receipts;
begin
  corrected := array(
    select case
      when b.recorded_at_ms = r.recorded_at_ms then r
      else jsonb_populate_record(r, jsonb_build_object('recorded_at_ms', b.recorded_at_ms))
    end
    from unnest(fresh) as r
    join unnest(blocks) as b using (run_id, emitter, chain_id, workflow_id, namespace, cluster_id));
  foreach one in array corrected loop
    if one.recorded_at_ms <> recorded_ms then
      update temporal_health.receipts as r
      set recorded_at_ms = one.recorded_at_ms
      where r.receipt_id = one.receipt_id;
    end if;
  end loop;
  return corrected;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.count_effect(counts jsonb, name text, step integer)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (name IS NULL) THEN counts WHEN ((COALESCE(((counts -> name))::integer, 0) + step) = 0) THEN (counts - name) ELSE (counts || jsonb_build_object(name, (COALESCE(((counts -> name))::integer, 0) + step))) END

CREATE OR REPLACE FUNCTION temporal_health.counts_as(entry jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (temporal_health.effect_state(entry) = 'verified'::text) THEN (entry ->> 'name'::text) ELSE NULL::text END

CREATE OR REPLACE FUNCTION temporal_health.deliverable_entry(r temporal_health.receipts)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return jsonb_build_object(
    'receiptId', r.receipt_id,
    'runId', r.run_id,
    'order', temporal_health.order_key(r.fence, r.attempt, r.sequence),
    'checkedAtMs', least(r.occurred_at_ms, r.recorded_at_ms),
    'destination', r.body -> 'destination',
    'check', r.body -> 'check',
    'result', r.body -> 'result',
    'subject', r.body -> 'subject',
    'coverage', r.body -> 'coverage',
    'confidence', r.body -> 'confidence',
    'cause', r.body -> 'cause');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.effect_entry(r temporal_health.receipts)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  body constant jsonb := r.body;
  -- Without somebody's verdict, "verified" and "none" are claims about a call that may have left: it stays open.
  says constant text := case
    when not body ? 'verdict' and body ->> 'state' <> 'unknown' then 'attempted'
    else body ->> 'state'
  end;
  mark constant jsonb := jsonb_build_object(
    'order', temporal_health.order_key(r.fence, r.attempt, r.sequence),
    'atMs', least(r.occurred_at_ms, r.recorded_at_ms),
    'receiptId', r.receipt_id,
    'runId', r.run_id,
    'emitter', r.emitter,
    'attempt', r.attempt);
begin
  return jsonb_build_object(
    'operationId', body -> 'operationId',
    'name', body -> 'name',
    'role', coalesce(body -> 'role', '"effect"'),
    'deliverable', body -> 'deliverable',
    'target', body -> 'target',
    'inputDigest', body -> 'inputDigest',
    'class', body -> 'class',
    'attempted', case when says = 'attempted' then mark end,
    'unknown', case when says = 'unknown' then mark end,
    'verified', case when says = 'verified' then mark end,
    'none', case when says = 'none' then mark end,
    'level', case when says = 'verified' then body #> '{verdict,level}' end,
    'resultDigest', body #> '{verdict,resultDigest}',
    'contradicted', false,
    'protectedUntilMs', body -> 'protectedUntilMs');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.effect_state(entry jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  attempted constant text collate "C" := entry #>> '{attempted,order}';
  unknown constant text collate "C" := entry #>> '{unknown,order}';
  verified constant text collate "C" := entry #>> '{verified,order}';
  none constant text collate "C" := entry #>> '{none,order}';
  open constant text collate "C" := greatest(attempted, unknown);
  settled constant text collate "C" := greatest(verified, none);
begin
  -- A verdict speaks for every attempt up to its own place in the order; only a later attempt is open again.
  if open is not null and (settled is null or settled < open) then
    return case when unknown is not null and (attempted is null or unknown > attempted) then 'unknown' else 'attempted' end;
  end if;
  return case when verified is not null then 'verified' else 'none' end;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.emit(store_cluster_id text, receipt_ids uuid[], kinds text[], namespaces text[], workflow_ids text[], run_ids text[], chain_ids text[], workflow_types text[], run_starts_ms bigint[], emitter_ids text[], activity_types text[], fences bigint[], attempts integer[], sequences integer[], missions text[], schema_versions smallint[], sanitised_ones boolean[], occurred_ms bigint[], body_digests bytea[], bodies jsonb[], OUT outcomes text[], OUT store_now_ms bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET enable_nestloop TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  recorded_ms constant bigint := temporal_health.epoch_ms(now());
  fresh temporal_health.receipts[];
  blocks temporal_health.emitter_block[];
  brought jsonb := '{}';
  -- Nothing is late, and every recorded time is the statement's.
  as_usual boolean := true;
begin
  with put as (
    insert into temporal_health.receipts as r (
      receipt_id, kind, cluster_id, namespace, workflow_id, run_id, chain_id, workflow_type, run_started_at_ms, emitter,
      activity_type, fence, attempt, sequence, mission_fingerprint, schema_version, sanitised, occurred_at_ms,
      body_digest, body, recorded_at_ms)
    select
      g.receipt_id, g.kind, store_cluster_id, g.namespace, g.workflow_id, g.run_id, g.chain_id, g.workflow_type,
      g.run_started_at_ms, g.emitter, g.activity_type, g.fence, g.attempt, g.sequence, g.mission_fingerprint,
      g.schema_version, g.sanitised, g.occurred_at_ms, g.body_digest, g.body, recorded_ms
    from unnest(
      receipt_ids, kinds, namespaces, workflow_ids, run_ids, chain_ids, workflow_types, run_starts_ms, emitter_ids,
      activity_types, fences, attempts, sequences, missions, schema_versions, sanitised_ones, occurred_ms,
      body_digests, bodies
    ) as g (
      receipt_id, kind, namespace, workflow_id, run_id, chain_id, workflow_type, run_started_at_ms, emitter,
      activity_type, fence, attempt, sequence, mission_fingerprint, schema_version, sanitised, occurred_at_ms,
      body_digest, body)
    order by g.receipt_id
    on conflict (receipt_id) do nothing
    returning r as receipt
  )
  select coalesce(array_agg(put.receipt), '{}') into fresh from put;

  if cardinality(fresh) > 0 then
    blocks := temporal_health.put_emitters(fresh, recorded_ms);
    as_usual := not exists (select from unnest(blocks) as b where b.is_late or b.recorded_at_ms <> recorded_ms);
    if not as_usual then
      fresh := temporal_health.correct_recorded(fresh, blocks, recorded_ms);
    end if;
    if 'effect' = any (kinds) then
      brought := brought || temporal_health.put_effects(fresh);
    end if;
    if 'wait' = any (kinds) then
      brought := brought || temporal_health.put_waits(fresh, blocks);
    end if;
    if 'deliverable' = any (kinds) then
      brought := brought || temporal_health.put_deliverables(fresh, blocks);
    end if;
    perform temporal_health.put_chains(fresh, blocks, brought);
  end if;

  store_now_ms := temporal_health.epoch_ms(clock_timestamp());
  if as_usual and cardinality(fresh) = cardinality(receipt_ids) then
    outcomes := array_fill('stored'::text, array[cardinality(receipt_ids)]);
    return;
  end if;
  outcomes := array(
    select case
      when b.is_late then 'late'
      when r.receipt_id is not null then 'stored'
      when g.body_digest = (
        select k.body_digest from temporal_health.receipts as k where k.receipt_id = g.receipt_id) then 'repeat'
      else 'conflict'
    end
    from unnest(receipt_ids, body_digests) with ordinality as g (receipt_id, body_digest, place)
    left join unnest(fresh) as r using (receipt_id)
    left join unnest(blocks) as b using (run_id, emitter, chain_id, workflow_id, namespace, cluster_id)
    order by g.place);
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.epoch_ms(at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (floor((EXTRACT(epoch FROM at) * (1000)::numeric)))::bigint

CREATE OR REPLACE FUNCTION temporal_health.fence_key(fence bigint, attempt integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((((repeat('0'::text, (15 - length((fence)::text))) || fence) || '.'::text) || repeat('0'::text, (8 - length((attempt)::text)))) || attempt)

CREATE OR REPLACE FUNCTION temporal_health.fold_chain(state jsonb, items jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  -- Unpacked once: a column's value would be by every look at it.
  folded jsonb := state || '{}';
  item jsonb;
  path text[];
begin
  if jsonb_typeof(items -> 'gaps') = 'object' then
    folded := folded || jsonb_build_object(
      'emitterGaps', jsonb_strip_nulls((folded -> 'emitterGaps') || (items -> 'gaps')));
  end if;
  if jsonb_typeof(items -> 'fences') = 'object' then
    folded := folded || jsonb_build_object('newestFences', (
      select jsonb_object_agg(newest.key, newest.value)
      from (
        select known.key, known.value
        from jsonb_each_text((folded -> 'newestFences') || (items -> 'fences')) as known
        order by known.value collate "C" desc, known.key collate "C" desc
        limit 16
      ) as newest));
  end if;
  if jsonb_typeof(items -> 'late') = 'array' then
    folded := folded || jsonb_build_object('late', jsonb_build_object(
      'count', (folded #> '{late,count}')::integer + jsonb_array_length(items -> 'late'),
      'receiptIds', (
        select jsonb_agg(newest.id order by newest.id collate "C")
        from (
          select late.id
          from jsonb_array_elements_text((folded #> '{late,receiptIds}') || (items -> 'late')) as late (id)
          order by late.id collate "C" desc
          limit 8
        ) as newest)));
  end if;
  for place in 0 .. jsonb_array_length(items -> 'items') - 1
  loop
    item := items #> array['items', place::text];
    path := array['missions', item ->> 'mission'];
    if item ->> 'kind' = 'effect' then
      folded := temporal_health.fold_effect(
        folded, item #>> '{entry,operationId}', item -> 'entry', item ->> 'countedAs');
    elsif item ->> 'kind' = 'progress' and folded #> path is not null then
      -- As fold_in_mission does, without writing the mission once more.
      path := path || array['milestones', item ->> 'milestone'];
      folded := jsonb_set(folded, path, temporal_health.fold_milestone(folded #> path, item));
    else
      folded := jsonb_set(folded, path, temporal_health.fold_in_mission(
        coalesce(folded #> path, '{"milestones": {}, "waits": {}, "deliverables": {}, "resumedAtMs": null}'), item));
    end if;
  end loop;
  return folded;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.fold_effect(state jsonb, operation_id text, entry jsonb, counted_as text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  effects jsonb;
  older jsonb;
  leaving record;
begin
  -- The usual case, without taking the state apart: nothing that had left comes back, and nothing can have to leave, since
  -- one entry alone is over 256 bytes.
  if counted_as is null and pg_column_size(state) <= 64 * 256 then
    return jsonb_set(state, array['effects', operation_id], entry);
  end if;
  effects := state -> 'effects';
  older := state -> 'settledOlder';
  -- One that had left the row comes back to be judged anew, so it may not stay counted among those that left.
  if not effects ? operation_id then
    older := temporal_health.count_effect(older, counted_as, -1);
  end if;
  effects := effects || jsonb_build_object(operation_id, entry);
  if (select count(*) from jsonb_object_keys(effects)) > 64 then
    for leaving in
      select kept.key, kept.value
      from jsonb_each(effects) as kept
      where temporal_health.is_settled(kept.value)
      order by
        coalesce(kept.value #>> '{verified,order}', kept.value #>> '{none,order}') collate "C" desc,
        kept.key collate "C" desc
      offset 64
    loop
      effects := effects - leaving.key;
      older := temporal_health.count_effect(older, temporal_health.counts_as(leaving.value), 1);
    end loop;
  end if;
  return state || jsonb_build_object('effects', effects, 'settledOlder', older);
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.fold_in_mission(mission jsonb, item jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  waits jsonb;
begin
  case item ->> 'kind'
    when 'progress' then
      return jsonb_set(mission, array['milestones', item ->> 'milestone'],
        temporal_health.fold_milestone(mission #> array['milestones', item ->> 'milestone'], item));
    when 'wait' then
      waits := (mission -> 'waits') - (item ->> 'key');
      if item #>> '{entry,state}' in ('open', 'expired', 'resolved') then
        waits := waits || jsonb_build_object(item ->> 'key', item -> 'entry');
      end if;
      return mission || jsonb_build_object(
        'waits', waits,
        'resumedAtMs', temporal_health.greatest_number(mission -> 'resumedAtMs', item -> 'endedAtMs'));
    when 'deliverable' then
      return jsonb_set(mission, array['deliverables', item ->> 'name'],
        coalesce(mission #> array['deliverables', item ->> 'name'], '{}')
        || jsonb_build_object(item #>> '{entry,check}', item -> 'entry'));
  end case;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.fold_milestone(before jsonb, item jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  at_ms constant bigint := item -> 'atMs';
  receipt_id constant text := item ->> 'receiptId';
  entry constant text := temporal_health.seen_entry(
    item ->> 'key', at_ms, receipt_id, (item ->> 'expectByMs')::numeric);
  seen constant text := before ->> 'seen';
  latest_at_ms constant bigint := before -> 'latestAtMs';
  newer constant boolean := before is null or at_ms > latest_at_ms;
begin
  if newer or (at_ms = latest_at_ms and receipt_id collate "C" > (before ->> 'latestReceiptId') collate "C") then
    return jsonb_build_object(
      'seen', case
        when before is null then entry
        -- The usual case, without sorting: a digest that is not remembered, reached after all that are. The characters
        -- that are looked for lie within the key; if they are found by chance, the long way gives the same.
        when newer and strpos(seen, substr(entry, 17, 10)) = 0 then
          -- `left` would count characters one by one; all are of one byte.
          convert_from(substr(convert_to(entry || seen, 'UTF8'), 1, 32 * 48), 'UTF8')
        else temporal_health.remember_digest(seen, entry)
      end,
      'latestAtMs', at_ms,
      'latestReceiptId', receipt_id,
      'step', item -> 'step',
      'end', item -> 'end');
  end if;
  return before || jsonb_build_object('seen', temporal_health.remember_digest(seen, entry));
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.greatest_number(known jsonb, said jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (jsonb_typeof(known) = 'null'::text) THEN said WHEN (jsonb_typeof(said) = 'null'::text) THEN known WHEN ((known)::numeric >= (said)::numeric) THEN known ELSE said END

CREATE OR REPLACE FUNCTION temporal_health.has_hole(taken int4multirange)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (taken <> int4multirange(int4range(1, upper(taken))))

CREATE OR REPLACE FUNCTION temporal_health.is_settled(entry jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((temporal_health.effect_state(entry) = ANY (ARRAY['verified'::text, 'none'::text])) AND (NOT ((entry -> 'contradicted'::text))::boolean) AND (NOT COALESCE((((entry #>> '{none,order}'::text[]) COLLATE "C") > ((entry #>> '{verified,order}'::text[]) COLLATE "C")), false)))

CREATE OR REPLACE FUNCTION temporal_health.join_effects(before jsonb, entry jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  verified constant jsonb := temporal_health.later_of(before -> 'verified', entry -> 'verified');
begin
  -- `least` and `greatest` leave out what is null.
  return jsonb_build_object(
    'operationId', entry -> 'operationId',
    'name', least((before ->> 'name') collate "C", entry ->> 'name'),
    'role', case when before ->> 'role' = 'delivery' then before -> 'role' else entry -> 'role' end,
    'deliverable', least((before ->> 'deliverable') collate "C", entry ->> 'deliverable'),
    'target', least((before ->> 'target') collate "C", entry ->> 'target'),
    'inputDigest', least((before ->> 'inputDigest') collate "C", entry ->> 'inputDigest'),
    'class', least((before ->> 'class') collate "C", entry ->> 'class'),
    'attempted', temporal_health.later_of(before -> 'attempted', entry -> 'attempted'),
    'unknown', temporal_health.later_of(before -> 'unknown', entry -> 'unknown'),
    'verified', verified,
    'none', temporal_health.later_of(before -> 'none', entry -> 'none'),
    'level', case when verified = before -> 'verified' then before -> 'level' else entry -> 'level' end,
    'resultDigest', least((before ->> 'resultDigest') collate "C", entry ->> 'resultDigest'),
    'contradicted',
      (before -> 'contradicted')::boolean
      or coalesce(before ->> 'resultDigest' <> entry ->> 'resultDigest', false),
    'protectedUntilMs',
      greatest((before ->> 'protectedUntilMs')::numeric, (entry ->> 'protectedUntilMs')::numeric));
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.join_waits(before jsonb, entry jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  newest constant jsonb := case
    when (entry ->> 'receiptId') collate "C" > (before ->> 'receiptId') collate "C" then entry
    else before
  end;
  reached constant jsonb := case
    when temporal_health.wait_life(entry ->> 'state') > temporal_health.wait_life(before ->> 'state')
      or (entry ->> 'state' = before ->> 'state'
        and (entry -> 'changedAtMs')::numeric < (before -> 'changedAtMs')::numeric)
      then entry
    else before
  end;
begin
  return newest || jsonb_build_object(
    'state', reached -> 'state',
    'changedAtMs', reached -> 'changedAtMs',
    'openedAtMs', least((before -> 'openedAtMs')::numeric, (entry -> 'openedAtMs')::numeric));
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.later_of(known jsonb, said jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  if jsonb_typeof(known) = 'null' then
    return said;
  elsif jsonb_typeof(said) = 'null' or temporal_health.place_of(said) collate "C" <= temporal_health.place_of(known) collate "C" then
    return known;
  end if;
  return said;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.missing_of(taken int4multirange)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((upper(taken) - 1) - (SELECT (sum((upper(part.part) - lower(part.part))))::integer AS sum FROM unnest(missing_of.taken) part(part)))

CREATE OR REPLACE FUNCTION temporal_health.order_key(fence bigint, attempt integer, sequence integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((temporal_health.fence_key(fence, attempt) || '.'::text) || repeat('0'::text, (8 - length((sequence)::text)))) || sequence)

CREATE OR REPLACE FUNCTION temporal_health.place_of(mark jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((mark ->> 'order'::text) || (mark ->> 'receiptId'::text)) COLLATE "C")

CREATE OR REPLACE FUNCTION temporal_health.put_chains(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[], brought jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  new_chains tid[];
begin
  with told as (
    select
      r.cluster_id, r.namespace, r.workflow_id, r.chain_id, r.run_id, r.emitter, r.kind, r.workflow_type,
      r.mission_fingerprint, r.run_started_at_ms, r.recorded_at_ms, r.fence, r.attempt, r.sequence, r.receipt_id,
      b.is_late,
      b.newest_fence,
      case
        when b.had_gap or b.gap_since_ms is not null
          then r.run_id || '/' || r.emitter || '/' || temporal_health.fence_key(b.fence, b.attempt)
      end as gap_key,
      case
        when b.gap_since_ms is not null then jsonb_build_object(
          'runId', r.run_id, 'emitter', r.emitter, 'fence', b.fence, 'attempt', b.attempt,
          'missing', temporal_health.missing_of(b.taken), 'sinceMs', b.gap_since_ms)
      end as gap,
      case
        when r.kind = 'progress' then jsonb_build_object(
          'kind', 'progress',
          'mission', coalesce(r.mission_fingerprint, ''),
          'milestone', r.body -> 'milestone',
          'key', left(encode(sha256(convert_to(r.body ->> 'digest', 'UTF8')), 'hex'), 16),
          'atMs', least(r.occurred_at_ms, r.recorded_at_ms),
          'receiptId', r.receipt_id,
          'expectByMs', r.body -> 'expectByMs',
          'step', r.body -> 'step',
          'end', r.body -> 'end')
        else brought -> r.receipt_id::text
      end as item
    from unnest(fresh) as r
    join unnest(blocks) as b using (run_id, emitter, chain_id, workflow_id, namespace, cluster_id)
    -- The first of each array below is the chain's first receipt.
    order by r.workflow_id, r.chain_id, r.namespace, r.cluster_id, r.recorded_at_ms, r.fence, r.attempt, r.sequence,
      r.receipt_id
  ),
  grouped as (
    select
      t.cluster_id, t.namespace, t.workflow_id, t.chain_id,
      count(*) filter (where t.kind <> 'refused') as receipts,
      count(*) as changes,
      max(lpad(t.run_started_at_ms::text, 15, '0') || t.run_id) as newest_run,
      (array_agg(t.workflow_type))[1] as workflow_type,
      (array_agg(t.mission_fingerprint))[1] as mission_fingerprint,
      (array_agg(t.recorded_at_ms))[1] as first_ms,
      (array_agg(t.fence))[1] as first_fence,
      (array_agg(t.attempt))[1] as first_attempt,
      (array_agg(t.sequence))[1] as first_sequence,
      (array_agg(t.receipt_id))[1] as first_receipt_id,
      max(t.recorded_at_ms) as last_ms,
      jsonb_build_object(
        'gaps', jsonb_object_agg(t.gap_key, t.gap) filter (where t.gap_key is not null),
        'fences', jsonb_object_agg(t.run_id || '/' || t.emitter, t.newest_fence) filter (where t.newest_fence is not null),
        'late', jsonb_agg(t.receipt_id) filter (where t.is_late and t.kind <> 'refused'),
        'items', coalesce(jsonb_agg(t.item) filter (where t.item is not null and (not t.is_late or t.kind = 'effect')), '[]')
      ) as items
    from told as t
    group by t.workflow_id, t.chain_id, t.namespace, t.cluster_id
  ),
  put as (
    insert into temporal_health.chains as c (
      cluster_id, namespace, workflow_id, chain_id, workflow_type, run_id, run_started_at_ms, mission_fingerprint,
      receipt_count, first_receipt_at_ms, first_fence, first_attempt, first_sequence, first_receipt_id,
      last_receipt_at_ms, evidence_version, judge_at, state)
    select
      g.cluster_id, g.namespace, g.workflow_id, g.chain_id, g.workflow_type, substr(g.newest_run, 16),
      left(g.newest_run, 15)::bigint, g.mission_fingerprint, g.receipts, g.first_ms, g.first_fence, g.first_attempt,
      g.first_sequence, g.first_receipt_id, g.last_ms, g.changes, now(), g.items
    from grouped as g
    order by g.workflow_id, g.chain_id, g.namespace, g.cluster_id
    on conflict (cluster_id, namespace, workflow_id, chain_id) do update
    set
      -- What the row takes from the first receipt moves only when one comes that was recorded before it.
      (workflow_type, mission_fingerprint, first_receipt_at_ms, first_fence, first_attempt, first_sequence,
        first_receipt_id) = (
        select
          case when f.is_first then excluded.workflow_type else c.workflow_type end,
          case when f.is_first then excluded.mission_fingerprint else c.mission_fingerprint end,
          case when f.is_first then excluded.first_receipt_at_ms else c.first_receipt_at_ms end,
          case when f.is_first then excluded.first_fence else c.first_fence end,
          case when f.is_first then excluded.first_attempt else c.first_attempt end,
          case when f.is_first then excluded.first_sequence else c.first_sequence end,
          case when f.is_first then excluded.first_receipt_id else c.first_receipt_id end
        from (
          select
            (excluded.first_receipt_at_ms, excluded.first_fence, excluded.first_attempt, excluded.first_sequence,
              excluded.first_receipt_id)
            < (c.first_receipt_at_ms, c.first_fence, c.first_attempt, c.first_sequence, c.first_receipt_id) as is_first
        ) as f),
      run_id = case
        when (excluded.run_started_at_ms, excluded.run_id) > (c.run_started_at_ms, c.run_id) then excluded.run_id
        else c.run_id
      end,
      run_started_at_ms = greatest(c.run_started_at_ms, excluded.run_started_at_ms),
      receipt_count = c.receipt_count + excluded.receipt_count,
      last_receipt_at_ms = greatest(c.last_receipt_at_ms, excluded.last_receipt_at_ms),
      evidence_version = c.evidence_version + excluded.evidence_version,
      judge_at = case when c.judge_at <= now() then c.judge_at else now() end,
      state = temporal_health.fold_chain(c.state, excluded.state)
    returning case when c.state ? 'items' then c.ctid end as new_chain
  )
  select array_agg(put.new_chain) filter (where put.new_chain is not null) into new_chains from put;

  if new_chains is not null then
    update temporal_health.chains as c
    set
      -- The contract that a chain is held to is the newest of its type at its first receipt.
      contract_digest = (
        select k.digest from temporal_health.contracts as k
        where (k.cluster_id, k.namespace, k.workflow_type) = (c.cluster_id, c.namespace, c.workflow_type)
        order by k.registration desc
        limit 1),
      state = temporal_health.fold_chain(
        '{"missions": {}, "effects": {}, "settledOlder": {}, "emitterGaps": {}, "newestFences": {}, "late": {"count": 0, "receiptIds": []}}',
        c.state)
    where c.ctid = any (new_chains);
  end if;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.put_deliverables(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[])
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  brought jsonb;
begin
  with put as (
    insert into temporal_health.deliverables as d (
      cluster_id, namespace, workflow_id, chain_id, mission, name, check_name, last_receipt_id, entry)
    select
      r.cluster_id, r.namespace, r.workflow_id, r.chain_id, coalesce(r.mission_fingerprint, ''), r.body ->> 'name',
      r.body ->> 'check', r.receipt_id, temporal_health.deliverable_entry(r)
    from unnest(fresh) as r
    join unnest(blocks) as b using (run_id, emitter, chain_id, workflow_id, namespace, cluster_id)
    where r.kind = 'deliverable' and not b.is_late
    order by r.cluster_id, r.namespace, r.workflow_id, r.chain_id, coalesce(r.mission_fingerprint, '') collate "C",
      (r.body ->> 'name') collate "C", (r.body ->> 'check') collate "C"
    on conflict (cluster_id, namespace, workflow_id, chain_id, mission, name, check_name) do update
    set
      last_receipt_id = excluded.last_receipt_id,
      entry = temporal_health.later_of(d.entry, excluded.entry)
    returning d.last_receipt_id, d.mission, d.name, d.entry
  )
  select jsonb_object_agg(put.last_receipt_id, jsonb_build_object(
    'kind', 'deliverable', 'mission', put.mission, 'name', put.name, 'entry', put.entry))
  into brought from put;
  return coalesce(brought, '{}');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.put_effects(fresh temporal_health.receipts[])
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  brought jsonb;
begin
  with put as (
    insert into temporal_health.effects as e (
      cluster_id, namespace, operation_id, workflow_id, chain_id, last_receipt_id, entry)
    select
      r.cluster_id, r.namespace, r.body ->> 'operationId', r.workflow_id, r.chain_id, r.receipt_id,
      temporal_health.effect_entry(r)
    from unnest(fresh) as r
    where r.kind = 'effect'
    order by r.cluster_id, r.namespace, (r.body ->> 'operationId') collate "C", r.workflow_id, r.chain_id
    on conflict (cluster_id, namespace, operation_id, workflow_id, chain_id) do update
    set
      counted_as = temporal_health.counts_as(e.entry),
      last_receipt_id = excluded.last_receipt_id,
      entry = temporal_health.join_effects(e.entry, excluded.entry)
    returning e.last_receipt_id, e.entry, e.counted_as
  )
  select jsonb_object_agg(put.last_receipt_id, jsonb_build_object(
    'kind', 'effect', 'entry', put.entry, 'countedAs', put.counted_as))
  into brought from put;
  return coalesce(brought, '{}');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.put_emitters(fresh temporal_health.receipts[], recorded_ms bigint)
 RETURNS temporal_health.emitter_block[]
 LANGUAGE plpgsql
AS $function$
declare
  blocks temporal_health.emitter_block[];
  of_blocks bigint;
begin
  with given as (
    select
      r.cluster_id, r.namespace, r.workflow_id, r.chain_id, r.run_id, r.emitter, r.fence, r.attempt,
      range_agg(int4range(r.sequence, r.sequence, '[]')) as taken
    from unnest(fresh) as r
    group by r.workflow_id, r.chain_id, r.run_id, r.emitter, r.namespace, r.cluster_id, r.fence, r.attempt
  ),
  put as (
    insert into temporal_health.emitters as e (
      cluster_id, namespace, workflow_id, chain_id, run_id, emitter, fence, attempt, taken, gap_since_ms, had_gap,
      has_other_fences, last_recorded_at_ms)
    select
      g.cluster_id, g.namespace, g.workflow_id, g.chain_id, g.run_id, g.emitter, g.fence, g.attempt, g.taken,
      case when temporal_health.has_hole(g.taken) then recorded_ms end, false, false, recorded_ms
    from given as g
    order by g.workflow_id, g.chain_id, g.run_id, g.emitter, g.namespace, g.cluster_id
    on conflict (cluster_id, namespace, workflow_id, chain_id, run_id, emitter) do update
    set (taken, gap_since_ms, had_gap, last_recorded_at_ms) = (
      select
        n.taken,
        case when temporal_health.has_hole(n.taken) then coalesce(e.gap_since_ms, n.taken_ms) end,
        e.gap_since_ms is not null,
        n.taken_ms
      from (
        select
          e.taken + excluded.taken as taken,
          -- `takenAtMs` in emitters.ts: recorded time and order together sort an emitter's receipts as they were taken.
          greatest(
            excluded.last_recorded_at_ms,
            e.last_recorded_at_ms + (lower(excluded.taken) < upper(e.taken))::integer) as taken_ms
      ) as n)
    -- Another one is locked here all the same, and left to `change_fence`.
    where (excluded.fence, excluded.attempt) = (e.fence, e.attempt)
    returning (
      e.cluster_id, e.namespace, e.workflow_id, e.chain_id, e.run_id, e.emitter, e.fence, e.attempt, e.taken,
      e.gap_since_ms, e.had_gap, false,
      case when e.has_other_fences then temporal_health.fence_key(e.fence, e.attempt) end,
      e.last_recorded_at_ms)::temporal_health.emitter_block as block
  )
  select array_agg(put.block), (select count(*) from given)
  into blocks, of_blocks
  from put;
  blocks := coalesce(blocks, '{}');
  if cardinality(blocks) < of_blocks then
    blocks := blocks || array(
      select temporal_health.change_fence(
        (other.cluster_id, other.namespace, other.workflow_id, other.chain_id, other.run_id, other.emitter, other.fence,
          other.attempt, other.taken, null, false, false, null, recorded_ms)::temporal_health.emitter_block)
      from (
        select
          r.cluster_id, r.namespace, r.workflow_id, r.chain_id, r.run_id, r.emitter, r.fence, r.attempt,
          range_agg(int4range(r.sequence, r.sequence, '[]')) as taken
        from unnest(fresh) as r
        where not exists (
          select from unnest(blocks) as b
          where (b.run_id, b.emitter, b.chain_id, b.workflow_id, b.namespace, b.cluster_id)
            = (r.run_id, r.emitter, r.chain_id, r.workflow_id, r.namespace, r.cluster_id))
        group by r.workflow_id, r.chain_id, r.run_id, r.emitter, r.namespace, r.cluster_id, r.fence, r.attempt
      ) as other
    );
  end if;
  return blocks;
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.put_waits(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[])
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  brought jsonb;
begin
  with put as (
    insert into temporal_health.waits as w (
      cluster_id, namespace, wait_key, workflow_id, chain_id, mission, last_receipt_id, entry)
    select
      r.cluster_id, r.namespace, temporal_health.wait_key(r), r.workflow_id, r.chain_id,
      coalesce(r.mission_fingerprint, ''), r.receipt_id, temporal_health.wait_entry(r)
    from unnest(fresh) as r
    join unnest(blocks) as b using (run_id, emitter, chain_id, workflow_id, namespace, cluster_id)
    where r.kind = 'wait' and not b.is_late
    order by r.cluster_id, r.namespace, temporal_health.wait_key(r) collate "C", r.workflow_id, r.chain_id,
      coalesce(r.mission_fingerprint, '') collate "C"
    on conflict (cluster_id, namespace, wait_key, workflow_id, chain_id, mission) do update
    set
      last_receipt_id = excluded.last_receipt_id,
      entry = temporal_health.join_waits(w.entry, excluded.entry)
    returning w.last_receipt_id, w.mission, w.wait_key, w.entry
  )
  select jsonb_object_agg(put.last_receipt_id, jsonb_build_object(
    'kind', 'wait', 'mission', put.mission, 'key', put.wait_key, 'entry', put.entry,
    -- When this receipt ended the wait, whatever else is known of it.
    'endedAtMs', case
      when r.body ->> 'state' not in ('open', 'expired', 'resolved') then least(r.occurred_at_ms, r.recorded_at_ms)
    end))
  into brought
  from put
  join unnest(fresh) as r on r.receipt_id = put.last_receipt_id;
  return coalesce(brought, '{}');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.record_judgement(cluster_id text, namespace text, workflow_id text, chain_id text, run_id text, evidence_version bigint, rule_version text, judged_at_ms bigint, verdict text, reason text, judgement jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION temporal_health.refuse(refused jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  recorded_ms constant bigint := temporal_health.epoch_ms(now());
  place temporal_health.refusals := jsonb_populate_record(
    null::temporal_health.refusals, refused || jsonb_build_object('recorded_at_ms', recorded_ms));
  -- Its emitter and its chain take it as a receipt that says nothing.
  silent temporal_health.receipts;
  blocks temporal_health.emitter_block[];
begin
  insert into temporal_health.refusals select (place).* on conflict do nothing;
  if not found then
    return;
  end if;
  silent := jsonb_populate_record(null::temporal_health.receipts, to_jsonb(place) || '{"kind": "refused"}');
  blocks := temporal_health.put_emitters(array[silent], recorded_ms);
  silent.recorded_at_ms := blocks[1].recorded_at_ms;
  update temporal_health.refusals as r
  set recorded_at_ms = silent.recorded_at_ms
  where silent.recorded_at_ms <> recorded_ms
    and (r.cluster_id, r.namespace, r.workflow_id, r.chain_id, r.run_id, r.emitter, r.fence, r.attempt, r.sequence)
      = (place.cluster_id, place.namespace, place.workflow_id, place.chain_id, place.run_id, place.emitter, place.fence,
        place.attempt, place.sequence);
  perform temporal_health.put_chains(array[silent], blocks, '{}');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.remember_digest(seen text, entry text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
 SELECT string_agg(encode(newest.one, 'base64'::text), ''::text ORDER BY (substr(newest.one, 1, 6)) DESC, (substr(newest.one, 21)) DESC) AS string_agg
    FROM ( SELECT firsts.one
            FROM ( SELECT DISTINCT ON ((substr(told.one, 13, 8))) told.one
                    FROM ( SELECT decode(substr((remember_digest.seen || remember_digest.entry), ((place.place * 48) + 1), 48), 'base64'::text) AS one
                            FROM generate_series(0, ((length((remember_digest.seen || remember_digest.entry)) / 48) - 1)) place(place)) told
                   ORDER BY (substr(told.one, 13, 8)), (substr(told.one, 1, 6)), (substr(told.one, 21))) firsts
           ORDER BY (substr(firsts.one, 1, 6)) DESC, (substr(firsts.one, 21)) DESC
          LIMIT 32) newest;
END

CREATE OR REPLACE FUNCTION temporal_health.seen_entry(key text, at_ms bigint, receipt_id text, expect_by_ms numeric)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  if at_ms not between 0 and 281474976710654
    or expect_by_ms not between 0 and 281474976710654 or expect_by_ms <> trunc(expect_by_ms)
  then
    raise numeric_value_out_of_range using message = 'a time in milliseconds is out of range';
  end if;
  return encode(
    decode(
      lpad(to_hex(at_ms), 12, '0')
      || coalesce(lpad(to_hex(expect_by_ms::bigint), 12, '0'), 'ffffffffffff')
      || key
      || replace(receipt_id, '-', ''),
      'hex'),
    'base64');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.wait_entry(r temporal_health.receipts)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  at_ms constant bigint := least(r.occurred_at_ms, r.recorded_at_ms);
begin
  return jsonb_build_object(
    'receiptId', r.receipt_id,
    'runId', r.run_id,
    'emitter', r.emitter,
    'name', r.body -> 'name',
    'owner', r.body -> 'owner',
    'deadlineMs', r.body -> 'deadlineMs',
    'resumeToken', r.body -> 'resumeToken',
    'resumeBy', r.body -> 'resumeBy',
    'condition', r.body -> 'condition',
    'state', r.body -> 'state',
    'openedAtMs', at_ms,
    'changedAtMs', at_ms,
    'reconciles', r.body -> 'reconciles');
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.wait_key(r temporal_health.receipts)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return coalesce(
    nullif(
      btrim(
        r.body ->> 'resumeToken',
        E' \t\n\u000B\f\r\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'),
      ''),
    r.receipt_id::text) collate "C";
end;
$function$

CREATE OR REPLACE FUNCTION temporal_health.wait_life(state text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN array_position(ARRAY['open'::text, 'expired'::text, 'resolved'::text, 'withdrawn'::text, 'superseded'::text, 'consumed'::text], state)

view v_chains_1 with (security_invoker=true) as
 SELECT cluster_id,
    namespace,
    workflow_id,
    chain_id,
    run_id,
    workflow_type,
    contract_digest,
    mission_fingerprint,
    receipt_count,
    to_timestamp((run_started_at_ms::numeric / 1000.0)::double precision) AS run_started_at,
    to_timestamp((first_receipt_at_ms::numeric / 1000.0)::double precision) AS first_receipt_at,
    to_timestamp((last_receipt_at_ms::numeric / 1000.0)::double precision) AS last_receipt_at,
    evidence_version,
    verdict,
    verdict_reason,
    to_timestamp((verdict_since_ms::numeric / 1000.0)::double precision) AS verdict_since,
    verdict_evidence_version
   FROM temporal_health.chains c;
