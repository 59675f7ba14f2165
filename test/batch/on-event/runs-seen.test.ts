import { describe, expect, it } from 'vitest';
import { progress } from '../../../src/batch/shown/progress.ts';
import { running, runOfFirst, unconfirmed } from '../scenes.ts';
import { World } from '../world.ts';

const seen = { type: 'runsSeen', runs: [runOfFirst('seen')] } as const;

describe('runs seen', () => {
  it('a run that turns up is adopted by a row that waits because its POST was throttled: it is not sent again', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['throttled']);
    world.apply(seen);
    expect(world.runOf(1)).toBe('seen');
    expect(world.state.ledger).toMatchObject({ sent: 1, throttled: 0, accepted: 1 });
    world.pass(60_000);
    expect(world.sends).toEqual([]);
  });

  it('a run that turns up is adopted by a row that waits because its POST was not sent, as far as its worker knew', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.answer(0, ['not-sent']);
    world.apply(seen);
    expect(world.runOf(1)).toBe('seen');
    expect(world.state.ledger).toMatchObject({ sent: 1, accepted: 1 });
  });

  it('a run that turns up is remembered by a row in flight, whose response decides', () => {
    const world = new World({ rows: 1, concurrency: 1 });
    world.apply(seen, seen);
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'sending', seen: ['seen'] });
    expect(progress(world.state)).toMatchObject({ sending: 1, running: 0 });
  });

  it('a run that has failed and turns up again is not adopted by the next attempt of its row', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.finish('run-0', 'failed');
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-0')] });
    expect(world.state.rows.get(1)).toMatchObject({ phase: 'waiting', attempt: 2 });
    expect(world.state.ledger).toMatchObject({ accepted: 1, duplicates: 0 });
  });

  it('a run that turns up is adopted by an unconfirmed row', () => {
    const world = unconfirmed();
    world.apply(seen);
    expect(world.runOf(1)).toBe('seen');
    expect(world.state.ledger.adopted).toEqual({ webhook: 1, list: 0 });
  });

  it('a run of another attempt than the one that is unconfirmed is kept for the close', () => {
    const world = unconfirmed();
    world.apply({ type: 'runsSeen', runs: [runOfFirst('seen', 2)] });
    expect(progress(world.state).unconfirmed).toBe(1);
    expect([...world.state.evidence.keys()]).toEqual(['seen']);
  });

  it('a run that turns up is a duplicate of a row that runs, that was refused, or that has ended, and is cancelled', () => {
    const runs = running({ rows: 2, concurrency: 1 });
    const refused = new World({ rows: 2, concurrency: 1 });
    refused.answer(0, ['rejected']);
    const ended = running({ rows: 2, concurrency: 1 });
    ended.finish('run-0', 'succeeded');
    for (const world of [runs, refused, ended]) {
      world.apply(seen);
      expect(world.cancels.map(({ runs: named }) => named)).toEqual([[runOfFirst('seen')]]);
      expect(world.state.ledger.duplicates).toBe(1);
    }
  });

  it('a run that turns up is nothing new if its row has it', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'runsSeen', runs: [runOfFirst('run-0')] });
    expect([world.cancels.length, world.state.evidence.size]).toEqual([0, 0]);
  });

  it('a run of a row that was never sent is kept for the close', () => {
    const world = running({ rows: 9, concurrency: 1 });
    world.apply({ type: 'runsSeen', runs: [{ place: 9, attempt: 1, runId: 'early' }] });
    expect([...world.state.evidence.keys()]).toEqual(['early']);
  });

  it('a run that turns up is cancelled as well, if the user has cancelled everything', () => {
    const world = unconfirmed();
    world.apply({ type: 'cancel', running: true });
    world.apply(seen);
    expect(world.cancels.map(({ runs }) => runs)).toEqual([[runOfFirst('seen')]]);
  });
});
