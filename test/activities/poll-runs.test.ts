// Attempts of the durable poll: each test defines the service; the times are those of Temporal's attempts.

import { describe, expect, it } from 'vitest';
import { problem } from '../../src/errors/error.ts';
import type { RunService } from '../../src/service-client/client.ts';
import { runOf, type DepsOverrides } from './deps.ts';
import { Poll } from './poll.ts';

type GetRun = RunService['getRun'];
const getting = (getRun: GetRun): NonNullable<DepsOverrides['service']> => ({ getRun });
const running = getting(async (id) => runOf(id, 'running'));

describe('a poll of outstanding runs', () => {
  it('signals completed runs, and continues for the others', async () => {
    const poll = new Poll();
    const goesOn = await poll.look(getting(async (id) => runOf(id, id === 'r2' ? 'running' : 'success')));
    expect([poll.ended, goesOn]).toEqual([['r1', 'r3'], true]);
  });

  it('completes when a tenth of its runs is left', async () => {
    const poll = new Poll(20);
    const open = (most: number) =>
      getting(async (id) => runOf(id, Number(id.slice(1)) > most ? 'success' : 'running'));
    expect(await poll.look(open(3))).toBe(true);
    expect(await poll.look(open(2))).toBe(false);
  });

  it('completes after three minutes with few runs, so that others are polled, and later with many', async () => {
    const lasts = async (count: number): Promise<number> => {
      const poll = new Poll(count);
      const startedAt = poll.nowMs;
      while (await poll.look(getting(async (id) => runOf(id, 'running')))) poll.nowMs += 20_000;
      return poll.nowMs - startedAt;
    };
    expect(await lasts(3)).toBe(180_000);
    expect(await lasts(100)).toBe(360_000);
  });

  it('starts each poll at another run, so that slow runs block no other for ever', async () => {
    const poll = new Poll(100);
    const firsts: string[] = [];
    for (let look = 1; look <= 3; look += 1) {
      const requests: string[] = [];
      await poll.look(
        getting(async (id) => (requests.push(id), runOf(id, 'running'))),
        {},
        false,
        look,
      );
      firsts.push(requests[0] ?? '');
    }
    expect(new Set(firsts).size).toBe(3);
  });

  it('completes when its batch has ended', async () => {
    const poll = new Poll();
    poll.isGone = true;
    expect(await poll.look(getting(async (id) => runOf(id, 'success')))).toBe(false);
  });

  it('signals no completion that this worker has already signalled after a webhook', async () => {
    const poll = new Poll();
    const reported = { has: (runId: string) => runId === 'r1', held: new Set<string>() };
    await poll.look(
      getting(async (id) => runOf(id, 'success')),
      { reported },
    );
    expect(poll.ended).toEqual(['r2', 'r3']);
  });

  it('leaves an end that waits for others to the receiver, and signals it once it does not wait any more', async () => {
    const poll = new Poll();
    const held = new Set(['r1']);
    const reported = { has: () => false, held };
    const service = getting(async (id) => runOf(id, 'success'));
    await poll.look(service, { reported });
    expect(poll.ended).toEqual(['r2', 'r3']);
    held.clear();
    await poll.look(service, { reported });
    expect(poll.ended).toEqual(['r2', 'r3', 'r1']);
  });

  it('looks more rarely at old runs: after a twentieth of the age of the youngest, and at least every 25 seconds', async () => {
    const delayAfter = async (...ages: readonly number[]): Promise<unknown> => {
      const poll = new Poll();
      poll.runs = ages.map((ageMs, at) => ({ place: at + 1, attempt: 1, runId: `r${at + 1}`, ageMs }));
      await poll.look(getting(async (id) => runOf(id, 'running')));
      return poll.delayMs;
    };
    expect(await delayAfter(0, 3_600_000)).toBe(2_000);
    expect(await delayAfter(120_000, 3_600_000)).toBe(6_000);
    expect(await delayAfter(3_600_000)).toBe(25_000);
  });

  it('signals the completions of the others if one run cannot be read', async () => {
    const poll = new Poll();
    await poll.look(
      getting(async (id) => {
        if (id === 'r1') throw new Error('500');
        return runOf(id, 'failed');
      }),
    );
    expect(poll.ended).toEqual(['r2', 'r3']);
  });

  it('ignores an answer about another run', async () => {
    const poll = new Poll();
    await poll.look(getting(async (id) => runOf(id === 'r1' ? 'r9' : id, 'success')));
    expect(poll.ended).toEqual(['r2', 'r3']);
  });

  it('reads each run if the list fails', async () => {
    const poll = new Poll();
    const listRuns = async () => {
      throw new Error('403');
    };
    await poll.look({ getRun: async (id) => runOf(id, 'success'), listRuns }, { workflowId: 'w' });
    expect(poll.ended).toHaveLength(3);
  });

  it('reads no run that the list shows as open, however small the pages are', async () => {
    const poll = new Poll();
    const requests: string[] = [];
    const listedRuns = ['r1', 'stranger', 'r2', 'r3'].map((id) =>
      runOf(id, id === 'r3' ? 'success' : 'running'),
    );
    const listRuns: RunService['listRuns'] = async (_, { offset }) => listedRuns.slice(offset, offset + 1);
    const getRun: GetRun = async (id) => (requests.push(id), runOf(id, 'success'));
    await poll.look({ getRun, listRuns }, { workflowId: 'w' });
    expect([requests, poll.ended]).toEqual([['r3'], ['r3']]);
  });

  it('reports a run as gone only after it was missing in every poll for a minute', async () => {
    const poll = new Poll();
    const missing = getting(async () => undefined);
    await poll.lookFor(60_000, missing);
    expect(poll.completions).toEqual([]);
    await poll.lookFor(20_000, missing);
    expect(poll.completions.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('counts at most half a minute between two polls, because an outage of Temporal proves nothing', async () => {
    const poll = new Poll();
    await poll.look(getting(async () => undefined));
    poll.nowMs += 86_400_000;
    await poll.look(getting(async () => undefined));
    expect(poll.completions).toEqual([]);
  });

  it('reports runs that do not start or make no progress for too long, and says how long', async () => {
    const DAY = 86_400_000;
    const poll = new Poll(3, DAY + 100_000);
    const serviceNow = Date.parse('2011-01-01T00:00:00Z');
    const old = serviceNow - DAY - 100_000;
    let news = 0;
    const service: DepsOverrides['service'] = {
      nowMs: () => serviceNow,
      getRun: async (id) => ({
        ...runOf(id, id === 'r1' ? 'not-started' : 'running'),
        createdAtMs: old,
        startedAtMs: id === 'r1' ? undefined : old,
        updatedAtMs: id === 'r3' ? serviceNow - (news += 1) : old,
      }),
    };
    await poll.lookFor(60_000, service);
    expect(poll.completions).toEqual([]);
    expect(poll.overdue.slice(0, 2)).toEqual([
      { place: 1, attempt: 1, runId: 'r1', reason: 'the run did not start within 24 h' },
      { place: 2, attempt: 1, runId: 'r2', reason: 'the run made no progress for 2 h' },
    ]);
    expect(poll.overdue.every(({ runId }) => runId !== 'r3')).toBe(true);
  });

  it('reports a run that is only shown as timed out as overdue, because it may still start, unless the batch is already cancelling it', async () => {
    const poll = new Poll();
    const shown = getting(async (id) => ({ ...runOf(id, 'timeout'), endedAtMs: undefined }));
    await poll.look(shown);
    expect(poll.completions).toEqual([]);
    expect(poll.overdue.map(({ reason }) => reason)).toContain(
      'the service does not know how the run has ended',
    );
    const cancelling = new Poll();
    cancelling.runs = cancelling.runs.map((run) => ({ ...run, isOverdue: true }));
    await cancelling.look(shown);
    expect(cancelling.overdue).toEqual([]);
  });

  const failing = (error: Error) =>
    getting(async () => {
      throw error;
    });
  const refused = problem('E301', { status: 401, detail: 'Revoked token', keyFrom: 'X', lastFour: '…' });
  const away = problem('E304', { base: 'b', reason: 'ECONNREFUSED' });

  it('signals immediately, and once, that the key is refused, and later that runs can be read again', async () => {
    const poll = new Poll();
    await poll.look(failing(refused));
    await poll.lookFor(40_000, failing(refused));
    expect(poll.read).toMatchObject([{ reason: expect.stringContaining('401') as string }]);
    await poll.look(running);
    expect(poll.read.slice(1)).toEqual([{}]);
  });

  it('signals after a minute that the service is unreachable', async () => {
    const poll = new Poll();
    await poll.lookFor(60_000, failing(away));
    expect(poll.read).toEqual([]);
    await poll.lookFor(20_000, failing(away));
    expect(poll.read).toMatchObject([{ reason: expect.stringContaining('ECONNREFUSED') as string }]);
  });

  it('signals after a minute that its batch cannot be opened, and later that its runs can be read again', async () => {
    const poll = new Poll();
    const gone = { open: async () => Promise.reject(new Error('E504: no batch.json')) };
    await poll.lookFor(60_000, {}, gone);
    expect(poll.read).toEqual([]);
    await poll.lookFor(20_000, {}, gone);
    expect(poll.read).toMatchObject([{ reason: 'E504: no batch.json' }]);
    await poll.look(running);
    expect(poll.read.slice(1)).toEqual([{}]);
  });

  it('signals that runs can be read again after an earlier poll had signalled the opposite', async () => {
    const poll = new Poll();
    await poll.look(running, {}, true);
    expect(poll.read).toEqual([{}]);
  });

  it('stops a poll after many consecutive failures of the service', async () => {
    const poll = new Poll(500);
    let requests = 0;
    await poll.look(
      getting(async () => {
        requests += 1;
        throw away;
      }),
    );
    expect(requests).toBeLessThan(60);
  });

  it('remembers 500 runs in less than 12 KB', async () => {
    const poll = new Poll(500);
    await poll.look(running);
    expect(JSON.stringify(poll.memory).length).toBeLessThan(12_000);
  });
});
