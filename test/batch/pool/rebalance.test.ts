import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeOf, limitOf, newestGrant } from '../../../src/batch/pool/pool-state.ts';
import { shares } from '../../../src/batch/pool/shares.ts';

const of = (...claims: readonly (readonly [weight: number, wanted: number])[]) =>
  claims.map(([weight, wanted]) => ({ weight, wanted }));

describe('shares', () => {
  it('follow the weights', () => {
    expect(shares(64, of([3, 100], [1, 100]))).toEqual([48, 16]);
    expect(shares(10, of([1, 100], [1, 100], [1, 100]))).toEqual([4, 3, 3]);
    expect(shares(1, of([1, 5], [3, 5]))).toEqual([0, 1]);
  });

  it('pass on what one does not want', () => {
    expect(shares(64, of([3, 10], [1, 100], [1, 0]))).toEqual([10, 54, 0]);
    expect(shares(64, of([3, 10], [1, 20]))).toEqual([10, 20]);
    expect(shares(0, of([3, 10]))).toEqual([0]);
    expect(shares(-3, of([3, 10]))).toEqual([0]);
    expect(shares(5, [])).toEqual([]);
  });

  it('are whole, use every slot that is wanted, and favour none by more than a slot', () => {
    const claim = fc.record({ weight: fc.integer({ min: 1, max: 20 }), wanted: fc.nat(100) });
    fc.assert(
      fc.property(fc.nat(200), fc.array(claim, { maxLength: 12 }), (slots, claims) => {
        const granted = shares(slots, claims);
        const wanted = claims.reduce((sum, wish) => sum + wish.wanted, 0);
        expect(granted.reduce((sum, share) => sum + share, 0)).toBe(Math.min(slots, wanted));
        for (const [at, share] of granted.entries()) {
          const own = claims[at] as (typeof claims)[number];
          expect(Number.isInteger(share) && share >= 0 && share <= own.wanted).toBe(true);
          // A claim that wants more has at least as much for its weight as any other, except for one slot.
          const behind = share < own.wanted ? (share + 1) / own.weight : Number.POSITIVE_INFINITY;
          for (const [rival, rivalShare] of granted.entries())
            expect((rivalShare - 1) / (claims[rival]?.weight ?? 1)).toBeLessThanOrEqual(behind);
        }
      }),
    );
  });
});

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
