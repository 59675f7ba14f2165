import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { connectRunService } from '../../src/run-service/client.ts';
import { keyFromEnvironment } from '../../src/host/api-key.ts';
import { ServiceClock } from '../../src/run-service/connection.ts';
import { openTransport } from '../../src/run-service/transport.ts';
import { listen } from '../stage/free-port.ts';

describe('a service that answers Queue Run slowly', () => {
  const hanging: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') hanging.push(response);
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Run not found"}');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('does not delay reading calls', async () => {
    const [transport, posts] = [openTransport(1), openTransport(1)];
    const base = `http://127.0.0.1:${await listen(server)}`;
    const key = keyFromEnvironment('a-key-of-this-test', 'the test');
    const service = connectRunService({ base, key, transport, posts, clock: new ServiceClock() });
    const order = { deployment_id: 'd', inputs: {} } as never;
    const posted = service.queueRun(order, { beforeSend: () => undefined, deadlineMs: 60_000 });
    while (hanging.length === 0) await new Promise((turn) => setImmediate(turn));
    expect(await service.getRun('11111111-1111-4111-8111-111111111111')).toBeUndefined();
    server.closeAllConnections();
    await posted;
    await Promise.all([transport.close(), posts.close()]);
  });
});
