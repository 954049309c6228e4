/**
 * `npm run test:nodes`: the tests of the pure code and of the store under other Node versions than the one that is installed.
 *
 * The versions come from npm (`node-<platform>-<arch>`, the executable alone, no install script) into the project's cache.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['22.23.5', '24.22.3'];
const PROJECTS = ['unit', 'cases', 'types', 'store'];

const root = fileURLToPath(new URL('../../', import.meta.url));
const packageName = `node-${process.platform}-${process.arch}`;

/** @returns the path of the executable; exits where it cannot be had. */
function nodeOf(version: string): string {
  const folder = join(root, '.temporal-health', 'cache', `node-${version}`);
  const executable = join(folder, 'node_modules', packageName, 'bin', 'node');
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', [...install, `${packageName}@${version}`], { stdio: 'inherit' });
  if (status === 0 && existsSync(executable)) return executable;
  console.error(`${packageName}@${version} cannot be had from the npm registry.`);
  process.exit(1);
}

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const failed = VERSIONS.filter((version) => {
  const executable = nodeOf(version);
  const projects = PROJECTS.flatMap((project) => ['--project', project]);
  const { status } = spawnSync(executable, [vitest, 'run', ...projects], { cwd: root, stdio: 'inherit' });
  console.log(`Node ${version}: ${status === 0 ? 'passed' : 'failed'}`);
  return status !== 0;
});
process.exitCode = failed.length === 0 ? 0 : 1;
