// Replays recorded batches with the current code (R19), as an updated worker does with a running batch.

import { describe, expect, it } from 'vitest';
import { OLDEST, READS, WRITES } from '../../src/batch/behaviour-version.ts';
import { eventsIn, OLDER, readRecording, RECORDINGS } from './recording.ts';
import { errorsOf, replay } from './replay.ts';

describe('recorded histories', () => {
  it('exist for every version that batches may have', () => {
    expect(WRITES).toBeLessThanOrEqual(READS);
    for (let version = OLDEST; version <= WRITES; version += 1)
      expect(RECORDINGS.filter((name) => name.startsWith(`version-${version}/`)).length).toBeGreaterThan(3);
  });

  it('exist in the newest version for each kind that an older version has', () => {
    const kindsOf = (version: number): readonly string[] =>
      RECORDINGS.flatMap((name) => (name.startsWith(`version-${version}/`) ? [name.split('/').at(-1) ?? ''] : []));
    const older = Array.from({ length: WRITES - OLDEST }, (_, at) => kindsOf(OLDEST + at)).flat();
    expect(older.filter((kind) => !kindsOf(WRITES).includes(kind))).toEqual([]);
  });

  it('of the version that batches have today replay', async () => {
    const newest = RECORDINGS.filter((name) => !OLDER.has(name));
    expect(newest.length).toBeGreaterThan(3);
    const histories = new Map(newest.map((name) => [name, readRecording(name)]));
    expect(await errorsOf(histories)).toEqual(new Map(newest.map((name) => [name, undefined])));
  });

  // A query or an update would cause such a task, and the SDK would replay it as a part of the task before it.
  it.each(RECORDINGS)('%s has no workflow task without an event before it', (name) => {
    const events = eventsIn<{ eventId: string; eventType: string }>(name);
    let hasEvent = true;
    const bare: string[] = [];
    for (const event of events) {
      const isTask = event.eventType.startsWith('EVENT_TYPE_WORKFLOW_TASK_');
      if (event.eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED') hasEvent = false;
      // Events that record commands of the task before do not count.
      if (!isTask && !JSON.stringify(event).includes('"workflowTaskCompletedEventId"')) hasEvent = true;
      if (event.eventType === 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED' && !hasEvent) bare.push(event.eventId);
    }
    expect(events.length).toBeGreaterThan(50);
    expect(bare).toEqual([]);
  });

  it('have a memo with the progress between a continue-as-new and the first task after it', () => {
    const fields = readRecording('version-4/after-a-continue-as-new').events?.[0]?.workflowExecutionStartedEventAttributes?.memo?.fields;
    expect(Object.keys(fields ?? {}).sort()).toEqual(['folder', 'progress']);
  });

  it('do not replay if the commands differ', async () => {
    const changed = readRecording(RECORDINGS.find((name) => name.startsWith('version-')) ?? '');
    const types = changed.events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType);
    Object.assign(types?.find((type) => type?.name === 'collectRows') ?? {}, { name: 'gatherRows' });
    await expect(replay(changed)).rejects.toThrow(/nondeterminism|determinis/i);
  });
});
