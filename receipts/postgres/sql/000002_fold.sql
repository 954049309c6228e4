-- The fold of receipts into a chain's state: `receipts/fold.ts` in SQL, and a property test holds the two equal. Pure.
--
-- state, entries and items have the shapes of `receipts/state.ts`, but for one: the remembered digests of a milestone are
-- one text, since JSON of 32 × 4 values is written anew by every step of the fold (`receipts/postgres/rows.ts` reads it
-- back). Texts are compared by bytes, whatever the database's collation is.

create function temporal_health.fence_key(fence bigint, attempt integer) returns text
language sql immutable parallel safe
return repeat('0', 15 - length(fence::text)) || fence || '.' || repeat('0', 8 - length(attempt::text)) || attempt;

create function temporal_health.order_key(fence bigint, attempt integer, sequence integer) returns text
language sql immutable parallel safe
return temporal_health.fence_key(fence, attempt) || '.' || repeat('0', 8 - length(sequence::text)) || sequence;

-- Whether places are missing before the highest one that was taken.
create function temporal_health.has_hole(taken int4multirange) returns boolean
language sql immutable parallel safe
return taken <> int4multirange(int4range(1, upper(taken)));

-- How many are.
create function temporal_health.missing_of(taken int4multirange) returns integer
language sql immutable parallel safe
return upper(taken) - 1 - (select sum(upper(part) - lower(part))::integer from unnest(taken) as part);

-- The greater of two JSON numbers, a JSON null left out.
create function temporal_health.greatest_number(known jsonb, said jsonb) returns jsonb
language sql immutable parallel safe
return case
  when jsonb_typeof(known) = 'null' then said
  when jsonb_typeof(said) = 'null' then known
  when known::numeric >= said::numeric then known
  else said
end;

-- Where a mark or an entry stands: its order, and the receipt's id where two emitters reach the same place. The order has
-- a fixed width, so the two may be joined to one text.
create function temporal_health.place_of(mark jsonb) returns text
language sql immutable parallel safe
return ((mark ->> 'order') || (mark ->> 'receiptId')) collate "C";

create function temporal_health.later_of(known jsonb, said jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if jsonb_typeof(known) = 'null' then
    return said;
  elsif jsonb_typeof(said) = 'null' or temporal_health.place_of(said) collate "C" <= temporal_health.place_of(known) collate "C" then
    return known;
  end if;
  return said;
end;
$$;

create function temporal_health.wait_life(state text) returns integer
language sql immutable strict parallel safe
return array_position(array['open', 'expired', 'resolved', 'withdrawn', 'superseded', 'consumed'], state);

-- What was asked comes from the newest statement, how far it got from the furthest one, whichever arrived first.
create function temporal_health.join_waits(before jsonb, entry jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

-- In PL/pgSQL, because as one expression of SQL functions it would take longer to set up than a receipt takes to store.
create function temporal_health.join_effects(before jsonb, entry jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

create function temporal_health.effect_state(entry jsonb) returns text
language plpgsql immutable parallel safe as $$
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
$$;

-- The name under which an effect counts when it leaves the chain's row; null where it did not happen.
create function temporal_health.counts_as(entry jsonb) returns text
language sql immutable parallel safe
return case when temporal_health.effect_state(entry) = 'verified' then entry ->> 'name' end;

create function temporal_health.is_settled(entry jsonb) returns boolean
language sql immutable parallel safe
return temporal_health.effect_state(entry) in ('verified', 'none')
  and not (entry -> 'contradicted')::boolean
  and not coalesce(
    (entry #>> '{none,order}') collate "C" > (entry #>> '{verified,order}') collate "C", false);

create function temporal_health.count_effect(counts jsonb, name text, step integer) returns jsonb
language sql immutable parallel safe
return case
  when name is null then counts
  when coalesce((counts -> name)::integer, 0) + step = 0 then counts - name
  else counts || jsonb_build_object(name, coalesce((counts -> name)::integer, 0) + step)
end;

-- Puts a joined effect into the state. Open and contradicted ones stay; of the settled ones the newest 64 stay, and the
-- verified rest is counted by name. `counted_as`: see the table `effects`.
create function temporal_health.fold_effect(state jsonb, operation_id text, entry jsonb, counted_as text) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

-- One remembered digest: 36 bytes as 48 characters of base64. When it was first reached (6 bytes, ms), until when silence
-- was declared (6, ms; all ones for not at all), the digest's key (8), the receipt's id (16).
create function temporal_health.seen_entry(key text, at_ms bigint, receipt_id text, expect_by_ms numeric) returns text
language plpgsql immutable parallel safe as $$
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
$$;

-- A digest counts from when it was first reached; the newest 32 firsts are kept, newest first.
create function temporal_health.remember_digest(seen text, entry text) returns text
language sql immutable parallel safe
begin atomic
  select string_agg(encode(newest.one, 'base64'), '' order by substr(newest.one, 1, 6) desc, substr(newest.one, 21) desc)
  from (
    select firsts.one
    from (
      select distinct on (substr(told.one, 13, 8)) told.one
      from (
        select decode(substr(seen || entry, place * 48 + 1, 48), 'base64') as one
        from generate_series(0, length(seen || entry) / 48 - 1) as place
      ) as told
      order by substr(told.one, 13, 8), substr(told.one, 1, 6), substr(told.one, 21)
    ) as firsts
    order by substr(firsts.one, 1, 6) desc, substr(firsts.one, 21) desc
    limit 32
  ) as newest;
end;

-- item: {milestone, key, atMs, receiptId, expectByMs, step, end}
create function temporal_health.fold_milestone(before jsonb, item jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

-- item: {kind, …} with a joined entry where it is a wait or a deliverable
create function temporal_health.fold_in_mission(mission jsonb, item jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;

-- Folds what one statement brings for one chain into its state.
-- items: {items: [item, …], gaps: {"run/emitter/fence": gap or null} or null, fences: {"run/emitter": newest} or null,
-- late: [receipt id, …] or null}
create function temporal_health.fold_chain(state jsonb, items jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
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
$$;
