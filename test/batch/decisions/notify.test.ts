import { describe, expect, it } from 'vitest';
import { NOTIFY_FAILED } from '../../../src/options/bounds-and-defaults.ts';
import { LOG, RESULTS, type Event } from '../../../src/batch/events.ts';
import { type Command } from '../../../src/batch/commands.ts';
import type { Notice } from '../../../src/batch/notices/notice.ts';
import { closedSnapshot, restore } from '../../../src/batch/state/snapshot.ts';
import { progress } from '../../../src/batch/shown/progress.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { proven } from '../scenes.ts';
import { World } from '../world.ts';

/** Collects what a batch wants to notify. */
class Notified extends World {
  declare notices: Notice[];

  override apply(...events: readonly Event[]): readonly Command[] {
    const commands = super.apply(...events);
    this.notices ??= [];
    for (const command of commands) if (command.type === 'notify') this.notices.push(command.notice);
    return commands;
  }

  /** Delivers, or fails to deliver, everything that waits. */
  deliver(reason?: string): void {
    for (const { number } of this.notices.splice(0))
      this.apply({ type: 'notified', number, ...(reason === undefined ? {} : { reason }) });
  }

  get news(): readonly string[] {
    return this.notices.map(({ news, pause, to }) => `${news}${pause ? `:${pause.kind}` : ''} ${to}`);
  }

  /** Ends every row. */
  endAll(end: 'succeeded' | 'failed' = 'succeeded'): void {
    for (let turn = 0; turn < 500 && this.closes.length === 0 && !this.state.finished; turn += 1) {
      if (this.sends.length > 0) this.answer(0, ['accepted']);
      else if (this.collects.length > 0) this.collect();
      else {
        const open = this.service.runs.find(({ status }) => status === 'open');
        if (open === undefined) this.pass(2_000);
        else this.finish(open.runId, end);
      }
    }
  }
}

const notified = (params: Partial<BatchParams> = {}): Notified =>
  proven(new Notified({ rows: 40, concurrency: 4, retries: 0, notify: ['slack:ops'], ...params }));

describe('a batch that is done', () => {
  it('tells each target once, after its results are written, and then ends', () => {
    const batch = notified({ rows: 3, notify: ['slack:ops', 'mailto:a@b'] });
    batch.endAll();
    expect(batch.news).toEqual([]);
    batch.close();
    expect(batch.news).toEqual(['done slack:ops', 'done mailto:a@b']);
    expect(batch.state.finished).toBe(false);
    batch.deliver();
    batch.pass(5_000);
    expect(batch.state.finished).toBe(true);
    expect(batch.logged.filter(({ event }) => event === 'notified').map(({ note }) => note)).toEqual([
      'done to slack:ops',
      'done to mailto:a@b',
    ]);
  });

  it('ends although no target could be notified, and its log says why', () => {
    const batch = notified({ rows: 1 });
    batch.endAll();
    batch.close();
    batch.deliver('the receiver answered 500');
    batch.pass(5_000);
    expect(batch.state.finished).toBe(true);
    expect(batch.logged.at(-1)).toMatchObject({
      event: 'not-notified',
      note: 'done to slack:ops',
      reason: 'the receiver answered 500',
    });
  });

  it('ends although the store takes no entry of the log any more', () => {
    const batch = notified({ rows: 1 });
    batch.endAll();
    batch.close();
    const [{ number } = { number: 0 }] = batch.notices;
    batch.apply({ type: 'notified', number }, { type: 'storeFailed', item: LOG, reason: 'ENOSPC' });
    expect(batch.state.finished).toBe(true);
  });

  it('writes its results again if a run appears while it tells', () => {
    const batch = notified({ rows: 1 });
    batch.endAll();
    batch.close();
    batch.apply({ type: 'runsSeen', runs: [{ place: 1, attempt: 1, runId: 'another' }] });
    batch.deliver();
    expect(batch.state.unstored.has(RESULTS) || batch.closes.length > 0).toBe(true);
    batch.close();
    batch.pass(5_000);
    expect([batch.news, batch.state.finished]).toEqual([[], true]);
  });

  it('is not paused by what happens while it tells', () => {
    const batch = notified({ rows: 1 });
    batch.endAll();
    batch.close();
    batch.apply({ type: 'serviceRead', reason: 'away' });
    expect(progress(batch.state).state).toBe('running');
    expect(batch.news).toEqual(['done slack:ops']);
  });

  it('tells again after rows were sent again, also if that was wanted while it told', () => {
    const batch = notified({ rows: 1 });
    batch.endAll();
    batch.close();
    batch.apply({ type: 'retry', pass: 2 });
    expect(batch.state.isClosed).toBe(false);
    batch.apply({ type: 'passLoaded', pass: 2, segments: [] });
    batch.deliver();
    batch.endAll();
    batch.close();
    expect(batch.news).toEqual(['done slack:ops']);
    expect(batch.notices[0]).toMatchObject({ pass: 2 });
  });

  it('does not repeat in a later pass what was under way when it closed', () => {
    const batch = notified({ rows: 30, failAfter: { rows: 100 } });
    batch.endAll('failed');
    expect(batch.news).toEqual(['failures slack:ops']);
    expect(restore(closedSnapshot({ ...batch.state, closing: false })).notices).toEqual([]);
  });
});

describe('many rows without success', () => {
  it('are notified once, from 5 % of 20 rows on', () => {
    const batch = notified();
    batch.endAll('failed');
    expect(batch.news).toEqual(['failures slack:ops']);
    expect(NOTIFY_FAILED.share).toBe(0.05);
  });

  it('are notified at the number that the user chose, and again after the user changed it', () => {
    const batch = notified({ notifyFailed: { rows: 41 } });
    batch.endAll('failed');
    expect(batch.news).toEqual([]);
    const again = notified({ notifyFailed: { rows: 1 } });
    again.answer(0, ['accepted']);
    again.finish(again.runOf(1) ?? '', 'failed');
    expect(again.news).toEqual(['failures slack:ops']);
    again.apply({ type: 'scale', limits: { notifyFailed: { rows: 1 } } });
    expect(again.news).toEqual(['failures slack:ops', 'failures slack:ops']);
  });
});

describe('a pause', () => {
  it('is notified with its reason, each kind once until a user resumes the batch', () => {
    const batch = notified();
    batch.apply({ type: 'pause', by: 'me' });
    batch.answer(0, ['accepted']);
    expect(batch.notices).toMatchObject([{ pause: { kind: 'user', reason: 'paused by me' } }]);
    batch.apply({ type: 'serviceRead', reason: 'away' });
    batch.apply({ type: 'serviceRead' });
    batch.apply({ type: 'serviceRead', reason: 'away' });
    expect(batch.news).toEqual(['paused:user slack:ops', 'paused:unreadable slack:ops']);
    batch.apply({ type: 'resume' });
    batch.apply({ type: 'pause' });
    expect(batch.news.at(-1)).toBe('paused:user slack:ops');
    expect(batch.news).toHaveLength(3);
  });

  it('is notified to targets that are added during the pause', () => {
    const batch = notified({ notify: [] });
    batch.apply({ type: 'pause' });
    expect(batch.news).toEqual([]);
    batch.apply({ type: 'scale', limits: { notify: ['slack:later'] } });
    expect(batch.news).toEqual(['paused:user slack:later']);
    batch.apply({ type: 'scale', commandId: 'none', limits: { notify: 'none' } });
    expect(batch.state.acknowledgements.at(-1)?.note).toBe('notify slack:later → none');
  });

  it('is notified by the next workflow run under the same number', () => {
    const batch = notified();
    batch.apply({ type: 'pause' });
    batch.answer(0, ['accepted']);
    const [first] = batch.notices;
    batch.continueAsNew();
    expect(batch.notices).toEqual([first, first]);
    batch.deliver();
    expect(batch.state.notices).toEqual([]);
  });
});

describe('half of --max-cost', () => {
  const costs = { maxCostNano: 10e9, attemptCostNano: { '': 1e9 } };

  /** Another part that cost so much. */
  function spend(batch: Notified, costUsd: number): void {
    const { tally } = batch.state;
    batch.state.tally = { ...tally, gpus: { ...tally.gpus, A10G: { runs: 1, seconds: 1, costUsd } } };
    batch.apply({ type: 'woke' });
  }

  it('is notified when it is spent, and again for another limit', () => {
    const batch = notified(costs);
    spend(batch, 4.99);
    expect(batch.news).toEqual([]);
    spend(batch, 5);
    expect(batch.news).toEqual(['half-budget slack:ops']);
    batch.apply({ type: 'scale', limits: { maxCostNano: 20e9 } });
    expect(batch.news).toHaveLength(1);
    spend(batch, 10);
    expect(batch.news).toHaveLength(2);
  });
});

describe('targets in a signal', () => {
  it.each([
    [Array.from({ length: 6 }, (_, at) => `slack:t${at}`)],
    [['https://user:password@example.org/']],
    ['slack:ops' as unknown as readonly string[]],
    [[1] as unknown as readonly string[]],
  ])('are refused if they are too many or contain secrets: %j', (notify) => {
    const batch = notified();
    batch.apply({ type: 'scale', commandId: 'x', limits: { notify } });
    expect(batch.state.acknowledgements.at(-1)).toMatchObject({ ok: false });
    expect(batch.state.params.notify).toEqual(['slack:ops']);
  });
});
