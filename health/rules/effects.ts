/** Step 3: an effect without its required destination verdict. It comes before everything else: a retry might repeat it. */
import { effectState, isContradicted } from '../../receipts/state.ts';
import type { EffectMark } from '../../receipts/state.ts';
import { isMarkLive, openEffects } from '../liveness.ts';
import { verifiedCount } from './due-effects.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

/** Attempted or unknown, and no live attempt inside its window can still settle it. */
export const effectUnsettled: Rule = (view) => {
  const isAsked = view.evidence.temporal.source === 'describe';
  const unsettled = openEffects(view).filter(({ state, mark, windowEndsAtMs }) => {
    if (state === 'unknown' || view.nowMs >= windowEndsAtMs) return true;
    // Not asked is not unavailable: inside its window an attempt may be live as long as nobody looked.
    return isAsked || !view.open ? !isMarkLive(mark, view) : view.evidence.temporal.source !== 'not-asked';
  });
  const asked = view.waits.flatMap((wait) =>
    wait.state === 'open' && wait.reconciles !== null && !isSettled(view, wait.reconciles)
      ? [{ wait, operationId: wait.reconciles }]
      : [],
  );
  if (unsettled.length === 0 && asked.length === 0) return null;
  const operations = [
    ...new Set([...unsettled.map(({ effect }) => effect.operationId), ...asked.map(({ operationId }) => operationId)]),
  ];
  const owners = [...new Set(asked.map(({ wait }) => wait.owner ?? 'nobody'))];
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
      ...asked.flatMap(({ wait, operationId }) => [
        fact(wait.receiptId, 'reconciles', operationId),
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

/** Verified, and not at the level that the contract needs; a live attempt may still be told more inside its window. */
export const effectLevel: Rule = (view) => {
  const short = view.effects.flatMap((effect) => {
    const required = view.contract?.effects[effect.name]?.levels?.at(-1);
    const { verified } = effect;
    if (required === undefined || verified === null || effectState(effect) !== 'verified') return [];
    return effect.level === required || mayStillBeTold(view, effect.name, verified)
      ? []
      : [{ effect, verified, required }];
  });
  if (short.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'effect-level',
    message: `The destination's verdict on ${short.map(({ effect }) => effect.operationId).join(', ')} is weaker than the contract needs.`,
    decisive: short.flatMap(({ effect, verified, required }) => [
      fact(verified.receiptId, 'level', effect.level),
      fact('contract', `effects.${effect.name}.levels`, required),
    ]),
  };
};

function mayStillBeTold(view: View, name: string, verified: EffectMark): boolean {
  const windowMs = view.contract?.effects[name]?.windowMs ?? view.policy.effectWindowMs;
  return isMarkLive(verified, view) && view.nowMs < Math.min(verified.atMs, view.nowMs) + windowMs;
}
