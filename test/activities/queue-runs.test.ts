// Sends groups over a real connection; each test defines the service and Temporal.

import { CompleteAsyncError } from '@temporalio/activity';
import { ActivityNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { queueRuns } from '../../activities/queue-runs.ts';
import type { AttemptRun } from '../../src/batch/attempt.ts';
import type { GroupResult } from '../../src/batch/events.ts';
import { connectRunService } from '../../src/run-service/client.ts';
import { readToken } from '../../src/webhook/token.ts';
import { DELETED, requestHash } from '../../src/create-batch/append/left-out.ts';
import { answer, scripted, type Act } from '../run-service/scripted.ts';
import { depsOf, MARK, REF, type Given } from './deps.ts';

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
  async function send(act: Act, temporal: Temporal = {}, given: Partial<Given> = {}): Promise<string[]> {
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
      nextSignal: async () => undefined,
      readRows: async (_: unknown, rows: readonly number[]) =>
        new Map(rows.map((row) => [row, { row, key: `k${row}`, inputs: { number: row } }])),
      webhooks: { secret: 'a secret', receiver: () => 'http://receiver.test' },
      ...given,
    } as unknown as Given);
    const environment = new MockActivityEnvironment();
    await expect(
      environment.run(() => queueRuns(deps, { ...REF, attempts: ATTEMPTS })),
    ).rejects.toBeInstanceOf(CompleteAsyncError);
    return [...service.asked];
  }

  const results = () => completed[0]?.results.toSorted((a, b) => a.place - b.place);

  const webhooksOf = (asked: readonly string[]) =>
    asked
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
    await send((socket, asked) =>
      asked.includes('"number":3') ? takes(socket, asked, 1) : void socket.destroy(),
    );
    expect(completed).toHaveLength(1);
    expect(results()).toMatchObject([
      { place: 3, attempt: 1, result: 'accepted', runId: RUN },
      { place: 4, attempt: 2, result: 'unconfirmed' },
    ]);
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
      (socket, asked) =>
        void (asked.includes('"number":3')
          ? takes(socket, asked, 1)
          : acknowledged.then(() => takes(socket, asked, 2))),
      { heartbeat: ({ results: some }) => void (some.length > 0 && resolve()) },
    );
    expect(heartbeats[0]).toEqual({ results: [] });
    expect(heartbeats.map(({ results: some }) => some)).toContainEqual([
      { place: 3, attempt: 1, result: 'accepted', runId: RUN },
    ]);
  });

  it('sends nothing to the service if Temporal has abandoned the group', async () => {
    const asked = await send(takes, {
      heartbeat: () => {
        throw new ActivityNotFoundError('gone');
      },
    });
    expect(asked).toEqual([]);
    expect(results()).toMatchObject(ATTEMPTS.map((name) => ({ ...name, result: 'not-sent' })));
  });

  it('sends nothing to the service before Temporal has confirmed the group', async () => {
    const asked = await send(takes, {
      heartbeat: () => {
        throw new Error('away');
      },
    });
    expect(asked).toEqual([]);
  });

  it('leaves a row out that its sheet asks for with other inputs, or no longer has', async () => {
    const wish = { 3: requestHash({ inputs: { number: 3 } }, undefined), 4: DELETED };
    const places = [{ lane: 0, first: 1, count: 4 }];
    const file = (rows: object) => JSON.stringify({ sheet: '/a.csv', deployment: 'd', rows, places });
    const asked = await send(takes, {}, { store: { read: async () => file(wish) } });
    expect(asked).toHaveLength(1);
    expect(results()).toMatchObject([
      { place: 3, result: 'accepted' },
      { place: 4, attempt: 2, result: 'left-out', reason: expect.stringContaining('without this row') },
    ]);
    completed = [];
    const read = async (): Promise<string> => file({ 3: 'other', 4: DELETED });
    expect(await send(takes, {}, { store: { read } })).toEqual([]);
    expect(results()?.map(({ result }) => result)).toEqual(['left-out', 'left-out']);
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
      (socket, asked) => (asked.includes('"number":3') ? takes(socket, asked, 1) : void socket.destroy()),
      {
        complete: () => {
          throw new ActivityNotFoundError('gone');
        },
      },
    );
    expect(seen).toEqual([{ place: 3, attempt: 1, runId: RUN }]);
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
