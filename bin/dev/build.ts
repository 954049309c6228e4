/** Builds what the package ships: JavaScript and declarations in dist/, and the SQL files beside the code that reads them. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'dist');
const sql = join('receipts', 'postgres', 'sql');

/** What an earlier build left would otherwise be packed although its source is gone. */
rmSync(dist, { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) {
  rmSync(dist, { recursive: true, force: true }); // Half a build must not be published.
  process.exit(status ?? 1);
}
if (existsSync(join(root, sql))) {
  for (const name of readdirSync(join(root, sql)).filter((file) => file.endsWith('.sql'))) {
    cpSync(join(root, sql, name), join(dist, sql, name));
  }
}
