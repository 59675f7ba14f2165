// Runs that are read one by one at a vendor without a list.

import { describe, expect, it } from 'vitest';
import { Blocked, Unreachable, type Seen, type Sent } from '../../src/run-service/executors/backend.ts';
import { ReadRuns } from '../../src/run-service/executors/vendors/read-runs.ts';

const sent = (id: string, ref: string | undefined): Sent => ({
  id,
  ref,
  tries: 1,
  sinceMs: 0,
  isRepeated: false,
});

function open(read: (ref: string) => Promise<Seen>, assertThere = (): Promise<void> => Promise.resolve()) {
  const refs: string[] = [];
  const runs = new ReadRuns({
    read: (ref) => {
      refs.push(ref);
      return read(ref);
    },
    assertThere,
  });
  return { runs, refs };
}

describe('the runs at a vendor without a list', () => {
  it('are read twenty in a round, those that were read longest ago first', async () => {
    const { runs, refs } = open(() => Promise.resolve({ at: 'running' }));
    const placed = Array.from({ length: 30 }, (_, n) => sent(`run ${n}`, `ref ${n}`));
    expect((await runs.poll(placed)).size).toBe(20);
    await runs.poll(placed);
    expect(new Set(refs).size).toBe(30);
  });

  it('are absent without a ref, which no request tells', async () => {
    const { runs, refs } = open(() => Promise.resolve({ at: 'running' }));
    expect([...(await runs.poll([sent('run', undefined)])).values()]).toEqual([{ at: 'absent' }]);
    expect(refs).toEqual([]);
  });

  it('are unread only if the vendor answers otherwise', async () => {
    const broken = (): Promise<Seen> => Promise.reject(new Unreachable('answered 500'));
    const { runs } = open(broken);
    expect((await runs.poll([sent('run', 'ref')])).get('run')).toMatchObject({ at: 'unread' });
    const away = open(broken, () => Promise.reject(new Unreachable('no answer')));
    await expect(away.runs.poll([sent('run', 'ref')])).rejects.toThrow('no answer');
    const refused = open(() => Promise.reject(new Blocked('answered 401')));
    await expect(refused.runs.poll([sent('run', 'ref')])).rejects.toThrow(Blocked);
  });

  it('get twice as many seats as execute, and at least four', async () => {
    const { runs } = open((ref) => Promise.resolve({ at: ref === 'waits' ? 'waiting' : 'running' }));
    expect(runs.seats).toEqual({ kind: 'given', count: 4 });
    await runs.poll([...Array.from({ length: 9 }, (_, n) => sent(`run ${n}`, `${n}`)), sent('w', 'waits')]);
    expect(runs.seats).toEqual({ kind: 'given', count: 18 });
    for (let n = 0; n < 8; n += 1) runs.forget(`run ${n}`);
    expect(runs.seats).toEqual({ kind: 'given', count: 4 });
  });
});
