// Forwards TCP connections: `node forward.ts 127.0.0.1:7233=10.203.1.1:7233 …`, or inside of a test with `openForward`.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** `to` chooses `host:port` for each connection; a connection for which it has none is closed. */
export async function openForward(at: string, to: () => string | undefined): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const [host, port] = to()?.split(':') ?? [];
    if (host === undefined) return void near.destroy();
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    tunnel(near, far);
  });
  const [host, port] = at.split(':');
  server.listen(Number(port), host);
  await once(server, 'listening');
  return server;
}

/** The end of one is the end of the other, however it came. */
export function tunnel(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy()).on('close', () => far.destroy());
  far.on('error', () => near.destroy()).on('close', () => near.destroy());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const pair of process.argv.slice(2)) {
    const [at = '', to = ''] = pair.split('=');
    await openForward(at, () => to);
  }
  console.log('forwarding');
}
