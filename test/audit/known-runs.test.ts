// The set of run ids must be exact: an id that wrongly counts as known hides a run that was paid for twice.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KnownRuns } from '../../src/audit/known-runs.ts';

it('the known runs are those that were added, each once, however many they are', () => {
  const ids = fc.uniqueArray(fc.oneof(fc.uuid(), fc.stringMatching(/^[\da-f-]{1,40}$/)), {
    maxLength: 3_000,
  });
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 5 }), (runIds, part) => {
      const set = new KnownRuns();
      const added = runIds.filter((_, at) => at % part === 0);
      for (const id of [...added, ...added.toReversed()]) set.add(id);
      expect(set.size).toBe(added.length);
      expect(runIds.filter((id) => set.has(id))).toEqual(added);
    }),
  );
});

it('the known runs of a large batch are found among as many others', () => {
  const set = new KnownRuns();
  const idOf = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
  for (let number = 0; number < 100_000; number += 1) set.add(idOf(2 * number));
  let hits = 0;
  for (let number = 0; number < 200_000; number += 1) hits += Number(set.has(idOf(number)));
  expect([set.size, hits]).toEqual([100_000, 100_000]);
});

it('the known runs name the one that ended first, of those whose end is known', () => {
  const knownRuns = new KnownRuns();
  knownRuns.add('a');
  expect(knownRuns.firstEnded).toBeUndefined();
  knownRuns.add('b', '2026-11-21T10:00:02Z');
  knownRuns.add('c', '2026-11-21T10:00:01Z');
  knownRuns.add('d', '2026-11-21T10:00:03Z');
  knownRuns.add('e', 'never');
  expect(knownRuns.firstEnded).toBe('c');
});
