import { describe, expect, it } from 'vitest';
import { keyFromEnvironment } from '../../src/host/settings/api-key.ts';
import { ServiceClock } from '../../src/service-client/connection.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { whichApi } from '../../src/service-client/open-services.ts';
import { openService, TOKEN } from '../run-service/asking.ts';
import { answer, scriptedAt } from './scripted.ts';

const at = (base: string, token = TOKEN) => ({
  base,
  key: keyFromEnvironment(token, 'TEST'),
  transport: openTransport(2),
  clock: new ServiceClock(),
});

describe('the detected API of a base address', () => {
  it('is V2 at the V2 base and V1 at the V1 base, and the detection buys no run', async () => {
    const { service } = await openService();
    expect(await whichApi(at(service.base))).toBe('v2');
    expect(await whichApi(at(service.legacyBase))).toBe('v1');
    expect(service.stats().requests).toMatchObject({ queue: 0 });
  });

  it('is none at a wrong path, without V2, or at another server', async () => {
    const { service } = await openService({}, { only: 'v1' });
    await expect(whichApi(at(service.url))).rejects.toMatchObject({ code: 'E307', exit: 2 });
    await expect(whichApi(at(service.base))).rejects.toMatchObject({ code: 'E307', exit: 2 });
    for (const said of [
      answer(200, '<html>welcome</html>', 'content-type: text/html\r\n'),
      answer(404, '{"detail":"Not Found"}'),
      answer(400, '{"message":"Bad Request"}'),
      answer(200, '{"detail":[{"loc":[],"msg":"","type":""}]}'),
    ]) {
      const stranger = await scriptedAt((socket) => void socket.write(said));
      await expect(whichApi(stranger.at)).rejects.toMatchObject({ code: 'E307', exit: 2 });
    }
  });

  it('is unknown if the key is refused, if nothing listens, or if a gateway reports that the service is down', async () => {
    const { service } = await openService();
    for (const base of [service.base, service.legacyBase])
      await expect(whichApi(at(base, 'wrong'))).rejects.toMatchObject({ code: 'E301', exit: 4 });
    await expect(whichApi(at('http://127.0.0.1:1/api'))).rejects.toMatchObject({ code: 'E304', exit: 6 });
    const away = await scriptedAt((socket) => void socket.write(answer(502, '<h1>Bad Gateway</h1>')));
    await expect(whichApi(away.at)).rejects.toMatchObject({ code: 'E304', exit: 6 });
  });
});
