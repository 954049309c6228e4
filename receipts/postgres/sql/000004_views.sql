-- What others may read. A view's name ends in its version: a change that could break a reader is a new view.

-- One row per chain of runs, as of its newest receipt.
create view temporal_health.v_chains_1 as
select
  c.cluster_id,
  c.namespace,
  c.workflow_id,
  c.chain_id,
  c.run_id,
  c.workflow_type,
  c.contract_digest,
  c.mission_fingerprint,
  c.receipt_count,
  to_timestamp(c.run_started_at_ms / 1000.0) as run_started_at,
  to_timestamp(c.first_receipt_at_ms / 1000.0) as first_receipt_at,
  to_timestamp(c.last_receipt_at_ms / 1000.0) as last_receipt_at,
  c.evidence_version,
  c.verdict,
  c.verdict_reason,
  to_timestamp(c.verdict_since_ms / 1000.0) as verdict_since,
  c.verdict_evidence_version
from temporal_health.chains as c;

-- So that row security of the reader holds, where the server can (PostgreSQL 15); before, it would be the owner's.
do $$
begin
  if current_setting('server_version_num')::integer >= 150000 then
    alter view temporal_health.v_chains_1 set (security_invoker = true);
  end if;
end;
$$;
