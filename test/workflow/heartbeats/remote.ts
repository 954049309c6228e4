/**
 * A remote service as a process of its own: it takes connections, answers the first questions of each at once, and then
 * never says anything more, nor closes. `node --import tsx remote.ts ANSWERS`.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const answers = Number(process.argv[2]);

const server = createServer((socket) => {
  let asked = 0;
  socket.on('error', () => undefined);
  socket.on('data', () => {
    asked += 1;
    if (asked <= answers) socket.write(`answer ${asked}\n`);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
