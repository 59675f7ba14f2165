import { describe, expect, it } from 'vitest';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import type { RunService } from '../../src/service-client/client.ts';
import { remembering } from '../../src/service-client/remembering.ts';

const runOf = (status: string, endedAt: string | null): Run =>
  runSchema.parse({ id: 'r', status, ended_at: endedAt });
const END = '2026-11-21T10:00:00Z';

/** How many requests three readings of a run need. */
async function readings(run: Run | undefined, forgets = false): Promise<number> {
  let reads = 0;
  const getRun = async () => {
    reads += 1;
    return run;
  };
  const service = remembering({ getRun } as unknown as RunService);
  for (let time = 0; time < 3; time += 1) {
    await service.getRun('r');
    if (forgets) service.forget('r');
  }
  return reads;
}

describe('a caching service', () => {
  it('reads an ended run once, and again after `forget`', async () => {
    expect(await readings(runOf('success', END))).toBe(1);
    expect(await readings(runOf('success', END), true)).toBe(3);
  });

  it('evicts the oldest runs if the cached runs are large', async () => {
    let reads = 0;
    const text = ['x'.repeat(1 << 20)];
    const getRun = async (id: string) => {
      reads += 1;
      return runSchema.parse({ id, status: 'success', ended_at: END, outputs: [{ data: { text } }] });
    };
    const service = remembering({ getRun } as unknown as RunService);
    for (let nth = 0; nth < 100; nth += 1) await service.getRun(`r${nth}`);
    await service.getRun('r99');
    expect(reads).toBe(100);
    await service.getRun('r0');
    expect(reads).toBe(101);
  });

  it.each([
    ['a running run', runOf('running', null)],
    ['a run that is only reported as timed out', runOf('timeout', null)],
    ['a run of another id', { ...runOf('success', END), id: 'other' }],
    ['an unknown run', undefined],
  ])('reads %s each time', async (_, run) => {
    expect(await readings(run)).toBe(3);
  });
});
