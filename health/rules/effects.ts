/** Step 3: an effect without its required destination verdict. It comes before everything else: a retry might repeat it. */
import { effectState, isContradicted } from '../../receipts/state.ts';
import { isMarkLive, openEffects } from '../liveness.ts';
import { verifiedCount } from './due-effects.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

/** Attempted or unknown, and no live attempt inside its window can still settle it. */
export const effectUnsettled: Rule = (view) => {
  const asked = view.evidence.temporal.source === 'describe';
  const unsettled = openEffects(view).filter(({ state, mark, windowEndsAtMs }) => {
    if (state === 'unknown' || view.nowMs >= windowEndsAtMs) return true;
    // Not asked is not unavailable: inside its window an attempt may be live as long as nobody looked.
    return asked || !view.open ? !isMarkLive(mark, view) : view.evidence.temporal.source !== 'not-asked';
  });
  const waits = view.waits.filter(
    ({ state, reconciles }) => state === 'open' && reconciles !== null && !isSettled(view, reconciles),
  );
  if (unsettled.length === 0 && waits.length === 0) return null;
  const operations = [
    ...new Set([...unsettled.map(({ effect }) => effect.operationId), ...waits.map((wait) => wait.reconciles ?? '')]),
  ];
  const owners = [...new Set(waits.map(({ owner }) => owner ?? 'nobody'))];
  const owned = owners.length === 0 ? '' : ` ${owners.join(', ')} was asked to reconcile it.`;
  return {
    verdict: 'uncertain',
    reason: 'effect-unsettled',
    message: `${operations.join(', ')} may have happened; the destination has not said.${owned}`,
    decisive: [
      ...unsettled.flatMap(({ effect, state, mark }) => [
        fact(mark.receiptId, 'state', state),
        fact(`effect:${effect.operationId}`, 'state', state),
        fact(`effect:${effect.operationId}`, 'attemptedAtMs', mark.atMs),
      ]),
      ...waits.flatMap((wait) => [
        fact(wait.receiptId, 'reconciles', wait.reconciles),
        fact(`wait:${wait.resumeToken ?? ''}`, 'owner', wait.owner),
      ]),
    ],
  };
};

function isSettled(view: View, operationId: string): boolean {
  const effect = view.effects.find((known) => known.operationId === operationId);
  if (effect === undefined) return false;
  const state = effectState(effect);
  return state === 'verified' || state === 'none';
}

/** Two verdicts of a destination that cannot both be true, or more operations than the contract allows. */
export const effectContradicted: Rule = (view) => {
  const contradicted = view.effects.filter(isContradicted);
  const decisive = contradicted.flatMap((effect) => [
    ...[effect.verified, effect.none].flatMap((mark) =>
      mark === null ? [] : [fact(mark.receiptId, 'state', mark === effect.none ? 'none' : 'verified')],
    ),
    fact(`effect:${effect.operationId}`, 'contradicted', true),
  ]);
  for (const [name, due] of Object.entries(view.contract?.effects ?? {})) {
    if (due.due !== 'once') continue;
    const count = verifiedCount(view, name);
    if (count <= 1) continue;
    decisive.push(
      fact('contract', `effects.${name}.due`, due.due),
      fact('contract', `effects.${name}.verified`, count),
    );
    const verified = view.effects.filter((effect) => effect.name === name && effectState(effect) === 'verified');
    decisive.push(...verified.map((effect) => fact(`effect:${effect.operationId}`, 'state', 'verified')));
  }
  if (decisive.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'effect-contradicted',
    message: 'What the destination said of an effect cannot all be true.',
    decisive,
  };
};

/** Verified, and not at the level that the contract needs. */
export const effectLevel: Rule = (view) => {
  const short = view.effects.filter((effect) => {
    const levels = view.contract?.effects[effect.name]?.levels ?? [];
    const required = levels.at(-1);
    return (
      required !== undefined &&
      effectState(effect) === 'verified' &&
      effect.level !== required &&
      !withinWindow(view, effect)
    );
  });
  if (short.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'effect-level',
    message: `The destination's verdict on ${short.map((effect) => effect.operationId).join(', ')} is weaker than the contract needs.`,
    decisive: short.flatMap((effect) => [
      fact(effect.verified?.receiptId ?? `effect:${effect.operationId}`, 'level', effect.level),
      fact('contract', `effects.${effect.name}.levels`, view.contract?.effects[effect.name]?.levels?.at(-1) ?? null),
    ]),
  };
};

/** An open run may still be told the stronger verdict while the effect's window lasts. */
function withinWindow(view: View, effect: View['effects'][number]): boolean {
  const windowMs = view.contract?.effects[effect.name]?.windowMs ?? view.policy.effectWindowMs;
  return view.open && effect.verified !== null && view.nowMs < Math.min(effect.verified.atMs, view.nowMs) + windowMs;
}
