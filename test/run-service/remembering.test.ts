import { describe, expect, it } from 'vitest';
import { runSchema, type Run } from '../../src/run-service/contract/run.ts';
import type { RunService } from '../../src/run-service/client.ts';
import { remembering } from '../../src/run-service/remembering.ts';

const runOf = (status: string, endedAt: string | null): Run =>
  runSchema.parse({ id: 'r', status, ended_at: endedAt });
const END = '2026-11-21T10:00:00Z';

/** How often the service is asked for a run that is read three times. */
async function readings(run: Run | undefined, forgets = false): Promise<number> {
  let asked = 0;
  const getRun = async () => {
    asked += 1;
    return run;
  };
  const service = remembering({ getRun } as unknown as RunService);
  for (let time = 0; time < 3; time += 1) {
    await service.getRun('r');
    if (forgets) service.forget('r');
  }
  return asked;
}

describe('a service that remembers', () => {
  it('reads a run that has ended once, and afresh once it is told to forget it', async () => {
    expect(await readings(runOf('success', END))).toBe(1);
    expect(await readings(runOf('success', END), true)).toBe(3);
  });

  it('forgets the oldest runs where those that it remembers are large', async () => {
    let asked = 0;
    const text = ['x'.repeat(1 << 20)];
    const getRun = async (id: string) => {
      asked += 1;
      return runSchema.parse({ id, status: 'success', ended_at: END, outputs: [{ data: { text } }] });
    };
    const service = remembering({ getRun } as unknown as RunService);
    for (let nth = 0; nth < 100; nth += 1) await service.getRun(`r${nth}`);
    await service.getRun('r99');
    expect(asked).toBe(100);
    await service.getRun('r0');
    expect(asked).toBe(101);
  });

  it.each([
    ['a run that goes on', runOf('running', null)],
    ['a run that is only reported as timed out', runOf('timeout', null)],
    ['a run of another id', { ...runOf('success', END), id: 'other' }],
    ['a run that it does not know', undefined],
  ])('reads %s each time', async (_, run) => {
    expect(await readings(run)).toBe(3);
  });
});
