/** A client of the store in a process of its own, to be killed: `node --import tsx client-process.ts URL WHAT RECEIPTS`. */
import { once } from 'node:events';
import type { Receipt } from '../../receipts/envelope.ts';
import { openPostgresStore } from '../../receipts/postgres/index.ts';

const [url = '', what = '', receipts = '[]'] = process.argv.slice(2);
const store = openPostgresStore({ url, clusterId: 'c1', queryTimeoutMs: 20_000 });
await store.readGaps('default', 0);
process.stdout.write('open\n');
if (what === 'emit') await store.emit(JSON.parse(receipts) as Receipt[]);
if (what === 'close') {
  await once(process.stdin, 'data');
  process.stdin.destroy();
  await store.close();
}
