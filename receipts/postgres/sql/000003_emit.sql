-- The one statement that stores receipts, for 1 and for 500: receipts, then everything that is kept up to date from them.
--
-- Rows are always locked in the same order (receipts, emitters, effects, waits, deliverables, chains, each sorted by its
-- key, the part first that differs most), so that two batches never wait for each other. The caller sees to it that one call
-- names an effect, a wait and a deliverable at most once, that it names one fence of an emitter, and that an emitter's
-- sequences follow each other (`receipts/postgres/segments.ts`).
--
-- Between the steps go the rows themselves: `fresh` are the receipts that were new, `blocks` what their emitters made of
-- them, `brought` is by receipt id what a receipt brings to its chain's state.

create function temporal_health.epoch_ms(at timestamptz) returns bigint
language sql stable parallel safe
return floor(extract(epoch from at) * 1000)::bigint;

-- What became of a block of receipts, all of one fence of one emitter.
create type temporal_health.emitter_block as (
  cluster_id text,
  namespace text,
  workflow_id text,
  chain_id text,
  run_id text,
  emitter text,
  -- The block's fence, and all that it took so far.
  fence bigint,
  attempt integer,
  taken int4multirange,
  gap_since_ms bigint,
  had_gap boolean,
  -- A newer fence had written: the block changes nothing but effects.
  is_late boolean,
  -- `fence_key` of the emitter's newest fence, once it had more than one.
  newest_fence text,
  recorded_at_ms bigint
);

-- Every emitter takes its block: the usual ones in one statement, those of a fence that is not the newest one by one.
create function temporal_health.put_emitters(fresh temporal_health.receipts[], recorded_ms bigint)
returns temporal_health.emitter_block[]
language plpgsql volatile as $$
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
$$;

-- A block of a fence that is not the one in its emitter's row, which is locked already. A newer one becomes the emitter's,
-- and what is known of its predecessor is kept apart; an older one is late.
create function temporal_health.change_fence(block temporal_health.emitter_block) returns temporal_health.emitter_block
language plpgsql volatile as $$
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
$$;

-- Gives receipts the recorded time of their block where it is not the statement's. Rare: one came late within the same
-- millisecond, or under a statement that began earlier.
create function temporal_health.correct_recorded(
  fresh temporal_health.receipts[], blocks temporal_health.emitter_block[], recorded_ms bigint
) returns temporal_health.receipts[]
language plpgsql volatile as $$
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
$$;

-- What an effect's receipt says by itself: an entry of `receipts/state.ts`.
create function temporal_health.effect_entry(r temporal_health.receipts) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

-- Effects count whatever their fence is: a real effect stays real.
create function temporal_health.put_effects(fresh temporal_health.receipts[]) returns jsonb
language plpgsql volatile as $$
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
$$;

-- The key under which a wait is kept: its token without white space around it (as JavaScript's `trim` has it), else the
-- receipt's id.
create function temporal_health.wait_key(r temporal_health.receipts) returns text
language plpgsql immutable parallel safe as $$
begin
  return coalesce(
    nullif(
      btrim(
        r.body ->> 'resumeToken',
        E' \t\n\u000B\f\r\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'),
      ''),
    r.receipt_id::text) collate "C";
end;
$$;

create function temporal_health.wait_entry(r temporal_health.receipts) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

create function temporal_health.put_waits(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[])
returns jsonb
language plpgsql volatile as $$
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
$$;

create function temporal_health.deliverable_entry(r temporal_health.receipts) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

create function temporal_health.put_deliverables(fresh temporal_health.receipts[], blocks temporal_health.emitter_block[])
returns jsonb
language plpgsql volatile as $$
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
$$;

-- Folds the receipts into their chains' rows. A new row is put down with its items unfolded, since the fold needs a state
-- to start from, and is folded by a second statement.
create function temporal_health.put_chains(
  fresh temporal_health.receipts[], blocks temporal_health.emitter_block[], brought jsonb
) returns void
language plpgsql volatile as $$
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
$$;

-- outcomes, in the order given: stored, late, repeat, conflict (the id is stored with another body)
create function temporal_health.emit(
  store_cluster_id text,
  receipt_ids uuid[],
  kinds text[],
  namespaces text[],
  workflow_ids text[],
  run_ids text[],
  chain_ids text[],
  workflow_types text[],
  run_starts_ms bigint[],
  emitter_ids text[],
  activity_types text[],
  fences bigint[],
  attempts integer[],
  sequences integer[],
  missions text[],
  schema_versions smallint[],
  sanitised_ones boolean[],
  occurred_ms bigint[],
  body_digests bytea[],
  bodies jsonb[],
  out outcomes text[],
  out store_now_ms bigint
)
language plpgsql volatile
-- Every join here is between the lists of one call: a plan for nested loops, made for short lists, would meet 500 by 500;
-- and a plan made anew for each call would cost more than the call.
set enable_nestloop = off
set plan_cache_mode = force_generic_plan
as $$
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
$$;

-- Keeps the place of a receipt that was refused: `refused` is a row of `refusals` as JSON, its recorded time left out. A
-- repeat changes nothing.
create function temporal_health.refuse(refused jsonb) returns void
language plpgsql volatile as $$
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
$$;
