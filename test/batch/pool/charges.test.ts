import { describe, expect, it } from 'vitest';
import { chargeOf, limitOf, newestGrant } from '../../../src/batch/pool/rebalance.ts';

describe('a member of a pool', () => {
  it('that was granted nothing yet may use nothing, and is charged for what it uses', () => {
    expect(newestGrant({ grants: [] })).toEqual({ epoch: 0, limit: 0 });
    expect(limitOf({ grants: [] })).toBe(0);
    expect(chargeOf({ used: 3, grants: [] })).toBe(3);
  });

  it('is charged for an earlier, higher limit until it says otherwise', () => {
    const grants = [
      { epoch: 1, limit: 8 },
      { epoch: 2, limit: 2 },
    ];
    expect([limitOf({ grants }), chargeOf({ used: 5, grants })]).toEqual([2, 8]);
  });
});
