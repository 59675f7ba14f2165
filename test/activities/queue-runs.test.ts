// Sends groups over a real connection; each test defines the service and Temporal.

import { CompleteAsyncError } from '@temporalio/activity';
import { ActivityCancelledError, ActivityNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { queueRuns } from '../../activities/queue-runs.ts';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import type { GroupResult, RunCompletion, BatchSignals } from '../../src/batch/events.ts';
import { connectRunService } from '../../src/service-client/client.ts';
import { holderHere } from '../../src/store/holder.ts';
import { OwnRuns } from '../../src/webhook/own-runs.ts';
import { WaitingGroups } from '../../src/webhook/waiting-groups.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { requestHash } from '../../src/batches/request-hash.ts';
import { DELETED } from '../../src/batches/watched/left-out.ts';
import { answer, scripted, type Act } from '../service-client/scripted.ts';
import { depsOf, MARK, REF, type DepsOverrides } from './deps.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const ATTEMPTS = [
  { place: 3, attempt: 1 },
  { place: 4, attempt: 2 },
];
const takes: Act = (socket) => void socket.write(answer(200, `{"run_id":"${RUN}"}`));

/** A fake Temporal; each of its calls may fail. */
type Temporal = { heartbeat?: (details: GroupResult) => void; complete?: (nth: number) => void };

describe('sending a group', () => {
  let seen: AttemptRun[];
  let completed: readonly GroupResult[];
  let heartbeats: GroupResult[];
  beforeEach(() => ([seen, completed, heartbeats] = [[], [], []]));

  /** Sends the group; returns the requests that the service received. */
  async function send(
    act: Act,
    temporal: Temporal = {},
    { mayWait, ...overrides }: Partial<DepsOverrides> & { mayWait?: true } = {},
  ): Promise<string[]> {
    const service = await scripted(connectRunService, act);
    const completion = {
      heartbeat: async (_: Uint8Array, details: GroupResult) => {
        heartbeats.push({ ...details, results: [...details.results] });
        temporal.heartbeat?.(details);
      },
      complete: async (_: Uint8Array, result: GroupResult) => {
        completed = [...completed, result];
        temporal.complete?.(completed.length);
      },
    };
    const signals = { runsSeen: async (_: unknown, runs: readonly AttemptRun[]) => void seen.push(...runs) };
    const deps = depsOf({
      service,
      completion,
      signals,
      readRows: async (_: unknown, rows: readonly number[]) =>
        new Map(rows.map((row) => [row, { row, key: `k${row}`, inputs: { number: row } }])),
      webhooks: { secret: 'a secret', receiver: () => 'http://receiver.test' },
      ...overrides,
    } as unknown as DepsOverrides);
    const environment = new MockActivityEnvironment();
    const waits = mayWait ? { mayWait } : {};
    await expect(
      environment.run(() => queueRuns(deps, { ...REF, attempts: ATTEMPTS, ...waits })),
    ).rejects.toBeInstanceOf(CompleteAsyncError);
    return [...service.requests];
  }

  const results = () => completed[0]?.results.toSorted((a, b) => a.place - b.place);

  const webhooksOf = (requests: readonly string[]) =>
    requests
      .map((text) => (JSON.parse(text.split('\r\n\r\n')[1] ?? '') as { webhook: string }).webhook)
      .toSorted();

  it.each([
    ['of its receiver', () => 'http://receiver.test', 'http://receiver.test'],
    ['that cannot exist, if there is no receiver', () => undefined, 'http://runsheet.invalid'],
  ])('sends each request with the token of its own attempt, at an address %s', async (_, receiver, host) => {
    const webhooks = webhooksOf(await send(takes, {}, { webhooks: { secret: 'a secret', receiver } }));
    expect(webhooks.map((url) => readToken(url))).toMatchObject(
      ATTEMPTS.map((name) => ({ batch: 'b', mark: MARK, ...name })),
    );
    expect(webhooks.every((url) => url.startsWith(host))).toBe(true);
  });

  it('completes with the result of each attempt, once all are answered', async () => {
    await send((socket, request) =>
      request.includes('"number":3') ? takes(socket, request, 1) : void socket.destroy(),
    );
    expect(completed).toHaveLength(1);
    expect(results()).toMatchObject([
      { place: 3, attempt: 1, result: 'accepted', runId: RUN },
      { place: 4, attempt: 2, result: 'unconfirmed' },
    ]);
  });

  it('sends nothing once another execution has the batch, although it was its own when the group began', async () => {
    const holder = holderHere({ kind: 'embedded', home: '/home/bob/.runsheet' });
    const standing = async () => ({ is: 'rebuilding', holder }) as const;
    expect(await send(takes, {}, { standing })).toEqual([]);
    expect(results()).toMatchObject([
      { place: 3, result: 'not-sent', reason: expect.stringContaining('/home/bob/.runsheet') as string },
      { place: 4, result: 'not-sent' },
    ]);
  });

  it('sends nothing while the folder cannot say who has the batch', async () => {
    const standing = async () => Promise.reject(new Error('EIO'));
    expect(await send(takes, {}, { standing })).toEqual([]);
    expect(results()).toMatchObject([{ result: 'not-sent' }, { result: 'not-sent' }]);
  });

  it("completes with the service's own time", async () => {
    await send((socket) => {
      const text = answer(200, `{"run_id":"${RUN}"}`);
      socket.write(text.replace('\r\n', '\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\n'));
    });
    const { serviceNowMs = 0 } = completed[0] ?? {};
    expect(Math.abs(serviceNowMs - Date.parse('2026-11-22T10:00:00Z'))).toBeLessThan(5_000);
  });

  it('heartbeats each answer while others are pending', async () => {
    const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
    await send(
      (socket, request) =>
        void (request.includes('"number":3')
          ? takes(socket, request, 1)
          : acknowledged.then(() => takes(socket, request, 2))),
      { heartbeat: ({ results: some }) => void (some.length > 0 && resolve()) },
    );
    expect(heartbeats[0]).toEqual({ results: [] });
    expect(heartbeats.map(({ results: some }) => some)).toContainEqual([
      { place: 3, attempt: 1, result: 'accepted', runId: RUN },
    ]);
  });

  it('sends nothing to the service if Temporal has abandoned the group', async () => {
    const requests = await send(takes, {
      heartbeat: () => {
        throw new ActivityNotFoundError('gone');
      },
    });
    expect(requests).toEqual([]);
    expect(results()).toMatchObject(ATTEMPTS.map((name) => ({ ...name, result: 'not-sent' })));
  });

  it('sends nothing to the service before Temporal has confirmed the group', async () => {
    const requests = await send(takes, {
      heartbeat: () => {
        throw new Error('away');
      },
    });
    expect(requests).toEqual([]);
  });

  it('leaves a row out that its sheet asks for with other inputs, or no longer has', async () => {
    const wish = { 3: requestHash({ number: 3 }, undefined), 4: DELETED };
    const places = [{ lane: 0, first: 1, count: 4 }];
    const file = (rows: object) => JSON.stringify({ sheet: '/a.csv', deployment: 'd', rows, places });
    const requests = await send(takes, {}, { store: { read: async () => file(wish) } });
    expect(requests).toHaveLength(1);
    expect(results()).toMatchObject([
      { place: 3, result: 'accepted' },
      { place: 4, attempt: 2, result: 'left-out', reason: expect.stringContaining('without this row') },
    ]);
    completed = [];
    const read = async (): Promise<string> => file({ 3: 'other', 4: DELETED });
    expect(await send(takes, {}, { store: { read } })).toEqual([]);
    expect(results()?.map(({ result }) => result)).toEqual(['left-out', 'left-out']);
  });

  it('does not send a row whose picture is no longer at its address, and sends the address without its mark', async () => {
    const sha256 = 'a'.repeat(64);
    const photoOf = (row: number) =>
      `https://a.example/1.png?expires=${row === 3 ? 1_000 : 9e12}#sha256=${sha256}`;
    const readRows: NonNullable<DepsOverrides['readRows']> = async (_, rows) =>
      new Map(rows.map((row) => [row, { row, key: 'k', inputs: { photo: photoOf(row) } }]));
    const requests = await send(takes, {}, { readRows });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain('"photo":"https://a.example/1.png?expires=9000000000000"');
    expect(results()).toMatchObject([
      { place: 3, result: 'left-out', reason: expect.stringContaining('address of its photo has expired') },
      { place: 4, result: 'accepted' },
    ]);
  });

  it('sends nothing for a run that was paid for, whichever attempt asks for it', async () => {
    const readRows: NonNullable<DepsOverrides['readRows']> = async (_, rows) =>
      new Map(rows.map((row) => [row, { row, key: 'k', inputs: {}, before: 'part', fetch: 'paid' }]));
    expect(await send(takes, {}, { readRows })).toEqual([]);
    expect(results()).toEqual([
      { place: 3, attempt: 1, result: 'accepted', runId: 'paid', isKnown: true },
      { place: 4, attempt: 2, result: 'accepted', runId: 'paid', isKnown: true },
    ]);
  });

  it('repeats its completion until Temporal accepts it', async () => {
    await send(takes, {
      complete: (nth) => {
        if (nth < 3) throw new Error('away');
      },
    });
    expect(completed).toHaveLength(3);
    expect(seen).toEqual([]);
  });

  it('signals its accepted runs to the batch if Temporal has abandoned the group meanwhile', async () => {
    await send(
      (socket, request) =>
        request.includes('"number":3') ? takes(socket, request, 1) : void socket.destroy(),
      {
        complete: () => {
          throw new ActivityNotFoundError('gone');
        },
      },
    );
    expect(seen).toEqual([{ place: 3, attempt: 1, runId: RUN }]);
  });

  describe('that may wait for the next ends of runs', () => {
    const END: RunCompletion = { place: 9, attempt: 1, runId: 'ended', outcome: 'succeeded' };
    let signalled: string[];
    let groups: WaitingGroups;
    let aheadMs: number;
    let signals: BatchSignals;
    beforeEach(async () => {
      aheadMs = 0;
      [signalled, groups] = [[], new WaitingGroups(() => performance.now() + aheadMs)];
      signals = groups.signals({
        runsCompleted: async (_: unknown, __: unknown, ends: readonly RunCompletion[]) => {
          signalled.push(...ends.map(({ runId }) => runId));
          return 'taken';
        },
      } as unknown as BatchSignals);
      // Ends come often.
      for (let n = 0; n < 2; n += 1) await end(`before-${n}`);
    });
    const end = (runId: string) => signals.runsCompleted(REF, 'webhook', [{ ...END, runId }]);
    /** Ends that come so long after one another. */
    const endsEvery = async (ms: number): Promise<void> => {
      await end('before-2');
      aheadMs += ms;
      await end('before-3');
    };
    /** Sends the group; an end comes as soon as it waits. */
    const sendWaiting = async (temporal: Temporal = {}): Promise<void> => {
      let ended: Promise<unknown> | undefined;
      const wait: WaitingGroups['wait'] = (...args) => {
        const waiting = groups.wait(...args);
        ended = end('awaited');
        return waiting;
      };
      await send(takes, temporal, { waitingGroups: { wait }, mayWait: true });
      await ended;
    };

    it('completes with these ends, which are then not signalled', async () => {
      await sendWaiting();
      const carried = completed[0]?.ends?.completions.map(({ runId }) => runId) ?? [];
      expect(carried).toHaveLength(1);
      expect(results()?.map(({ result }) => result)).toEqual(['accepted', 'accepted']);
      expect(signalled).not.toContain(carried[0]);
    });

    it.each([
      ['if Temporal has given the group up', new ActivityNotFoundError('gone'), 1],
      ['as well while Temporal does not answer', new Error('away'), 2],
    ])('leaves these ends to a signal %s', async (_, error, tries) => {
      await sendWaiting({
        complete: (nth) => {
          if (nth === 1) throw error;
        },
      });
      const carried = completed[0]?.ends?.completions.map(({ runId }) => runId) ?? [];
      expect([carried.length, completed.length]).toEqual([1, tries]);
      await vi.waitFor(() => expect(signalled).toContain(carried[0]));
    });

    it('heartbeats its results while it waits, and completes when it is stopped', async () => {
      // The group waits longer than until its first heartbeat.
      await endsEvery(1_000);
      let isStopped = false;
      await send(
        takes,
        {
          heartbeat: ({ results: some }) => {
            isStopped = some.length === 2;
            if (isStopped) throw new ActivityCancelledError('stopped');
          },
        },
        { waitingGroups: groups, mayWait: true },
      );
      expect([isStopped, completed.length]).toEqual([true, 1]);
    });

    it.each([
      ['an attempt of it was not accepted', (socket: Parameters<Act>[0]) => void socket.destroy(), {}],
      ['its worker stops', takes, { stops: true }],
    ])('completes soon if %s', async (_, act, { stops = false }: { stops?: boolean }) => {
      await endsEvery(1_000);
      const stopping = new AbortController();
      const posts = {
        stopping: stopping.signal,
        began: () => undefined,
        answered: () => stops && stopping.abort(),
      };
      const startedAt = performance.now();
      await send(act, {}, {
        waitingGroups: groups,
        mayWait: true,
        posts,
      } as unknown as Partial<DepsOverrides>);
      expect(performance.now() - startedAt).toBeLessThan(700);
      expect(heartbeats.every(({ results: some }) => some.length < 2)).toBe(true);
    });

    it('tells the receiver which runs Temporal knows', async () => {
      const ownRuns = new OwnRuns();
      await send(takes, {}, { ownRuns });
      expect(ownRuns.isTaken(RUN)).toBe(true);
    });
  });

  it('fails with NothingSent if its rows cannot be read', async () => {
    const deps = depsOf({
      readRows: async () => {
        throw new Error('EIO');
      },
    });
    const sent = new MockActivityEnvironment().run(() => queueRuns(deps, { ...REF, attempts: ATTEMPTS }));
    await expect(sent).rejects.toMatchObject({ type: 'NothingSent', nonRetryable: true });
  });
});
