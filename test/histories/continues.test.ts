// Recorded batches at their turns: a continue-as-new, a pause of the trial. The replay test shows that the current code takes
// the same turns.

import { describe, expect, it } from 'vitest';
import { eventsIn } from './recording.ts';

type Payloads = { readonly payloads?: readonly { readonly data: string }[] };
type Recorded = {
  readonly eventType: string;
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string }; readonly input: Payloads };
  readonly activityTaskCompletedEventAttributes?: { readonly result?: Payloads };
  readonly workflowPropertiesModifiedEventAttributes?: {
    readonly upsertedMemo?: { readonly fields?: Readonly<Record<string, { readonly data: string }>> };
  };
  readonly workflowExecutionSignaledEventAttributes?: { readonly signalName: string; readonly input: Payloads };
};
type Carried = { readonly attempts?: readonly object[]; readonly ends?: { readonly completions: readonly object[] } } | null;

const read = (from: Payloads | undefined, at: number): unknown => {
  const data = from?.payloads?.[at]?.data;
  return data === undefined ? null : JSON.parse(Buffer.from(data, 'base64').toString());
};

/** How many runs were sent and have not been reported as ended. */
function outstandingIn(events: readonly Recorded[]): number {
  let outstanding = 0;
  for (const event of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (scheduled?.activityType.name === 'queueRuns')
      outstanding += (read(scheduled.input, 0) as Carried)?.attempts?.length ?? 0;
    if (signal?.signalName === 'runsCompleted') outstanding -= (read(signal.input, 1) as readonly object[]).length;
    const carried = read(event.activityTaskCompletedEventAttributes?.result, 0) as Carried;
    outstanding -= carried?.ends?.completions.length ?? 0;
  }
  return outstanding;
}

/** The causes of the last workflow task: the events before it, without the commands of earlier tasks. */
function lastCauses(events: readonly Recorded[]): readonly string[] {
  const caused = events.filter((event) => !JSON.stringify(event).includes('"workflowTaskCompletedEventId"'));
  const types = caused.map(({ eventType }) => eventType.replace('EVENT_TYPE_', ''));
  const scheduled = types.lastIndexOf('WORKFLOW_TASK_SCHEDULED');
  const before = types.lastIndexOf('WORKFLOW_TASK_COMPLETED', scheduled);
  return types.slice(before + 1, scheduled);
}

/** The kinds of pauses in the progress that an event publishes. */
function pausesIn({ workflowPropertiesModifiedEventAttributes: modified }: Recorded): readonly string[] {
  const progress = modified?.upsertedMemo?.fields?.['progress'];
  const shown = read(progress && { payloads: [progress] }, 0) as { readonly pauses?: readonly { readonly kind: string }[] } | null;
  return (shown?.pauses ?? []).map(({ kind }) => kind);
}

describe('a batch that continues as new', () => {
  it('has no outstanding run if its runs end often', () => {
    const events = eventsIn<Recorded>('version-4/resting-before-a-continue-as-new');
    expect(events.at(-1)?.eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
    expect(events.length).toBeLessThan(2_200);
    expect(outstandingIn(events)).toBe(0);
  });

  it('keeps its runs otherwise, and does so in a task in which only a timer fired', () => {
    const events = eventsIn<Recorded>('version-5/a-moment-for-a-continue-as-new');
    expect(events.at(-1)?.eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW');
    expect(outstandingIn(events)).toBeGreaterThan(0);
    expect(lastCauses(events)).toEqual(['TIMER_FIRED']);
  });
});

describe('a batch in which no row has succeeded', () => {
  it('is paused by ten ends that are alike, and sends again only once it is resumed', () => {
    const events = eventsIn<Recorded>('version-6/failing-alike-until-it-is-resumed');
    const steps = events.flatMap((event) => {
      const isSent = event.activityTaskScheduledEventAttributes?.activityType.name === 'queueRuns';
      const isPaused = pausesIn(event).includes('alike');
      const isResumed = event.workflowExecutionSignaledEventAttributes?.signalName === 'resume';
      return isSent ? ['sent'] : isPaused ? ['paused'] : isResumed ? ['resumed'] : [];
    });
    const changes = steps.filter((step, at) => step !== steps[at - 1]);
    expect(changes).toEqual(['sent', 'paused', 'resumed', 'sent']);
  });
});
