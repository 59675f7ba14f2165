import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deliver } from '../../activities/deliver.ts';
import { handsOf, openOf, runOf } from './hands.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

describe('delivering a run', () => {
  let written: string[];
  const store = { write: async (name: string) => void written.push(name) };
  const service = { getRun: async (id: string) => runOf(id, 'success', ['http://files/1']) };
  beforeEach(() => (written = []));

  it('names files by their first bytes, under the key of the row', async () => {
    const given = { service, store, download: () => once(PNG) };
    const delivery = await deliver(handsOf(given), openOf(given), 'r', 'fox');
    expect(delivery).toMatchObject({ outcome: 'succeeded', files: [{ bytes: PNG.length, name: 'one.png' }] });
    expect(written).toEqual(['outputs/fox/1.png']);
  });

  it('asks for fresh links until the file comes', async () => {
    let asked = 0;
    const given = {
      service,
      store,
      download: () => {
        asked += 1;
        if (asked < 6) throw new Error('the link has expired');
        return once(PNG);
      },
    };
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox')).toMatchObject({ outcome: 'succeeded' });
    expect(asked).toBe(6);
  });

  it('reads the run afresh before it tries again, because its addresses expire', async () => {
    let forgotten = 0;
    const given = {
      store,
      service: {
        getRun: async (id: string) => runOf(id, 'success', [`http://files/${forgotten}`]),
        forget: () => void (forgotten += 1),
      },
      download: (url: string) => {
        if (url === 'http://files/0') throw new Error('the link has expired');
        return once(PNG);
      },
    };
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox')).toMatchObject({ outcome: 'succeeded' });
    expect(forgotten).toBe(1);
  });

  it('fails a row whose files never come, with the reason', async () => {
    const given = {
      service,
      store,
      download: () => {
        throw new Error("the file's host answered 403");
      },
    };
    const delivery = await deliver(handsOf(given), openOf(given), 'r', 'fox');
    expect(delivery).toMatchObject({
      outcome: 'failed',
      reason: "outputs_missing: the file's host answered 403",
    });
  });

  it('never calls a run without any output succeeded', async () => {
    const given = { service: { getRun: async (id: string) => runOf(id, 'success') }, store };
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox')).toMatchObject({ outcome: 'failed' });
  });

  it.each([
    ['vanished', async () => undefined],
    ['shown as running again', async (id: string) => runOf(id, 'running')],
  ])('waits longer for a run that is %s than for one without outputs', async (_, hidden) => {
    let asked = 0;
    const getRun = async (id: string) => {
      asked += 1;
      return asked < 8 ? await hidden(id) : await service.getRun(id);
    };
    const given = { service: { getRun }, store, download: () => once(PNG) };
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox')).toMatchObject({ outcome: 'succeeded' });
    asked = -5;
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox')).toMatchObject({ outcome: 'failed' });
  });

  it.each(['ENOSPC', 'EACCES'])('does not blame the run for a folder that fails with %s', async (code) => {
    const full = Object.assign(new Error(code), { code });
    const given = {
      service,
      store: {
        write: async () => {
          throw full;
        },
      },
      download: () => once(PNG),
    };
    await expect(deliver(handsOf(given), openOf(given), 'r', 'fox')).rejects.toBe(full);
  });

  it('does not blame the run for a service that is away', async () => {
    const away = new Error('away');
    const given = {
      store,
      service: {
        getRun: async () => {
          throw away;
        },
      },
    };
    await expect(deliver(handsOf(given), openOf(given), 'r', 'fox')).rejects.toBe(away);
    expect(await deliver(handsOf(given), openOf(given), 'r', 'fox', true)).toMatchObject({
      outcome: 'failed',
    });
  });
});
