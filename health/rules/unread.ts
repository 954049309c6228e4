/** Step 3: evidence that could not be read, or has a hole. "No recent delta" may not be asserted from missing evidence. */
import type { EvidenceSource } from '../evidence.ts';
import { fact } from '../view.ts';
import type { Rule } from './rule.ts';

/** Without these nothing can be concluded; the others are findings. */
const NEEDED: readonly EvidenceSource[] = ['store', 'describe', 'contract', 'receipts'];

export const evidenceUnread: Rule = ({ evidence, contract }) => {
  // Without a contract nothing was to be read, unless the contract itself could not be.
  const contractUnread = evidence.unread.some(({ source }) => source === 'store' || source === 'contract');
  if (contract === null && !contractUnread) return null;
  const unread = evidence.unread
    .filter(({ source }) => NEEDED.includes(source))
    .map(({ source, code }) => fact(source, 'unread', code));
  const { temporal } = evidence;
  if (temporal.source === 'unread' && !unread.some(({ ref }) => ref === 'describe')) {
    unread.push(fact('describe', 'unread', temporal.code));
  }
  if (unread.length === 0) return null;
  const facts = unread.sort((a, b) => (a.ref < b.ref ? -1 : 1));
  return {
    verdict: 'uncertain',
    reason: 'evidence-unread',
    message: `Could not read ${[...new Set(facts.map(({ ref }) => ref))].join(' and ')}; nothing is concluded from what is missing.`,
    decisive: facts,
  };
};

/** Receipts are missing in the middle of a fence's sequence, and had time to arrive. */
export const evidenceGap: Rule = ({ row, nowMs, policy }) => {
  const gaps = Object.entries(row?.state.emitterGaps ?? {})
    .filter(([, gap]) => nowMs >= gap.sinceMs + policy.gapGraceMs)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (gaps.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'evidence-gap',
    message: `Receipts are missing between others of ${gaps.map(([, { emitter, attempt }]) => `${emitter} (attempt ${attempt})`).join(', ')}.`,
    decisive: gaps.flatMap(([, { runId, emitter, attempt, missing, sinceMs }]) => {
      const ref = `gap:${runId}/${emitter}`;
      return [fact(ref, 'attempt', attempt), fact(ref, 'missing', missing), fact(ref, 'sinceMs', sinceMs)];
    }),
  };
};

/** A worker could not write, and that time reaches now: an open run's silence says nothing. */
export const evidenceOutage: Rule = ({ evidence, open, nowMs }) => {
  if (!open) return null;
  const lasting = evidence.gaps.filter(
    ({ fromMs, untilMs }) => fromMs <= nowMs && (untilMs === null || untilMs >= nowMs),
  );
  if (lasting.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'evidence-outage',
    message: 'Receipts cannot be recorded at present.',
    decisive: lasting.map(({ workerId, fromMs }) => fact(`outage:${workerId}`, 'fromMs', fromMs)),
  };
};
