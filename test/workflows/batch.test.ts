import { heartbeat } from '@temporalio/activity';
import { takePlace } from '../../src/batch/state/lanes.ts';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../src/batch/bounds.ts';
import type { Progress } from '../../src/batch/shown/progress.ts';
import { snapshot } from '../../src/batch/state/snapshot.ts';
import { put } from '../../src/batch/state/put-row.ts';
import { begin } from '../../src/batch/state/state.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { workflowIdOf } from '../../src/batch/workflow-ids.ts';
import { until } from '../stage/stage.ts';
import { accepted, rigFor, refOf, Script, smallBatch, type Sends } from './rig.ts';

describe('the workflow of a batch', () => {
  const script = new Script();
  const rig = rigFor(script);

  /** Runs a batch of two rows; returns its last progress and the groups that were sent. */
  async function bring(batch: string, how: Sends): Promise<{ progress: Progress; sent: unknown[] }> {
    script.sends.set(batch, how);
    await rig.batches.start(refOf(batch));
    const progress = await rig.result(batch);
    expect(progress.tally.outcomes.succeeded).toBe(2);
    return { progress, sent: script.groups.get(batch) ?? [] };
  }
  const both = [
    { place: 1, attempt: 1 },
    { place: 2, attempt: 1 },
  ];

  it.concurrent('gives a group to no second worker where the first one failed in the middle of it', async () => {
    const { progress, sent } = await bring('failed', async (attempts, nth) => {
      if (nth === 1) throw new Error('out of memory');
      return attempts.map(accepted);
    });
    expect(sent).toEqual([both]);
    expect(progress.ledger).toMatchObject({ sent: 2, unconfirmed: 2, adopted: { list: 2 } });
  });

  it.concurrent('shows its progress and its activities in the UI of Temporal, without events for that', async () => {
    script.sends.set('shown', async (attempts) => attempts.map(accepted));
    await rig.batches.start(refOf('shown'), undefined, {
      summary: '2 rows · d · s.csv',
      details: '| | |',
      search: { deployment: 'd', sheet: 's.csv', rows: 2, content: 'c' },
    });
    await rig.result('shown');
    const handle = rig.client.workflow.getHandle(workflowIdOf(refOf('shown')));
    const { staticSummary, staticDetails, raw } = await handle.describe();
    // A fair server separates the activities of batches by this key.
    expect(raw.workflowExecutionInfo?.priority?.fairnessKey).toBe(refOf('shown').mark);
    expect([await staticSummary(), await staticDetails()]).toEqual(['2 rows · d · s.csv', '| | |']);
    const metadata = await handle.query('__temporal_workflow_metadata');
    expect((metadata as { currentDetails: string }).currentDetails).toContain('| rows | 2 of 2 done |');
    const { events } = await handle.fetchHistory();
    const summaries = events?.flatMap((event) => {
      const data = event.activityTaskScheduledEventAttributes && event.userMetadata?.summary?.data;
      return data ? [JSON.parse(Buffer.from(data).toString()) as string] : [];
    });
    expect(summaries).toContain('2 rows → 2 runs');
    expect(summaries).toContain('results of 2 rows');
  });

  it.concurrent('knows of a lost worker what its heartbeats had told, and doubts only the rest', async () => {
    const { progress, sent } = await bring('lost', async ([first], _, hang) => {
      heartbeat({ results: [first && accepted(first)] });
      return hang;
    });
    expect(sent).toEqual([both]);
    expect(progress.ledger).toMatchObject({ sent: 2, accepted: 1, unconfirmed: 1, adopted: { list: 1 } });
  });

  it.concurrent('sends again what a lost worker had never told of: no POST had begun', async () => {
    const { progress, sent } = await bring('silent', async (attempts, nth, hang) =>
      nth === 1 ? hang : attempts.map(accepted),
    );
    expect(sent).toEqual([both, both]);
    expect(progress.ledger).toMatchObject({ sent: 2, accepted: 2, unconfirmed: 0 });
  });

  it.concurrent('sends again what could not even be read', async () => {
    const { progress, sent } = await bring('unread', async (attempts, nth) => {
      if (nth === 1) throw ApplicationFailure.nonRetryable('EIO', 'NothingSent');
      return attempts.map(accepted);
    });
    expect(sent).toEqual([both, both]);
    expect(progress.ledger).toMatchObject({ sent: 2, accepted: 2, unconfirmed: 0 });
  });

  it.concurrent('waits for a store that takes nothing, and gives it its own times of begin and end', async () => {
    const seen: { readonly startedAt: number; readonly endedAt: number }[] = [];
    script.finalize.set('full', (input) => {
      seen.push(input);
      if (seen.length === 1) throw ApplicationFailure.nonRetryable('no space left', 'StoreFailed');
    });
    const before = Date.now();
    await rig.batches.start(refOf('full'));
    await until(
      async () => (await rig.batches.status(refOf('full'))).progress?.state === 'paused',
      'it is paused',
    );
    const paused = await rig.batches.status(refOf('full'));
    expect(paused.progress).toMatchObject({
      pauses: [{ kind: 'store', reason: expect.stringContaining('no space left') }],
    });
    await rig.batches.resume(refOf('full'));
    expect(await rig.result('full')).toMatchObject({ state: 'finished', done: 2 });
    expect(seen.length).toBe(2);
    for (const { startedAt, endedAt } of seen) {
      expect(startedAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(endedAt).toBeGreaterThan(startedAt);
    }
  });

  it.concurrent('pauses while another command rebuilds it, and goes on when that is given up', async () => {
    const reason = 'the batch is being rebuilt by the state folder /b on vm';
    script.sends.set('rebuilt', async (attempts, nth) => {
      if (nth > 1) return attempts.map(accepted);
      throw ApplicationFailure.create({
        type: 'NothingSent',
        message: reason,
        details: [{ isHeldElsewhere: true }],
      });
    });
    await rig.batches.start(refOf('rebuilt'), { version: 6 } as never);
    const status = () => rig.batches.status(refOf('rebuilt'));
    await until(async () => (await status()).progress?.state === 'paused', 'it is paused');
    expect((await status()).progress?.pauses).toMatchObject([{ kind: 'elsewhere', reason }]);
    await rig.batches.resume(refOf('rebuilt'));
    expect((await rig.result('rebuilt')).tally.outcomes.succeeded).toBe(2);
    expect(script.groups.get('rebuilt')).toEqual([both, both]);
  });

  it.concurrent('ends when another execution has it, with who that is, and sends nothing more', async () => {
    const facts = { message: 'the state folder /b on vm has batch lost', hint: 'show its state: …' };
    script.sends.set('superseded', async () => {
      throw ApplicationFailure.nonRetryable(facts.message, 'E515', facts);
    });
    await rig.batches.start(refOf('superseded'));
    const gone = new AbortController();
    await expect(rig.batches.finished(refOf('superseded'), gone.signal)).rejects.toMatchObject({
      code: 'E515',
      ...facts,
    });
    expect(script.groups.get('superseded')).toEqual([both]);
  });

  it('starts once, even after it has ended', async () => {
    await bring('done', async (attempts) => attempts.map(accepted));
    expect(await rig.batches.start(refOf('done'))).toBe('closed');
  });

  it('with another birth mark is another batch, although the name is the same', async () => {
    await bring('twice', async (attempts) => attempts.map(accepted));
    const secondRef = { ...refOf('twice'), mark: 'ffffffffffffffff' };
    expect(await rig.batches.start(secondRef)).toBe('started');
    await until(async () => (await rig.batches.find(secondRef))?.status === 'COMPLETED', 'it ends as well');
    expect(script.groups.get('twice')).toEqual([both, both]);
  });

  it('that makes no progress can be terminated and started again from a snapshot', async () => {
    const ref = refOf('stuck');
    script.sends.set('stuck', async (_, __, hang) => hang);
    await rig.batches.start(ref);
    await until(() => script.groups.has('stuck'), 'its group is under way');
    expect(await rig.batches.start(ref)).toBe('running');
    await rig.batches.terminate(ref);
    // The first row has a run; the second was never sent.
    const state = begin(smallBatch('stuck'), WRITES, Date.now());
    takePlace(state.lanes, 0);
    put(state, { phase: 'running', place: 1, attempt: 1, tries: 0, past: [], runId: 'run-1-1', since: 0 });
    script.sends.set('stuck', async (attempts) => attempts.map(accepted));
    script.groups.delete('stuck');
    expect(await rig.batches.start(ref, { snapshot: snapshot(state) })).toBe('started');
    expect((await rig.result('stuck')).tally.outcomes.succeeded).toBe(2);
    expect(script.groups.get('stuck')).toEqual([[{ place: 2, attempt: 1 }]]);
  });

  it('publishes its progress, even after its end, and acknowledges every command once', async () => {
    const ref = refOf('asked');
    const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
    script.sends.set('asked', async (attempts, _, hang) => {
      await Promise.race([answered, hang]);
      return attempts.map(accepted);
    });
    await rig.batches.start(ref);
    await until(
      async () => (await rig.batches.status(ref)).progress?.sending === 2,
      'it says that its group is under way',
    );
    expect(await rig.batches.resume(ref)).toMatchObject({
      progress: { state: 'running', acknowledgements: [expect.anything()] },
    });
    // The command is in force when the group in flight has answered.
    const cancelled = rig.batches.cancel(ref, false);
    await until(
      async () => (await rig.batches.status(ref)).progress?.state === 'cancelling',
      'it says that it is cancelled',
    );
    answer(undefined);
    expect((await cancelled).progress.acknowledgements).toHaveLength(2);
    expect(await rig.result('asked')).toMatchObject({
      state: 'finished',
      done: 2,
      acknowledgements: [expect.anything(), expect.anything()],
    });
    expect((await rig.batches.status(ref)).progress).toMatchObject({ state: 'finished', done: 2 });
    expect((await rig.batches.find(ref))?.folder).toBe('/nowhere');
    await expect(rig.batches.resume(ref)).rejects.toMatchObject({ code: 'E513' });
  });

  it('abandons a group only after its lease has expired', () => {
    expect(script.heartbeatTimeoutMs).toBeGreaterThan(0);
    expect(LEASE_MS).toBeLessThan(script.heartbeatTimeoutMs);
  });
});
