import { describe, expect, it } from 'vitest';
import { MAX_POOL_MEMBERS, POOL_SILENT_MS } from '../../../src/batch/bounds.ts';
import type { MemberUsage } from '../../../src/batch/pool/messages.ts';
import { newPool, type PoolState } from '../../../src/batch/pool/pool-state.ts';
import {
  poolDueAt,
  poolStep,
  type MemberGrant,
  MAX_POOL_DEPARTED,
  shownPool,
} from '../../../src/batch/pool/pool-step.ts';

const NOW = 1_000_000;

class Scene {
  readonly state: PoolState = newPool('gpus', NOW);
  now = NOW;
  readonly #numbers = new Map<string, number>();
  readonly #epochs = new Map<string, readonly [epoch: number, limit: number]>();

  constructor(size = 64) {
    this.take({ type: 'resize', commandId: 'first', size });
  }

  take(event: Parameters<typeof poolStep>[1][number]): readonly MemberGrant[] {
    const told = poolStep(this.state, [event], this.now);
    for (const { member, grant } of told) this.#epochs.set(member, [grant.epoch, grant.limit]);
    return told;
  }

  /** A report that has applied the newest grant, unless it says otherwise. */
  report(member: string, more: Partial<MemberUsage> = {}): Record<string, number> {
    const number = (this.#numbers.get(member) ?? 0) + 1;
    this.#numbers.set(member, number);
    const [epoch, limit] = this.#epochs.get(member) ?? [0, 0];
    const usage = {
      member,
      life: 1,
      number,
      epoch,
      limit,
      used: 0,
      wanted: 100,
      weight: 1,
      urgency: 0,
      ...more,
    };
    return grantsIn(this.take({ type: 'usage', usage }));
  }
}

const grantsIn = (told: readonly MemberGrant[]): Record<string, number> =>
  Object.fromEntries(told.map(({ member, grant }) => [member, grant.limit]));

describe('a pool', () => {
  it('grants slots by weight, and passes them on as runs end', () => {
    const scene = new Scene();
    expect(scene.report('a', { weight: 3 })).toEqual({ a: 64 });
    expect(scene.report('a', { weight: 3, used: 64 })).toEqual({});
    // b gets nothing before a has given something back.
    expect(scene.report('b')).toEqual({ a: 48, b: 0 });
    expect(scene.report('a', { weight: 3, used: 60 })).toEqual({ b: 4 });
    expect(scene.report('a', { weight: 3, used: 48 })).toEqual({ b: 16 });
    expect(shownPool(scene.state)).toMatchObject({ size: 64, batches: 2, used: 48, charged: 64 });
  });

  it('serves urgent members first', () => {
    const scene = new Scene();
    scene.report('nightly');
    scene.report('nightly', { used: 64 });
    expect(scene.report('urgent', { urgency: 3, wanted: 50 })).toEqual({ nightly: 14, urgent: 0 });
    expect(scene.report('nightly', { used: 30 })).toEqual({ urgent: 34 });
    expect(scene.report('nightly', { used: 14 })).toEqual({ urgent: 50 });
    expect(scene.report('urgent', { urgency: 3, wanted: 0, left: true })).toEqual({ nightly: 64 });
  });

  it('lowers a limit that is not used only if another member lacks slots', () => {
    const scene = new Scene();
    scene.report('a', { wanted: 40 });
    expect(scene.report('a', { wanted: 10 })).toEqual({});
    expect(scene.report('b', { wanted: 24 })).toEqual({ b: 24 });
    expect(scene.report('b', { wanted: 30 })).toEqual({ a: 10 });
    expect(scene.report('a', { wanted: 10, used: 10 })).toEqual({ b: 30 });
  });

  it('ignores reports that are late, repeated or unusable', () => {
    const scene = new Scene();
    scene.report('a', { used: 5 });
    const late = { epoch: 0, limit: 0, wanted: 0, weight: 1, urgency: 0, member: 'a', life: 1 };
    expect(scene.take({ type: 'usage', usage: { ...late, number: 1, used: 1 } })).toEqual([]);
    expect(scene.take({ type: 'usage', usage: { ...late, life: 0, number: 9, used: 1 } })).toEqual([]);
    for (const wrong of [
      { used: -1 },
      { weight: 0 },
      { urgency: 10 },
      { wanted: 1.5 },
      { epoch: Number.NaN },
      { runsEndMs: Number.NaN },
    ])
      expect(scene.report('b', wrong)).toEqual({});
    for (const nothing of [undefined, null, 'a report', { used: 1 }])
      expect(scene.take({ type: 'usage', usage: nothing as unknown as MemberUsage })).toEqual([]);
    expect(scene.state.members).toMatchObject([{ member: 'a', used: 5 }]);
  });

  it('forgets a member that left, and knows a late report of it', () => {
    const scene = new Scene();
    scene.report('a', { used: 5 });
    scene.report('a', { left: true });
    expect(scene.state.members).toEqual([]);
    const late = {
      member: 'a',
      life: 1,
      number: 1,
      epoch: 0,
      limit: 0,
      used: 1,
      wanted: 9,
      weight: 1,
      urgency: 0,
    };
    expect(scene.take({ type: 'usage', usage: late })).toEqual([]);
    expect(grantsIn(scene.take({ type: 'usage', usage: { ...late, life: 2 } }))).toEqual({ a: 9 });
    for (let number = 0; number <= MAX_POOL_DEPARTED; number += 1) scene.report(`b${number}`, { left: true });
    expect(scene.state.departed).toHaveLength(MAX_POOL_DEPARTED);
  });

  it('learns what a member holds if the pool was made again', () => {
    const scene = new Scene(10);
    expect(scene.report('a', { epoch: NOW + 77, limit: 8, used: 8, wanted: 8 })).toEqual({ a: 8 });
    expect(scene.state.epoch).toBeGreaterThan(NOW + 77);
    expect(scene.report('b', { wanted: 8 })).toMatchObject({ b: 2 });
  });

  it('holds the slots of a batch whose workflow has ended until its runs cannot live any more', () => {
    const scene = new Scene();
    scene.report('a', { wanted: 20, runsEndMs: 3_600_000 });
    scene.report('a', { wanted: 20, used: 20, runsEndMs: 3_600_000 });
    scene.report('b', { wanted: 64 });
    scene.now += POOL_SILENT_MS;
    expect(poolDueAt(scene.state)).toBeLessThanOrEqual(scene.now);
    const [probe] = scene.take({ type: 'woke' });
    expect(probe).toMatchObject({ member: 'a', number: 2, grant: { limit: 20 } });
    // A probe of an earlier membership, or from before its latest report, says nothing.
    scene.take({ type: 'notRunning', member: 'a', life: 0, number: 2 });
    scene.take({ type: 'notRunning', member: 'a', life: 1, number: 1 });
    expect(shownPool(scene.state).members[0]).not.toHaveProperty('goneAt');
    scene.take({ type: 'notRunning', member: 'a', life: 1, number: 2 });
    scene.now += 1;
    scene.take({ type: 'notRunning', member: 'a', life: 1, number: 2 });
    expect(shownPool(scene.state).members[0]).toMatchObject({
      charged: 20,
      goneAt: scene.now - 1,
      freeAt: scene.now - 1 + 3_600_000,
    });
    expect(grantsIn(scene.take({ type: 'started' }))).toEqual({ b: 44 });
    scene.now += 3_600_000 - 1;
    expect(grantsIn(scene.take({ type: 'woke' }))).toMatchObject({ b: 64 });
    expect(scene.state.members).toHaveLength(1);
  });

  it('holds the slots of such a batch for ever if nothing bounds its runs, until a user releases them or it reports again', () => {
    const scene = new Scene(10);
    scene.report('a', { wanted: 10 });
    scene.report('b', { wanted: 10 });
    scene.take({ type: 'notRunning', member: 'a', life: 1, number: 1 });
    expect(poolDueAt(scene.state)).toBe(NOW + POOL_SILENT_MS);
    expect(shownPool(scene.state).members[0]).not.toHaveProperty('freeAt');
    scene.report('a', { wanted: 10, life: 2 });
    expect(shownPool(scene.state).members[0]).not.toHaveProperty('goneAt');
    scene.take({ type: 'notRunning', member: 'a', life: 2, number: 2 });
    expect(grantsIn(scene.take({ type: 'release', commandId: 'one', member: 'a' }))).toEqual({ b: 10 });
    // The same signal again, and one for a batch that is no member.
    expect(scene.take({ type: 'release', commandId: 'one', member: 'b' })).toEqual([]);
    expect(scene.take({ type: 'release', commandId: 'two', member: 'nothing' })).toEqual([]);
    expect(scene.state.members).toHaveLength(1);
  });

  it('takes a size once, and lowers limits below what is used', () => {
    const scene = new Scene(20);
    scene.report('a');
    scene.report('a', { used: 20 });
    expect(grantsIn(scene.take({ type: 'resize', commandId: 'lower', size: 5 }))).toEqual({ a: 5 });
    expect(scene.take({ type: 'resize', commandId: 'lower', size: 90 })).toEqual([]);
    expect(scene.take({ type: 'resize', commandId: 'wrong', size: -1 })).toEqual([]);
    expect(scene.report('b')).toEqual({ a: 3, b: 0 });
    expect(scene.report('a', { used: 4 })).toEqual({ b: 1 });
    expect(shownPool(scene.state).commands).toEqual(['first', 'lower', 'wrong']);
  });

  it('takes no more members than its state has room for', () => {
    const scene = new Scene(1);
    for (let number = 0; number < MAX_POOL_MEMBERS; number += 1) scene.report(`a${number}`, { wanted: 0 });
    expect(scene.report('b')).toEqual({});
    expect(scene.report('b')).toEqual({});
    scene.report('c');
    expect(scene.state.members).toHaveLength(MAX_POOL_MEMBERS);
    expect(shownPool(scene.state)).toMatchObject({ batches: MAX_POOL_MEMBERS, turnedAway: 2 });
    expect(shownPool(scene.state).members).toHaveLength(MAX_POOL_MEMBERS);
    expect(JSON.stringify(scene.state).length).toBeLessThan(500_000);
    expect(JSON.stringify(shownPool(scene.state)).length).toBeLessThan(60_000);
    // c has not asked since.
    scene.now += 2 * POOL_SILENT_MS;
    scene.report('b');
    expect(shownPool(scene.state)).toMatchObject({ turnedAway: 1 });
    scene.report('a0', { left: true });
    expect(scene.report('b')).toEqual({ b: 1 });
    expect(shownPool(scene.state)).not.toHaveProperty('turnedAway');
  });

  it('that continues as new tells only the members whose grants were on their way', () => {
    const scene = new Scene(2);
    scene.report('a', { wanted: 1 });
    scene.report('b', { wanted: 1 });
    expect(grantsIn(scene.take({ type: 'started', undelivered: ['b', 'left'] }))).toEqual({ b: 1 });
    expect(grantsIn(scene.take({ type: 'started', undelivered: [] }))).toEqual({});
    expect(grantsIn(scene.take({ type: 'started' }))).toEqual({ a: 1, b: 1 });
  });
});
