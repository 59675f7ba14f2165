// Each call of the library takes a signal, and leaves nothing behind when it is aborted.

import { readdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, type BatchHandle, type Runsheet, type ScheduleHandle } from '../../src/index.ts';
import type { Abortable } from '../../src/library/abortable.ts';
import { Deployments } from '../../src/library/deployments.ts';
import { BatchHandle as Handle } from '../../src/library/handle/batch-handle.ts';
import { Pools } from '../../src/library/pools.ts';
import { Runsheet as Connection } from '../../src/library/runsheet.ts';
import { Schedules } from '../../src/library/schedules.ts';
import { serve } from '../stage/serve.ts';
import { sharedStage } from '../stage/shared-stage.ts';

/** The methods of `T` that wait or read, and have no argument with a signal. */
type Without<T> = {
  [Name in keyof T]: T[Name] extends (...args: infer Args) => PromiseLike<unknown> | AsyncIterable<unknown>
    ? Name extends symbol
      ? never
      : Required<Abortable> extends NonNullable<Args[number]>
        ? never
        : Extract<Args[number], Abortable> extends never
          ? Name
          : never
    : never;
}[keyof T];
const complete: [
  Without<Runsheet>,
  Without<BatchHandle>,
  Without<Deployments>,
  Without<Pools>,
  Without<Schedules>,
  Without<ScheduleHandle>,
] extends [never, never, never, never, never, never]
  ? true
  : false = true;

/** Makes a handle, and neither waits nor reads. */
const MAKES = new Set(['getHandle']);

type Call = (this: unknown, ...args: readonly unknown[]) => Promise<unknown> | AsyncGenerator;

const callsOf = (name: string, methods: object): readonly (readonly [string, () => unknown])[] =>
  Object.entries(Object.getOwnPropertyDescriptors(methods)).flatMap(([method, { value }]) =>
    typeof value !== 'function' || method === 'constructor' || MAKES.has(method)
      ? []
      : [[`${name}.${method}`, () => settled((value as Call).call(methods, { signal: ABORTED }))] as const],
  );

const REASON = new Error('the program ends');
const ABORTED = AbortSignal.abort(REASON);

async function settled(called: Promise<unknown> | AsyncGenerator): Promise<unknown> {
  try {
    return Symbol.asyncIterator in called ? await called.next() : await called;
  } catch (error) {
    return error;
  }
}

describe('a call of the library', () => {
  const stage = sharedStage();

  /** Takes connections, and never answers. */
  async function silent(): Promise<{ readonly port: number; readonly taken: Promise<Socket> }> {
    const taken = Promise.withResolvers<Socket>();
    const { port, close } = await serve(createServer((socket) => taken.resolve(socket.resume())));
    onTestFinished(close);
    return { port, taken: taken.promise };
  }

  const place = { store: stage.path('batches'), home: stage.path('home') };
  const made = connect({ ...place, service: 'local', embedded: true });

  it('takes a signal by its type', () => expect(complete).toBe(true));

  it('rejects with the reason of a signal that is aborted, whichever call it is', async () => {
    const { schedules } = await made;
    const calls = [
      ...callsOf('runsheet', Connection.prototype),
      ...callsOf('batch', Handle.prototype),
      ...callsOf('deployments', Deployments.prototype),
      ...callsOf('pools', Pools.prototype),
      ...callsOf('schedules', Schedules.prototype),
      ...callsOf('schedule', schedules.getHandle('nightly')),
      ['connect', () => settled(connect({ signal: ABORTED }))] as const,
    ];
    expect(calls.length).toBeGreaterThan(35);
    for (const [name, call] of calls) expect([name, await call()]).toEqual([name, REASON]);
  });

  it('refuses a signal that is none', async () => {
    const { pools } = await made;
    expect(() => pools.list({ signal: 5 as unknown as AbortSignal })).toThrow('signal is no AbortSignal');
  });

  it('ends while the rows of the program never come, and leaves no folder behind', async () => {
    const runsheet = await made;
    const stop = new AbortController();
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const rows: AsyncIterable<{ readonly prompt: string }> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          started.resolve();
          return new Promise(() => undefined);
        },
        return: async () => {
          ended.resolve();
          return { done: true, value: undefined };
        },
      }),
    };
    const starting = runsheet.start(rows, { deployment: 'portraits', signal: stop.signal });
    await started.promise;
    stop.abort();
    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
    await ended.promise;
    expect(readdirSync(place.store)).toEqual([]);
  });

  it('closes its connection to a run service that does not answer', async () => {
    const { port, taken } = await silent();
    const runsheet = await connect({
      ...place,
      service: { url: `http://127.0.0.1:${port}/api`, apiKey: 'key-of-the-test', api: 'v2' },
      embedded: true,
    });
    const stop = new AbortController();
    const planning = runsheet.plan([{ prompt: 'a fox' }], { deployment: 'portraits', signal: stop.signal });
    const socket = await taken;
    const closed = new Promise((over) => socket.once('close', over));
    stop.abort(REASON);
    await expect(planning).rejects.toBe(REASON);
    await closed;
    expect(readdirSync(place.store)).toEqual([]);
  });

  it('stops waiting for a Temporal that does not answer', async () => {
    const { port, taken } = await silent();
    const stop = new AbortController();
    process.env['TEMPORAL_ADDRESS'] = `127.0.0.1:${port}`;
    try {
      const connecting = connect({ ...place, service: 'local', signal: stop.signal });
      await taken;
      stop.abort(REASON);
      await expect(connecting).rejects.toBe(REASON);
    } finally {
      delete process.env['TEMPORAL_ADDRESS'];
    }
  });
});
