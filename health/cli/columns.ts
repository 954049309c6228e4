/** `--columns a,b,c`: which columns of a list are shown, and in which order. Every list names its own in one closed list. */
import { Option } from '@commander-js/extra-typings';
import { completes } from './candidates.ts';
import { usage } from './program.ts';

/** @throws HealthError USAGE, which lists the words that there are. */
export function wordList<const Word extends string>(flag: string, words: readonly Word[]): (text: string) => Word[] {
  return (text) =>
    text.split(',').map((part) => {
      const found = words.find((word) => word === part.trim());
      if (found === undefined) throw usage(`${flag} takes ${words.join(', ')}; '${part.trim()}' is none of them.`);
      return found;
    });
}

/** An option that takes some of a closed list of words, with commas between them, and completes them. */
export function listOption<const Flags extends string, const Word extends string>(
  flags: Flags,
  says: string,
  words: readonly Word[],
) {
  const option = new Option(flags, `${says}: ${words.join(', ')}`);
  const flag = option.long ?? flags;
  return completes(option.argParser(wordList(flag, words)), { words, list: true });
}

export function columnsOption<const Word extends string>(words: readonly Word[]) {
  return listOption('--columns <list>', 'columns of the text output, in this order', words);
}
