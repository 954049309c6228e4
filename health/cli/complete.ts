/**
 * `__complete`: what a shell asks for candidates, in the protocol of cobra, whose forward `temporal health <TAB>` reaches us
 * by. Words up to the cursor come in; one candidate a line goes out, with its description, and a directive last.
 */
import type { Command, Option } from '@commander-js/extra-typings';
import { candidatesOf } from './candidates.ts';
import type { Candidates } from './candidates.ts';
import type { Program } from './program.ts';
import { lines } from './table.ts';

/** Cobra's directives: "no blank after it", and "offer no file names". */
const NO_SPACE = 2;
const NO_FILES = 4;

// Commander's types tell each command apart; here they are all the same.
type AnyCommand = Pick<Command, 'name' | 'description'> & {
  readonly commands: readonly AnyCommand[];
  readonly options: readonly Option[];
  readonly registeredArguments: readonly { readonly variadic: boolean; readonly argChoices?: string[] | undefined }[];
};

interface Offer {
  readonly candidates: readonly string[];
  readonly directive: number;
}

export function completionOf(program: Program, words: readonly string[]): string {
  const { candidates, directive } = offerFor(program as unknown as AnyCommand, words);
  return lines([...candidates, `:${directive}`]);
}

function offerFor(program: AnyCommand, words: readonly string[]): Offer {
  const moved = movedToFront(program, words);
  if (moved !== null) return moved;
  const last = words.at(-1) ?? '';
  let command = program;
  let argument = 0;
  let open: Option | null = null;
  for (const word of words.slice(0, -1)) {
    if (open !== null) open = null;
    else if (word.startsWith('-')) open = word.includes('=') ? null : valueOption(word, command, program);
    else {
      const inner = command.commands.find((one) => one.name() === word);
      if (inner === undefined) argument += 1;
      else [command, argument] = [inner, 0];
    }
  }
  if (open !== null) return valuesOf(open, last, '');
  const [flag = '', value] = splitFlag(last);
  const given = value === undefined ? null : valueOption(flag, command, program);
  if (given !== null) return valuesOf(given, value ?? '', `${flag}=`);
  return last.startsWith('-') ? flagsOf(last, command, program) : wordsOf(last, command, argument);
}

function splitFlag(word: string): readonly string[] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/**
 * The Temporal CLI moves its own flags to the front, so that the word at the cursor may not be the last: a flag there whose
 * value is empty or only begins one is what is asked for.
 */
function movedToFront(program: AnyCommand, [first = '', value = '', ...rest]: readonly string[]): Offer | null {
  const option = first.startsWith('-') && rest.length > 0 ? valueOption(first, program, program) : null;
  if (option === null) return null;
  const { words } = candidatesOf(option);
  const unfinished = value === '' || (words.length > 0 && !words.includes(value));
  return unfinished ? valuesOf(option, value, '') : null;
}

/** The option of that flag, where it takes a value. */
function valueOption(flag: string, command: AnyCommand, program: AnyCommand): Option | null {
  const found = [...command.options, ...program.options].find(({ short, long }) => flag === short || flag === long);
  return found !== undefined && (found.required || found.optional) ? found : null;
}

function valuesOf(option: Option, typed: string, prefix: string): Offer {
  const known = candidatesOf(option);
  return offer(known.words.length === 0 ? { ...known, files: option.flags.includes('<path>') } : known, typed, prefix);
}

function offer({ words, list, files }: Candidates, typed: string, prefix: string): Offer {
  const before = list ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const chosen = before.split(',');
  const candidates = words
    .filter((word) => !chosen.includes(word))
    .map((word) => `${prefix}${before}${word}`)
    .filter((word) => word.startsWith(`${prefix}${typed}`));
  return { candidates, directive: (files ? 0 : NO_FILES) + (list ? NO_SPACE : 0) };
}

function flagsOf(typed: string, command: AnyCommand, program: AnyCommand): Offer {
  const options = command === program ? program.options : [...command.options, ...program.options];
  const flags = options.flatMap(({ long, description, hidden }) =>
    long && !hidden ? [`${long}\t${description}`] : [],
  );
  return { candidates: flags.filter((flag) => flag.startsWith(typed)), directive: NO_FILES };
}

function wordsOf(typed: string, command: AnyCommand, argument: number): Offer {
  const { registeredArguments: all } = command;
  const given = all[argument] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  const values = given === undefined ? { candidates: [], directive: NO_FILES } : offer(candidatesOf(given), typed, '');
  const commands = argument > 0 ? [] : command.commands.map((one) => `${one.name()}\t${one.description()}`);
  return {
    candidates: [...commands.filter((line) => line.startsWith(typed)), ...values.candidates],
    directive: values.directive,
  };
}
