/** Step 4: a due effect that was never made. An effect that was made and not settled was caught before. */
import { effectState } from '../../receipts/state.ts';
import { fact, statusFact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

export function verifiedCount(view: View, name: string): number {
  const kept = view.effects.filter((effect) => effect.name === name && effectState(effect) === 'verified').length;
  return kept + (view.row?.state.settledOlder[name] ?? 0);
}

export const effectMissing: Rule = (view) => {
  if (view.status !== 'COMPLETED' || view.contract === null) return null;
  const lacking = Object.entries(view.contract.effects)
    .filter(([name, { due }]) => due !== 'any' && verifiedCount(view, name) === 0)
    .map(([name]) => name);
  if (lacking.length === 0) return null;
  return {
    verdict: 'false-success',
    reason: 'effect-missing',
    message: `Completed, and the destination never confirmed ${lacking.join(', ')}.`,
    decisive: [statusFact(view), ...lacking.map((name) => fact('contract', `effects.${name}.verified`, 0))],
  };
};
