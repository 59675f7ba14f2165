// Resends after lost answers: the guarantee of the server alone decides.

import { describe, expect, it } from 'vitest';
import type { Guarantee } from '../../src/run-service/executors/backend.ts';
import type { AssignedRun } from '../../src/run-service/executors/driving/assigned-run.ts';
import { unansweredAt } from '../../src/run-service/executors/driving/resend-policy.ts';
import { until } from '../stage/stage.ts';
import { openDoubtful, openRemote, type Loss } from './doubtful-server.ts';

const HOUR = 3_600_000;

type RepetitionCase = {
  readonly guarantee: Guarantee;
  readonly posts: number;
  readonly status: 'failed' | 'timeout';
};

const CASES: readonly RepetitionCase[] = [
  { guarantee: { lost: 'asked', gone: 'again' }, posts: 10, status: 'failed' },
  { guarantee: { lost: 'asked', gone: 'unknown' }, posts: 10, status: 'timeout' },
  {
    guarantee: { lost: 'same-key', ms: HOUR, provesAbsence: false, gone: 'again' },
    posts: 10,
    status: 'failed',
  },
  {
    guarantee: { lost: 'same-key', ms: HOUR, provesAbsence: true, gone: 'unknown' },
    posts: 10,
    status: 'timeout',
  },
  {
    guarantee: { lost: 'same-key', ms: 0, provesAbsence: true, gone: 'unknown' },
    posts: 1,
    status: 'timeout',
  },
  { guarantee: { lost: 'told-or-unknown', boundMs: 100, gone: 'unknown' }, posts: 1, status: 'timeout' },
  { guarantee: { lost: 'again', gone: 'again' }, posts: 10, status: 'failed' },
];
const LOSSES: readonly Loss[] = ['closed', '502', 'timeout'];

const nameOf = ({ lost, gone, ...more }: Guarantee): string =>
  [lost, ...Object.values(more), `gone ${gone}`].join(', ');

describe('a run whose answers are all lost', () => {
  const cases = CASES.flatMap((testCase) =>
    LOSSES.map((loss) => ({ ...testCase, loss, name: nameOf(testCase.guarantee) })),
  );

  it.each(cases)('is sent $posts times and ends as $status ($name: $loss)', async (testCase) => {
    const { guarantee, loss, posts, status } = testCase;
    const server = await openDoubtful(guarantee, loss);
    const { queue, rows } = openRemote(server.open);
    const id = queue();
    await until(() => rows.get(id)?.status === status, 'it ends');
    expect([server.posts(), rows.get(id)?.status]).toEqual([posts, status]);
  });

  it.each(LOSSES)(
    'is not sent again by a service that restarts, if only news of it tell (%s)',
    async (loss) => {
      const server = await openDoubtful({ lost: 'told-or-unknown', boundMs: 400, gone: 'unknown' }, loss);
      const { queue, rows, restart } = openRemote(server.open);
      const id = queue();
      await until(() => server.posts() === 1, 'it is sent');
      for (let restarts = 0; restarts < 3; restarts += 1) await restart();
      await until(() => rows.get(id)?.status === 'timeout', 'its end is unknown');
      expect(server.posts()).toBe(1);
    },
  );
});

it('a run that is to leave its server is cancelled there, also if the server cannot tell of it at first', async () => {
  const server = await openDoubtful({ lost: 'asked', gone: 'again' }, '502');
  const cancelled: string[] = [];
  let unread = 0;
  const { queue, rows, cancel } = openRemote(() => ({
    ...server.open(),
    submit: () => Promise.resolve({ kind: 'accepted' }),
    poll: (runs) => {
      const isUnread = unread > 0;
      unread -= 1;
      const seen = isUnread ? ({ at: 'unread', reason: '503' } as const) : ({ at: 'running' } as const);
      return Promise.resolve(new Map(runs.map(({ id }) => [id, seen])));
    },
    cancel: (id) => Promise.resolve(void cancelled.push(id)),
  }));
  const id = queue();
  await until(() => rows.get(id)?.status === 'running', 'it runs');
  unread = 3;
  cancel(id);
  await until(() => cancelled.length > 0, 'it is cancelled there');
  expect(cancelled).toContain(id);
});

describe('a server that is lost with a run', () => {
  it('before it is seen to execute gets it ten times at most', async () => {
    let posts = 0;
    const server = await openDoubtful({ lost: 'asked', gone: 'again' }, '502');
    const { queue, rows } = openRemote(() => ({
      ...server.open(),
      submit: () => Promise.resolve({ kind: 'accepted', ref: String((posts += 1)) }),
    }));
    const id = queue();
    await until(() => rows.get(id)?.status === 'failed', 'it ends');
    expect(posts).toBe(10);
    expect(rows.get(id)?.state).toContain('servers were lost with it 10 times');
  });

  it('while it is seen to execute gets it twice, and the first time counts as executed in vain', async () => {
    let [posts, looks] = [0, 0];
    const server = await openDoubtful({ lost: 'asked', gone: 'again' }, '502');
    const { queue, rows } = openRemote(() => ({
      ...server.open(),
      submit: () => Promise.resolve({ kind: 'accepted', ref: String((posts += 1)) }),
      poll: (runs) => {
        const at = (looks += 1) % 8 === 0 ? 'absent' : 'running';
        return Promise.resolve(new Map(runs.map(({ id }) => [id, { at }])));
      },
    }));
    const id = queue();
    await until(() => rows.get(id)?.status === 'failed', 'it ends');
    expect([posts, rows.get(id)?.lostRuns]).toEqual([2, 1]);
    expect(rows.get(id)?.lostMs).toBeGreaterThan(0);
  });
});

describe('runs without an answer', () => {
  const assigned = (state: object, more: Partial<AssignedRun> = {}): AssignedRun =>
    ({
      run: { timeLimitMs: 5_000 },
      task: { isPaid: false },
      phase: 'placed',
      mustLook: true,
      state,
      ...more,
    }) as AssignedRun;
  const told = {
    guarantee: { lost: 'told-or-unknown', boundMs: 600, isAfterLimit: true, gone: 'unknown' },
  } as const;

  it('are counted with the moment by which the last of them has an end', () => {
    expect(
      unansweredAt(told, [
        assigned({ askedMs: 1_000 }),
        assigned({ askedMs: 3_000 }),
        assigned({}),
        assigned({ askedMs: 9_000 }, { phase: 'sent' }),
        assigned({ askedMs: 9_000 }, { mustLook: false }),
      ]),
    ).toEqual({ runs: 2, untilMs: 3_000 + 5_000 + 600 });
  });

  it('are none where a server can be asked about its runs', () => {
    const comfyui = { guarantee: { lost: 'asked', gone: 'again' } } as const;
    expect(unansweredAt(comfyui, [assigned({ askedMs: 1_000 })])).toBe(null);
  });
});
