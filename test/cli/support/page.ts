/**
 * A page of the docs, done as a reader does it: files are written as the page shows them, commands are given to one shell,
 * and what the page shows as output must be there.
 *
 * A code block whose first line is a comment with a file name is that file; `sh` is given to the shell; `text` is what the
 * commands before it say: each of its lines in this order, `…` for anything, its words however far apart.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

export type Step =
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly content: string }
  | { readonly kind: 'commands'; readonly line: number; readonly text: string; readonly says: readonly string[] };

/** @throws Error where a block is none of the three: a reader would not know what to do with it either. */
export function stepsOf(page: string): readonly Step[] {
  const steps: Step[] = [];
  for (const { 1: language = '', 2: content = '', index } of page.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)) {
    const line = page.slice(0, index).split('\n').length;
    const name = /^\/\/ ([\w.-]+)\n/.exec(content)?.[1];
    const last = steps.at(-1);
    if (language === 'sh') steps.push({ kind: 'commands', line, text: content, says: [] });
    else if (name !== undefined) steps.push({ kind: 'file', line, name, content });
    else if (language === 'text' && last?.kind === 'commands') {
      steps[steps.length - 1] = { ...last, says: content.split('\n').filter((said) => said !== '') };
    } else throw new Error(`The block at line ${line} is no file, no command and no output of one.`);
  }
  return steps;
}

/** Where output lacks a line that the page shows; null where all of them are there. */
export function missingLine(says: readonly string[], output: string): string | null {
  let rest = output;
  for (const line of says) {
    const pattern = line
      .split('…')
      .map((part) =>
        part
          .trim()
          .split(/\s+/)
          .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('[^\\S\\n]+'),
      )
      .join('[^\\n]*');
    const found = new RegExp(pattern).exec(rest);
    if (found === null) return line;
    rest = rest.slice(found.index + found[0].length);
  }
  return null;
}

export interface ReaderShell {
  /** Everything the commands said, on both streams. @throws Error naming a command that failed. */
  run(commands: string): Promise<string>;
  /** As the reader: writes the files, runs the commands and looks at what they say. */
  follow(steps: readonly Step[]): Promise<void>;
  close(): Promise<void>;
}

const FAILED = 'THE-COMMAND-FAILED:';

export function openReaderShell(cwd: string, env: NodeJS.ProcessEnv): ReaderShell {
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(bash, 'exit');
  let said = '';
  let heard = (): void => undefined;
  bash.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    heard();
  });
  bash.stdin.write(`exec 2>&1\nset -E\ntrap 'echo "${FAILED} $BASH_COMMAND"' ERR\n`);
  let turn = 0;
  const run = async (commands: string): Promise<string> => {
    said = '';
    const end = `THE-END-${(turn += 1)}:`;
    // A group is read whole before it runs, so that no command takes what follows as its input.
    bash.stdin.write(`{\n${commands}\n} </dev/null\necho "${end}$PWD:"\n`);
    await new Promise<void>((resolve, reject) => {
      heard = () => {
        if (said.includes(end)) resolve();
      };
      void gone.then(() => {
        reject(new Error(`The shell ended. It said:\n${said}`));
      });
    });
    if (said.includes(FAILED)) throw new Error(`A command failed.\n${commands}\n${said}`);
    return said;
  };
  const follow = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) {
      if (step.kind === 'file') {
        const folder = /:(.*):\n/.exec(await run('pwd'))?.[1] ?? '';
        if (!isAbsolute(folder)) throw new Error('The shell does not say where it is.');
        await writeFile(join(folder, step.name), step.content);
        continue;
      }
      const output = await run(step.text);
      const missing = missingLine(step.says, output);
      if (missing !== null) throw new Error(`Line ${step.line}: nothing says "${missing}".\n${step.text}\n${output}`);
    }
  };
  return {
    run,
    follow,
    async close() {
      bash.stdin.end('kill $(jobs -p) 2>/dev/null\nexit\n');
      await gone;
    },
  };
}
