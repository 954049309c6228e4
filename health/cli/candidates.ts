/** What a shell may offer as the value of an option or an argument: closed lists of words, or the names of files. */
import type { Argument, Option } from '@commander-js/extra-typings';

export interface Candidates {
  readonly words: readonly string[];
  /** Several of them, with commas in between. */
  readonly list?: boolean;
  /** Names of files are offered as well. */
  readonly files?: boolean;
}

/** Of options and arguments, by identity: commander has no place of its own for it. */
const known = new WeakMap<object, Candidates>();

type Completed = Pick<Option, 'choices'> | Pick<Argument, 'choices'>;

export function completes<Of extends Completed>(optionOrArgument: Of, candidates: Candidates): Of {
  known.set(optionOrArgument, candidates);
  return optionOrArgument;
}

export function candidatesOf(optionOrArgument: { readonly argChoices?: readonly string[] | undefined }): Candidates {
  return known.get(optionOrArgument) ?? { words: optionOrArgument.argChoices ?? [] };
}
