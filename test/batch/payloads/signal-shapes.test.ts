import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signalFault } from '../../../src/batch/payloads/signal-shapes.ts';
import * as defined from '../../../workflows/signals.ts';

const RUN = { place: 1, attempt: 1, runId: 'r' };
const COMMAND = { commandId: 'c' };
const USAGE = { life: 1, number: 1, epoch: 0, limit: 0, used: 1, wanted: 2, weight: 1, urgency: 0 };
const LIMITS = {
  concurrency: 2,
  adaptive: true,
  retries: 1,
  startsPerMinute: 'none',
  gpuConcurrency: { T4: 1 },
  retriesByKind: { timeout: 2 },
  failAfter: { share: 0.5 },
  deadlineAt: 1,
  maxCostNano: 'none',
  pool: 'p',
  weight: 1,
  urgency: 1,
  notify: ['https://example.org'],
  notifyFailed: { rows: 1 },
};

/** For each workflow, a signal that it takes with all fields, and the fields without which it is dropped. */
const TABLE: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  runsheetBatch: {
    runsCompleted: [
      'poll',
      [{ ...RUN, outcome: 'failed', reason: 'x', failure: 'timeout', times: [1, 2, 3] }],
    ],
    runsSeen: [[RUN]],
    runsOverdue: [[{ ...RUN, reason: 'x' }]],
    serviceRead: [{ reason: 'x' }],
    cancel: [{ ...COMMAND, running: true, by: 'u', reason: 'x' }],
    pause: [COMMAND],
    scale: [{ ...COMMAND, limits: LIMITS }],
    resume: [{ ...COMMAND, unconfirmed: 'fail', limits: { failAfter: 'none' } }],
    retry: [{ ...COMMAND, pass: 2 }],
    grant: [{ life: 1, epoch: 2, limit: 3, size: 4 }],
    refresh: [COMMAND],
  },
  runsheetPipeline: { lookAgain: [{ mark: 'a' }] },
  runsheetPool: {
    usage: [{ ...USAGE, member: 'm', runsEndMs: 5, left: true }],
    resize: [{ ...COMMAND, size: 3 }],
    release: [{ ...COMMAND, member: 'm' }],
  },
};
const CASES = Object.entries(TABLE).flatMap(([type, signals]) =>
  Object.entries(signals).map(([name, args]) => [type, name, args] as const),
);
const SHAPE = 'its arguments have another shape';

describe('a signal', () => {
  it('has an entry for each that is defined', () => {
    const names = Object.values(defined).flatMap((definition) =>
      typeof definition === 'object' && definition && 'name' in definition ? [definition.name] : [],
    );
    expect(Object.values(TABLE).flatMap(Object.keys).sort()).toEqual(names.sort());
  });

  it.each(CASES)('of %s, %s, is taken with its fields', (type, name, args) => {
    expect(signalFault(type, name, args)).toBeUndefined();
    // The signal as it travels: fields that are not set are absent.
    expect(signalFault(type, name, JSON.parse(JSON.stringify(args)) as unknown[])).toBeUndefined();
  });

  it.each(CASES)('of %s, %s, is dropped with any other arguments', (type, name, args) => {
    expect(signalFault(type, name, [...args, 1])).toBe(SHAPE);
    expect(signalFault(type, name, args.slice(1))).toBe(SHAPE);
    const malformed = [null, 1, 'x', [1], [null], [{}], [{ ...RUN, place: '1' }]];
    for (const argument of malformed)
      expect(signalFault(type, name, [...args.slice(0, -1), argument])).toBe(SHAPE);
  });

  it.each(CASES.filter(([, , [argument]]) => (argument as object | undefined)?.hasOwnProperty('commandId')))(
    'of %s, %s, is dropped without its id, and with fields that it does not have',
    (type, name, [argument]) => {
      const { commandId: _, ...anonymous } = argument as typeof COMMAND;
      for (const wrong of [
        anonymous,
        { ...anonymous, commandId: '' },
        { ...anonymous, commandId: 1 },
        { ...(argument as object), more: 1 },
      ])
        expect(signalFault(type, name, [wrong])).toBe(SHAPE);
    },
  );

  it('of a worker may have fields of a newer release', () => {
    expect(signalFault('runsheetBatch', 'runsSeen', [[{ ...RUN, more: 1 }]])).toBeUndefined();
  });

  it('that the workflow does not have is dropped', () => {
    for (const [type, name] of [
      ['runsheetFiring', 'pause'],
      ['runsheetPool', 'pause'],
      ['runsheetBatch', 'toString'],
    ] as const)
      expect(signalFault(type, name, [COMMAND])).toBe('the workflow has no such signal');
  });

  it('never throws, whatever it contains', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CASES), fc.array(fc.anything()), ([type, name], args) => {
        expect([undefined, SHAPE]).toContain(signalFault(type, name, args));
      }),
    );
  });

  it('with limits of another shape is dropped', () => {
    for (const limits of [
      { failAfter: {} },
      { notify: [1] },
      { gpuConcurrency: { T4: 'x' } },
      { unknown: 1 },
    ])
      expect(signalFault('runsheetBatch', 'scale', [{ ...COMMAND, limits }])).toBe(SHAPE);
    expect(
      signalFault('runsheetBatch', 'scale', [{ ...COMMAND, limits: { retries: undefined } }]),
    ).toBeDefined();
  });
});
