// Sends groups over a real connection to a service that does what the test says; Temporal is what the test says it is.

import { CompleteAsyncError } from '@temporalio/activity';
import { ActivityNotFoundError, type AsyncCompletionClient } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Hands } from '../../activities/hands.ts';
import { queueRuns } from '../../activities/queue-runs.ts';
import type { Answer, Seen } from '../../src/batch/messages.ts';
import { connectRunService } from '../../src/run-service/client.ts';
import { readToken } from '../../src/webhook/token.ts';
import { answer, scripted, type Act } from '../run-service/scripted.ts';
import { handsOf, PLACE, type Given } from './hands.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const ATTEMPTS = [
  { row: 3, attempt: 1 },
  { row: 4, attempt: 2 },
];
const takes: Act = (socket) => void socket.write(answer(200, `{"run_id":"${RUN}"}`));

/** What Temporal says; each of its calls may fail. */
type Temporal = { beat?: (details: readonly Answer[]) => void; complete?: (nth: number) => void };

describe('sending a group', () => {
  let told: Seen[];
  let completed: readonly Answer[][];
  let beats: (readonly Answer[])[];
  beforeEach(() => ([told, completed, beats] = [[], [], []]));

  /** Sends the group; the requests that the service got. */
  async function send(act: Act, temporal: Temporal = {}, given: Partial<Given> = {}): Promise<string[]> {
    const service = await scripted(connectRunService, act);
    const activities = {
      heartbeat: async (_: Uint8Array, details: readonly Answer[]) => {
        beats.push([...details]);
        temporal.beat?.(details);
      },
      complete: async (_: Uint8Array, answers: readonly Answer[]) => {
        completed = [...completed, [...answers]];
        temporal.complete?.(completed.length);
      },
    } as unknown as AsyncCompletionClient;
    const batches = { tellSeen: async (_: string, seen: readonly Seen[]) => void told.push(...seen) };
    const hands = handsOf({
      service,
      activities,
      batches: batches as unknown as Hands['batches'],
      ride: async () => undefined,
      readRows: async (_, rows) =>
        new Map(rows.map((row) => [row, { row, key: `k${row}`, inputs: { number: row } }])),
      webhooks: { secret: 'a secret', receiver: () => 'http://receiver.test' },
      wire: { stopping: new AbortController().signal, began: () => undefined, answered: () => undefined },
      ...given,
    });
    const environment = new MockActivityEnvironment();
    await expect(
      environment.run(() => queueRuns(hands, { ...PLACE, attempts: ATTEMPTS })),
    ).rejects.toBeInstanceOf(CompleteAsyncError);
    return [...service.asked];
  }

  const webhooksOf = (asked: readonly string[]) =>
    asked
      .map((text) => (JSON.parse(text.split('\r\n\r\n')[1] ?? '') as { webhook: string }).webhook)
      .toSorted();

  it.each([
    ['of its receiver', () => 'http://receiver.test', 'http://receiver.test'],
    ['that cannot be called where it has no receiver', () => undefined, 'http://runsheet.invalid'],
  ])('gives each order the token of its own attempt, at an address %s', async (_, receiver, host) => {
    const webhooks = webhooksOf(await send(takes, {}, { webhooks: { secret: 'a secret', receiver } }));
    expect(webhooks.map((url) => readToken(url))).toMatchObject(
      ATTEMPTS.map((name) => ({ batch: 'b', ...name })),
    );
    expect(webhooks.every((url) => url.startsWith(host))).toBe(true);
  });

  it('says what became of each attempt, once all have their answer', async () => {
    await send((socket, asked) =>
      asked.includes('"number":3') ? takes(socket, asked, 1) : void socket.destroy(),
    );
    expect(completed).toHaveLength(1);
    expect(completed[0]?.toSorted((a, b) => a.row - b.row)).toMatchObject([
      { row: 3, attempt: 1, became: 'accepted', runId: RUN },
      { row: 4, attempt: 2, became: 'uncertain' },
    ]);
  });

  it('tells Temporal of each answer while others are still awaited', async () => {
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    await send(
      (socket, asked) =>
        void (asked.includes('"number":3')
          ? takes(socket, asked, 1)
          : heard.then(() => takes(socket, asked, 2))),
      { beat: (details) => void (details.length > 0 && resolve()) },
    );
    expect(beats[0]).toEqual([]);
    expect(beats).toContainEqual([{ row: 3, attempt: 1, became: 'accepted', runId: RUN }]);
  });

  it('writes nothing to the service where Temporal has given the group up', async () => {
    const asked = await send(takes, {
      beat: () => {
        throw new ActivityNotFoundError('gone');
      },
    });
    expect(asked).toEqual([]);
    expect(completed[0]).toMatchObject(ATTEMPTS.map((name) => ({ ...name, became: 'not-sent' })));
  });

  it('writes nothing to the service before Temporal has confirmed the group', async () => {
    const asked = await send(takes, {
      beat: () => {
        throw new Error('away');
      },
    });
    expect(asked).toEqual([]);
  });

  it('gives its answers to Temporal again until they are taken', async () => {
    await send(takes, {
      complete: (nth) => {
        if (nth < 3) throw new Error('away');
      },
    });
    expect(completed).toHaveLength(3);
    expect(told).toEqual([]);
  });

  it('tells the batch which runs it bought where the group was given up meanwhile', async () => {
    await send(
      (socket, asked) => (asked.includes('"number":3') ? takes(socket, asked, 1) : void socket.destroy()),
      {
        complete: () => {
          throw new ActivityNotFoundError('gone');
        },
      },
    );
    expect(told).toEqual([{ row: 3, attempt: 1, runId: RUN }]);
  });

  it('says that nothing was sent where its rows cannot be read', async () => {
    const hands = handsOf({
      readRows: async () => {
        throw new Error('EIO');
      },
    });
    const sent = new MockActivityEnvironment().run(() => queueRuns(hands, { ...PLACE, attempts: ATTEMPTS }));
    await expect(sent).rejects.toMatchObject({ type: 'NothingSent', nonRetryable: true });
  });
});
