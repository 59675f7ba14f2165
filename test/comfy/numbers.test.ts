// Numbers that a server sends: the database takes whole ones only.

import { expect, it } from 'vitest';
import type { Backend, Seen, SocketEvent } from '../../src/run-service/executors/backend.ts';
import { whole, withWholeNumbers } from '../../src/run-service/executors/numbers.ts';
import { until } from '../stage/stage.ts';
import { openDoubtful, openRemote } from './doubtful-server.ts';

const WILD: readonly unknown[] = [
  0.5,
  -1,
  1e300,
  -1e300,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  '12.7',
  'soon',
  '',
  null,
  undefined,
  true,
  {},
  [7],
  2 ** 53,
];

it('a number from outside is a whole one from 0 to 2^53 - 1, or none', () => {
  expect(WILD.map(whole)).toEqual([
    1,
    0,
    Number.MAX_SAFE_INTEGER,
    0,
    undefined,
    Number.MAX_SAFE_INTEGER,
    0,
    13,
    ...Array.from({ length: 7 }, () => undefined),
    Number.MAX_SAFE_INTEGER,
  ]);
});

it.each(WILD)('the end of a run that took %s ms is stored as whole numbers', async (ranMs) => {
  const { open } = await openDoubtful({ lost: 'asked', gone: 'again' }, '502');
  const end = { status: 'success', made: [], ranMs } as unknown as Extract<Seen, { at: 'ended' }>['end'];
  const { queue, rows } = openRemote(() => ({
    ...open(),
    submit: () => Promise.resolve({ kind: 'accepted' }),
    poll: (runs) => Promise.resolve(new Map(runs.map(({ id }) => [id, { at: 'ended', end }]))),
  }));
  const id = queue();
  await until(() => rows.get(id)?.status === 'success', 'it ends');
  const { startedMs, queuedMs, endedMs } = rows.get(id) ?? {};
  expect([startedMs, queuedMs, endedMs].map(Number.isSafeInteger)).toEqual([true, true, true]);
});

it.each(WILD)('the wait, the seats and the progress that a server gives as %s are bounded', async (wild) => {
  const { open } = await openDoubtful({ lost: 'asked', gone: 'again' }, '502');
  const heard: number[] = [];
  const odd = {
    ...open(),
    seats: { kind: 'given', count: wild },
    submit: () => Promise.resolve({ kind: 'busy', afterMs: wild, reason: 'full' }),
    listen: (on: (event: SocketEvent) => void) => {
      on({ kind: 'work', id: 'a', node: undefined, progress: wild as number });
      return { isAlive: () => Promise.resolve(true), close: () => undefined };
    },
  } as unknown as Backend;
  const { seats, submit, listen } = withWholeNumbers(odd);
  listen?.((event) => event.kind === 'work' && heard.push(event.progress));
  const run = { id: 'a', tries: 1, sinceMs: 0, isRepeated: false, ref: undefined };
  const answer = await submit(run, { kind: 'graph', graph: {} });
  expect(seats).toSatisfy(({ count }: { count: number }) => Number.isSafeInteger(count) && count >= 1);
  expect(answer).toSatisfy(
    ({ afterMs }: { afterMs: number }) =>
      Number.isSafeInteger(afterMs) && afterMs >= 0 && afterMs <= 3_600_000,
  );
  expect(heard).toSatisfy(([progress = -1]: number[]) => progress >= 0 && progress <= 1);
});
