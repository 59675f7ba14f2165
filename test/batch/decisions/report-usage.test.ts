import { describe, expect, it } from 'vitest';
import { POOL_SILENT_MS } from '../../../src/batch/bounds.ts';
import { CIRCUIT_OPENS_AFTER } from '../../../src/batch/sending-limits/circuit-breaker.ts';
import { POOL_AGAIN_MS } from '../../../src/batch/on-event/apply.ts';
import { POOL_REPORT_MS } from '../../../src/batch/decisions/publish.ts';
import { wantedSlots, wantsMoreAt, POOL_AHEAD_MS } from '../../../src/batch/pool/membership.ts';
import { closedSnapshot, continueFrom } from '../../../src/batch/state/snapshot.ts';
import { usedSlots } from '../../../src/batch/state/state.ts';
import { PROBE_MS } from '../../../src/batch/pausing/pauses.ts';
import { World } from '../world.ts';

const inPool = (more: ConstructorParameters<typeof World>[0] = {}) =>
  new World({ pool: 'gpus', rows: 10, concurrency: 6, ...more });
const said = (world: World) => world.reports.splice(0).map(({ usage }) => usage);
const arrives = (world: World) => world.apply({ type: 'usageReported' });
const grant = (world: World, epoch: number, limit: number) =>
  world.apply({ type: 'grant', life: world.state.membership?.life ?? 0, epoch, limit });

describe('report usage', () => {
  it('says immediately what the batch wants, and every change, but at most every two seconds', () => {
    const world = inPool({ weight: 3, urgency: 2, runsEndMs: 99 });
    const first = { number: 1, epoch: 0, limit: 0, used: 0, wanted: 6, weight: 3, urgency: 2, runsEndMs: 99 };
    expect(said(world)).toMatchObject([first]);
    grant(world, 10, 2);
    world.pass(POOL_REPORT_MS);
    // Only a single report is in flight.
    expect(said(world)).toEqual([]);
    arrives(world);
    expect(said(world)).toMatchObject([{ number: 2, epoch: 10, limit: 2, used: 2, wanted: 6 }]);
    arrives(world);
    grant(world, 11, 3);
    world.pass(POOL_REPORT_MS - 1);
    expect(said(world)).toEqual([]);
    world.pass(1);
    expect(said(world)).toMatchObject([{ number: 3, epoch: 11, used: 3 }]);
    arrives(world);
    world.pass(POOL_SILENT_MS - POOL_REPORT_MS);
    expect(said(world)).toEqual([]);
  });

  it('is repeated each minute, because a pool that was made again knows no member', () => {
    const world = inPool();
    expect(said(world)).toHaveLength(1);
    arrives(world);
    world.pass(POOL_SILENT_MS);
    expect(said(world)).toMatchObject([{ number: 2, used: 0, wanted: 6 }]);
  });

  it('is repeated while the pool cannot be reached, and after a continue-as-new', () => {
    const world = inPool();
    said(world);
    world.apply({ type: 'usageReported', failure: 'not found' });
    world.pass(POOL_AGAIN_MS - 1);
    expect(said(world)).toEqual([]);
    world.pass(1);
    expect(said(world)).toMatchObject([{ number: 2, used: 0 }]);
    arrives(world);
    world.continueAsNew();
    expect(said(world)).toMatchObject([{ number: 3, used: 0, wanted: 6 }]);
  });

  it('leaves at the end, and joins again as a younger member if rows are sent again', () => {
    const world = inPool({ rows: 1, lanes: [{ places: 1 }] });
    const life = world.state.membership?.life ?? 0;
    grant(world, 10, 1);
    world.answer(0, ['accepted']);
    world.finish(world.service.runs[0]?.runId ?? '', 'succeeded');
    world.pass(2_000);
    world.collect();
    const closed = closedSnapshot(world.state);
    said(world);
    world.close();
    expect(world.state.finished).toBe(true);
    expect(said(world)).toMatchObject([{ life, number: 2, left: true, used: 0 }]);
    expect(continueFrom(closed, 2, 5).membership).toMatchObject({
      life: life + 1,
      number: 0,
      epoch: 0,
      limit: 0,
    });
    expect(continueFrom(closed, 2, 2 * life).membership).toMatchObject({ life: 2 * life });
  });

  it('joins again if rows are sent again before the batch has reported its end', () => {
    const world = inPool({ rows: 1, retries: 0, lanes: [{ places: 1 }] });
    grant(world, 10, 1);
    world.answer(0, ['accepted']);
    world.finish(world.service.runs[0]?.runId ?? '', 'failed');
    world.pass(2_000);
    world.collect();
    world.close();
    expect(said(world).at(-1)).toMatchObject({ left: true });
    world.apply({ type: 'woke' });
    world.apply({ type: 'retry', commandId: 'again', pass: 2 });
    const [{ life } = { life: 0 }] = said(world);
    world.apply({ type: 'passLoaded', pass: 2, segments: [{ lane: 0, first: 101, count: 1 }] });
    arrives(world);
    world.pass(POOL_REPORT_MS);
    expect(said(world)).toMatchObject([{ life, used: 0, wanted: 1 }]);
    expect(world.sends).toEqual([]);
    world.apply({ type: 'grant', life, epoch: 11, limit: 1 });
    expect(world.sends).toHaveLength(1);
  });

  it('joins, leaves and changes pools while the batch runs', () => {
    const world = new World({ rows: 10 });
    world.answer(0, ['accepted']);
    const change = (limits: object) => world.apply({ type: 'scale', limits });
    change({ pool: 'gpus', weight: 2 });
    expect(world.reports.splice(0)).toMatchObject([
      { pool: 'gpus', usage: { number: 1, used: 4, limit: 0, weight: 2 } },
    ]);
    world.pass(1_000);
    change({ pool: 'others' });
    expect(world.reports.splice(0)).toMatchObject([
      { pool: 'gpus', usage: { number: 2, left: true } },
      { pool: 'others', usage: { number: 1, used: 4 } },
    ]);
    change({ pool: 'none' });
    expect(world.reports.splice(0)).toMatchObject([{ pool: 'others', usage: { number: 2, left: true } }]);
    expect(world.state.membership).toBeUndefined();
    world.finish(world.service.runs[0]?.runId ?? '', 'succeeded');
    expect(world.sends).toHaveLength(1);
    expect(world.state.log.at(-1)?.note).toBe('pool others → none');
  });

  it('refuses what is no pool, weight or urgency', () => {
    const world = inPool();
    for (const limits of [{ pool: '' }, { pool: 'a b' }, { weight: 0 }, { urgency: 10 }]) {
      world.apply({ type: 'scale', commandId: JSON.stringify(limits), limits });
      expect(world.state.acknowledgements.at(-1)).toMatchObject({ ok: false });
    }
    world.apply({ type: 'scale', commandId: 'same', limits: { pool: 'gpus', urgency: 3 } });
    expect(world.state.acknowledgements.at(-1)).toMatchObject({ ok: true, note: 'urgency 0 → 3' });
  });

  it('keeps what it has to say while it continues as new', () => {
    const world = new World({ pool: 'gpus' });
    const leaves = said(world).map((usage) => ({ pool: 'old', usage: { ...usage, left: true as const } }));
    world.state.leaves = leaves;
    world.continueAsNew();
    expect(world.reports.map(({ pool }) => pool)).toEqual(['old', 'gpus']);
  });
});

describe('what a batch wants', () => {
  it('follows its rows, its limits and its pauses', () => {
    const wanted = (world: World): number | undefined => said(world).at(-1)?.wanted;
    expect(wanted(inPool({ rows: 3, lanes: [{ places: 3 }] }))).toBe(3);
    const lanes = [
      { gpu: 'A', places: 5 },
      { gpu: 'B', places: 5 },
    ];
    expect(wanted(inPool({ lanes, gpuConcurrency: { A: 1 } }))).toBe(6);
    expect(wanted(inPool({ lanes, gpuConcurrency: { A: 1, B: 2 } }))).toBe(3);
    expect(wanted(inPool({ adaptive: 2 }))).toBe(2);
    const canary = { rows: 2, asks: false };
    expect(wanted(inPool({ lanes: [{ places: 10, canary: 2 }], canary }))).toBe(2);
  });

  it('is nothing while a user has paused the batch, and one slot when a probe is near', () => {
    const world = inPool();
    arrives(world);
    world.apply({ type: 'pause' });
    world.pass(POOL_REPORT_MS);
    expect(said(world).at(-1)?.wanted).toBe(0);
    arrives(world);
    world.apply({ type: 'resume' });
    world.pass(POOL_REPORT_MS);
    arrives(world);
    grant(world, 10, 1);
    world.answer(0, ['blocked']);
    world.pass(POOL_REPORT_MS);
    arrives(world);
    expect(said(world).at(-1)?.wanted).toBe(0);
    world.pass(PROBE_MS - POOL_REPORT_MS - POOL_AHEAD_MS - 1);
    expect(said(world)).toEqual([]);
    world.pass(1);
    expect(said(world)).toMatchObject([{ wanted: 1 }]);
    world.pass(POOL_AHEAD_MS);
    // The probe is its only attempt.
    expect([world.sends.length, wantedSlots(world.state)]).toEqual([1, 1]);
  });

  it('grows with --rate as its runs start, by what it starts in four seconds', () => {
    const world = inPool({ rows: 200, lanes: [{ places: 200 }], concurrency: 100, startsPerMinute: 60 });
    expect(said(world)).toMatchObject([{ used: 0, wanted: 4 }]);
    arrives(world);
    grant(world, 10, 100);
    for (let second = 0; second < 6; second += 1) {
      world.answer(0, ['accepted']);
      world.pass(1_001);
    }
    expect(wantedSlots(world.state)).toBe(usedSlots(world.state) + 4);
  });

  it('is nothing while the service asks it to wait, and asks again shortly before the end', () => {
    const world = inPool();
    said(world);
    arrives(world);
    grant(world, 10, 6);
    const { attempts } = world.sends[0] as (typeof world.sends)[number];
    world.end(
      attempts.map((attempt) => ({ ...attempt, result: 'throttled', reason: '429', retryAfterMs: 60_000 })),
    );
    world.pass(POOL_REPORT_MS);
    expect(said(world).at(-1)).toMatchObject({ used: 0, wanted: 0 });
    arrives(world);
    world.pass(60_000 - POOL_REPORT_MS - POOL_AHEAD_MS - 1);
    expect(said(world)).toEqual([]);
    world.pass(1);
    // The gap that a 429 causes allows all of them within these seconds.
    expect(said(world)).toMatchObject([{ wanted: 6 }]);
  });

  it('leaves out rows that are due later', () => {
    const world = inPool({ rows: 2, lanes: [{ places: 2 }] });
    arrives(world);
    grant(world, 10, 2);
    world.answer(0, ['accepted']);
    const put = world.state.lanes[0]?.waiting ?? [];
    expect(wantedSlots(world.state)).toBe(2);
    const row = { phase: 'waiting', place: 1, attempt: 2, tries: 0, past: [] } as const;
    put.push({ ...row, dueAt: world.state.now + POOL_AHEAD_MS });
    put.push({ ...row, place: 2, dueAt: world.state.now + POOL_AHEAD_MS + 500 });
    expect(wantedSlots(world.state)).toBe(3);
    expect(wantsMoreAt(world.state)).toBe(world.state.now + 500);
  });

  it('is one slot with an open circuit, and what a budget has room for', () => {
    const world = inPool();
    world.state.consecutiveFailures = CIRCUIT_OPENS_AFTER;
    expect(wantedSlots(world.state)).toBe(1);
    const sending = inPool();
    arrives(sending);
    grant(sending, 10, 2);
    sending.state.consecutiveFailures = CIRCUIT_OPENS_AFTER;
    // The group that is being sent is its one attempt.
    expect([usedSlots(sending.state), wantedSlots(sending.state)]).toEqual([2, 2]);
    const wanted = (maxCostNano: number, cost: number): number =>
      wantedSlots(inPool({ maxCostNano, attemptCostNano: { '': cost } }).state);
    expect([wanted(500, 100), wanted(1_000, 100), wanted(50, 100), wanted(0, 0)]).toEqual([5, 6, 0, 6]);
    const lowered = inPool({ maxCostNano: 500, attemptCostNano: { '': 100 } });
    lowered.state.params = { ...lowered.state.params, maxCostNano: -1 };
    expect(wantedSlots(lowered.state)).toBe(0);
  });
});
