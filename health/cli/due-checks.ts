/**
 * Runs the due checks of a completed run that never ran, so that a missing receipt is not taken for a missing result. Only
 * where TEMPORAL_HEALTH_CONFIG says where the results lie: guessing a place would find nothing and call that a failure.
 */
import { v7 } from 'uuid';
import type { ContractDeliverable, DeliverableCheck } from '../../receipts/contract.ts';
import { checks as knownChecks } from '../../receipts/checks/index.ts';
import { orderKey } from '../../receipts/envelope.ts';
import { EMPTY_STATE, EMPTY_MISSION, missionKey } from '../../receipts/state.ts';
import type { ChainRow, DeliverableEntry } from '../../receipts/state.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { CONFIG_VARIABLE, loadConfigModule } from './config-module.ts';
import type { ConfigModule } from './config-module.ts';

const CHECK_TIMEOUT_MS = 30_000;

interface DueCheck {
  readonly name: string;
  readonly due: ContractDeliverable;
  readonly check: string;
}

export interface Checked {
  readonly document: EvidenceDocument;
  /** What ran, and what could not. */
  readonly notes: readonly string[];
}

function neverRan({ contract, chain, missionFingerprint, temporal }: EvidenceDocument): readonly DueCheck[] {
  if (temporal.source !== 'describe' || temporal.describe.status !== 'COMPLETED') return [];
  const ran = chain?.state.missions[missionKey(missionFingerprint)]?.deliverables ?? {};
  return Object.entries(contract?.deliverables ?? {}).flatMap(([name, due]) =>
    due.check === null || ran[name]?.[due.check.name] !== undefined ? [] : [{ name, due, check: due.check.name }],
  );
}

export async function runDueChecks(document: EvidenceDocument, env: NodeJS.ProcessEnv): Promise<Checked> {
  const due = neverRan(document);
  if (due.length === 0) return { document, notes: [] };
  const module = await loadConfigModule(env);
  if (module === null) {
    const names = due.map(({ name }) => name).join(', ');
    return { document, notes: [`No check of ${names} ever ran; ${CONFIG_VARIABLE} would let this command run it.`] };
  }
  const notes: string[] = [];
  let checked = document;
  for (const one of due) {
    const entry = await runCheck(one, document, module);
    if (typeof entry === 'string') notes.push(entry);
    else {
      const cause = entry.cause === null ? '' : ` (${entry.cause})`;
      notes.push(`Checked ${one.name} now, for the first time: ${entry.result}${cause}.`);
      checked = withEntry(checked, one.name, entry);
    }
  }
  return { document: checked, notes };
}

function findCheck(
  { check, name }: DueCheck,
  workflowType: string,
  module: ConfigModule,
): DeliverableCheck | undefined {
  const defined = module.contracts.find(({ contract }) => contract.workflowType === workflowType);
  return defined?.checks[name] ?? module.checks[check] ?? knownChecks[check];
}

async function runCheck(
  one: DueCheck,
  { run, nowMs }: EvidenceDocument,
  module: ConfigModule,
): Promise<DeliverableEntry | string> {
  const { namespace, workflowId, runId, workflowType } = run;
  const { name, due } = one;
  const check = findCheck(one, workflowType, module);
  if (check === undefined) return `No check named ${one.check} is known here, so ${name} stays unchecked.`;
  const place = { namespace, workflowId, runId, workflowType, deliverable: name, destination: due.destination };
  const location = (await module.locate?.(place)) ?? null;
  if (location === null) return `${CONFIG_VARIABLE} does not say where ${name} lies (export \`locate\`).`;
  const finding = await check.run({
    workflowId,
    runId,
    deliverable: name,
    location,
    minimumBytes: due.minimumBytes ?? 1,
    options: due.check?.options ?? {},
    signal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
  });
  return {
    receiptId: v7(),
    runId,
    order: orderKey({ fence: nowMs, attempt: 1, sequence: 1 }),
    checkedAtMs: nowMs,
    destination: due.destination,
    check: one.check,
    result: finding.result,
    subject: finding.subject ?? null,
    coverage: finding.coverage ?? null,
    confidence: null,
    cause: finding.cause ?? null,
  };
}

/** The chain as it is with this finding; one of a run that has written nothing begins with it. */
function withEntry(document: EvidenceDocument, name: string, entry: DeliverableEntry): EvidenceDocument {
  const row = document.chain ?? emptyRow(document);
  const key = missionKey(document.missionFingerprint);
  const mission = row.state.missions[key] ?? EMPTY_MISSION;
  const deliverables = {
    ...mission.deliverables,
    [name]: { ...mission.deliverables[name], [entry.check]: entry },
  };
  const missions = { ...row.state.missions, [key]: { ...mission, deliverables } };
  return { ...document, chain: { ...row, state: { ...row.state, missions } } };
}

function emptyRow({ run, missionFingerprint, temporal, nowMs }: EvidenceDocument): ChainRow {
  return {
    ...run,
    runStartedAtMs: temporal.source === 'describe' ? temporal.describe.startedAtMs : nowMs,
    contractDigest: null,
    missionFingerprint,
    receiptCount: 0,
    firstReceiptAtMs: nowMs,
    lastReceiptAtMs: nowMs,
    evidenceVersion: 0,
    state: EMPTY_STATE,
  };
}
