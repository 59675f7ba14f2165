import { describe, expect, it } from 'vitest';
import { DELETED } from '../../src/batches/watched/left-out.ts';
import { Differences } from '../../src/library/watched/saved-sheet.ts';

const compared = (rows: {
  again?: readonly (readonly [number, string])[];
  wishes?: readonly (readonly [number, string])[];
  absent?: readonly number[];
  appended?: number;
}) => ({
  again: new Map(rows.again),
  wishes: new Map(rows.wishes),
  absent: new Set(rows.absent),
  appended: rows.appended ?? 0,
});

describe('the difference between two saves', () => {
  it('counts a row that waits once, also when its turn comes', () => {
    const differences = new Differences();
    expect(differences.next(compared({ wishes: [[7, 'b']], appended: 2 }))).toEqual({
      changed: 1,
      appended: 2,
      deleted: 0,
      runs: 3,
      waiting: 1,
    });
    expect(differences.next(compared({ wishes: [[7, 'b']] }))).toMatchObject({
      changed: 0,
      runs: 0,
      waiting: 1,
    });
    expect(differences.next(compared({ again: [[7, 'b']] }))).toMatchObject({
      changed: 0,
      runs: 0,
      waiting: 0,
    });
  });

  it('buys one run for a row that is changed twice before its turn', () => {
    const differences = new Differences();
    differences.next(compared({ wishes: [[7, 'b']] }));
    expect(differences.next(compared({ wishes: [[7, 'c']] }))).toMatchObject({ changed: 1, runs: 0 });
    expect(differences.next(compared({ again: [[7, 'd']] }))).toMatchObject({ changed: 1, runs: 0 });
    expect(differences.next(compared({ again: [[7, 'e']] }))).toMatchObject({ changed: 1, runs: 1 });
  });

  it('says a deleted row once, and again after it was there', () => {
    const differences = new Differences();
    const without = compared({ absent: [3], wishes: [[3, DELETED]] });
    expect(differences.next(without)).toMatchObject({ deleted: 1, runs: 0, waiting: 0 });
    expect(differences.next(without)).toMatchObject({ deleted: 0 });
    differences.next(compared({}));
    expect(differences.next(without)).toMatchObject({ deleted: 1 });
  });
});
