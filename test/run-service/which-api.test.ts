import { describe, expect, it } from 'vitest';
import { keyFromEnvironment } from '../../src/host/api-key.ts';
import { ServiceClock } from '../../src/run-service/service-clock.ts';
import { openTransport } from '../../src/run-service/transport.ts';
import { whichApi } from '../../src/run-service/which-api.ts';
import { openService, TOKEN } from '../local-service/asking.ts';
import { answer, scriptedAt } from './scripted.ts';

const at = (base: string, token = TOKEN) => ({
  base,
  key: keyFromEnvironment(token, 'TEST'),
  transport: openTransport(2),
  clock: new ServiceClock(),
});

describe('which API a base address speaks', () => {
  it('is V2 at the base of V2 and V1 at the base of V1, and no run is bought to learn it', async () => {
    const { service } = await openService();
    expect(await whichApi(at(service.base))).toBe('v2');
    expect(await whichApi(at(service.legacyBase))).toBe('v1');
    expect(service.stats().requests).toMatchObject({ queue: 0 });
  });

  it('is neither beside the path, nor where V2 was left out, nor at another server', async () => {
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

  it('is not known where the key is refused, where nobody listens, or while a gateway says that the service is away', async () => {
    const { service } = await openService();
    for (const base of [service.base, service.legacyBase])
      await expect(whichApi(at(base, 'wrong'))).rejects.toMatchObject({ code: 'E301', exit: 4 });
    await expect(whichApi(at('http://127.0.0.1:1/api'))).rejects.toMatchObject({ code: 'E304', exit: 6 });
    const away = await scriptedAt((socket) => void socket.write(answer(502, '<h1>Bad Gateway</h1>')));
    await expect(whichApi(away.at)).rejects.toMatchObject({ code: 'E304', exit: 6 });
  });
});
