import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { connectRunService } from '../../src/service-client/client.ts';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { serveForTest } from '../stage/serve.ts';

describe('a service that answers Queue Run slowly', () => {
  it('does not delay reading calls', async () => {
    const hanging: ServerResponse[] = [];
    const { url: base } = await serveForTest((request, response) => {
      if (request.method === 'POST') hanging.push(response);
      else response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Run not found"}');
    });
    const [transport, posts] = [openTransport(1), openTransport(1)];
    const key = keyFromEnvironment('a-key-of-this-test', 'the test');
    const service = connectRunService({ base, key, transport, posts, clock: new ServiceClock() });
    const order = { deployment_id: 'd', inputs: {} } as never;
    const posted = service.queueRun(order, { beforeSend: () => undefined, deadlineMs: 60_000 });
    while (hanging.length === 0) await new Promise((turn) => setImmediate(turn));
    expect(await service.getRun('11111111-1111-4111-8111-111111111111')).toBeUndefined();
    hanging[0]?.destroy();
    await posted;
    await Promise.all([transport.close(), posts.close()]);
  });
});
