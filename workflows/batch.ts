// The shell around `src/batch`: Temporal's messages become events, commands become activities and timers. All that is
// decided is decided there; all that is remembered is in `state`.

import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  Trigger,
  condition,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { mayCarry, pack, unpack, type Carried } from '../src/batch/carry.ts';
import { workQueueOf } from '../src/batch/ids.ts';
import { CLOSING, CONTINUE_AT_EVENTS, CONTINUE_AT_SIGNALS, CONTINUE_BY_EVENTS } from '../src/batch/limits.ts';
import type { Answer, Command, Event } from '../src/batch/messages.ts';
import { begin, type State } from '../src/batch/state.ts';
import { step } from '../src/batch/step.ts';
import { view, type BatchView } from '../src/batch/view.ts';
import { cancelBatch, resumeBatch, runsEnded, runsOverdue, runsSeen, serviceRead } from './messages.ts';

export type BatchInput = {
  readonly batch: string;
  readonly folder: string;
  /** Set by continue-as-new. */
  readonly carried?: Carried;
  readonly startedAt?: number;
};

/** Brings every row of a batch to one outcome; the result is its last view. */
export async function batch(input: BatchInput): Promise<BatchView> {
  const place = { batch: input.batch, folder: input.folder };
  const startedAt = input.startedAt ?? Date.now();
  const hands = reach();
  const state = input.carried ? unpack(input.carried) : begin(await hands.plan(place), Date.now());
  const { tell, decide, broken } = shell(hands, place, state, startedAt);
  const signals = hear(tell);
  tell({ type: 'started' });

  for (;;) {
    const hasNext = (): boolean => state.finished || mayContinue(state, signals());
    await CancellationScope.nonCancellable(() => Promise.race([condition(hasNext), broken]));
    // What came in the same moment is decided first; it may send a group, and then the history is not left yet.
    decide();
    if (state.finished) return view(state);
    if (mayContinue(state, signals()))
      return goOn({ ...place, startedAt, carried: pack(state) }, view(state));
  }
}

/** Continue-as-new; what the batch says of itself stands there also until the next workflow run says it anew. */
function goOn(input: BatchInput, last: BatchView): Promise<never> {
  const memo = { ...workflowInfo().memo, view: last };
  return makeContinueAsNewFunc<typeof batch>({ memo })(input);
}

/** Turns signals into events; returns how many this workflow run has had. */
function hear(tell: Tell): () => number {
  let signals = 0;
  const count = (event: Event): void => {
    signals += 1;
    tell(event);
  };
  setHandler(runsEnded, (by, ends) => count({ type: 'runsEnded', by, ends }));
  setHandler(runsSeen, (seen) => count({ type: 'runsSeen', seen }));
  setHandler(runsOverdue, (runs) => count({ type: 'overdue', runs }));
  setHandler(serviceRead, (told) => count({ type: 'read', ...told }));
  setHandler(cancelBatch, (order) => count({ type: 'cancel', ...order }));
  setHandler(resumeBatch, (order) => count({ type: 'resume', ...order }));
  // Temporal's own cancel, from its command line or pages, means the same as ours with the running runs.
  void CancellationScope.current().cancelRequested.catch(() => tell({ type: 'cancel', running: true }));
  return () => signals;
}

type Hands = ReturnType<typeof reach>;

/** The activities, each with the patience that fits it. */
function reach() {
  const taskQueue = workQueueOf(workflowInfo().taskQueue);
  /** R1: what may buy a run is never tried twice by Temporal. */
  const { queueRuns } = proxyActivities<Activities>({
    startToCloseTimeout: '180s',
    heartbeatTimeout: '5s',
    retry: { maximumAttempts: 1 },
    cancellationType: 'ABANDON',
  });
  const { plan, lookInLists, cancelRuns, collect, close } = proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout: '1h',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  });
  /** R18: a look reads one service again and again; nothing is gained by waiting longer each time. */
  const { lookAtRuns } = proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout: '10m',
    heartbeatTimeout: '3s',
    retry: { initialInterval: '500ms', backoffCoefficient: 1 },
  });
  return { queueRuns, plan, lookInLists, cancelRuns, collect, close, lookAtRuns };
}

/** R17: a history that grew long is left behind at the first moment without a group in flight. */
function mayContinue(state: State, signals: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  const isLong =
    historyLength >= CONTINUE_AT_EVENTS || signals >= CONTINUE_AT_SIGNALS || continueAsNewSuggested;
  return isLong && mayCarry(state);
}

type Tell = (event: Event) => void;
type Place = Pick<BatchInput, 'batch' | 'folder'>;
type Shell = {
  /** Keeps an event for the decision at the end of this moment. */
  readonly tell: Tell;
  /** Decides now what follows from all events that are kept. */
  readonly decide: () => void;
  /** Rejects when an activity failed for good. */
  readonly broken: Trigger<never>;
};

/** Feeds events to the state and carries its commands out; every command's answer comes back as an event. */
function shell(hands: Hands, place: Place, state: State, startedAt: number): Shell {
  const wake = alarm();
  const broken = new Trigger<never>();
  const lasting = new CancellationScope({ cancellable: false });
  let events: Event[] = [];

  const decide = (): void => {
    if (!state.draining && workflowInfo().historyLength >= CONTINUE_BY_EVENTS) events.push({ type: 'drain' });
    if (events.length === 0) return;
    const told = events;
    events = [];
    const { commands } = step(state, told, Date.now());
    // A batch that is cancelled still writes what it has; nothing of ours is torn off.
    void lasting.run(async () => commands.forEach(start));
  };

  const start = (command: Command): void => {
    const work = carryOut({ hands, place, state, startedAt, wake }, command);
    // An activity that failed for good fails the batch, with its words; nothing is swallowed.
    void work.then((answer) => answer && tell(answer)).catch(broken.reject);
  };

  const tell: Tell = (event) => {
    events.push(event);
    if (events.length === 1) void Promise.resolve().then(decide).catch(broken.reject);
  };
  return { tell, decide, broken };
}

type Doing = {
  readonly hands: Hands;
  readonly place: Place;
  readonly state: State;
  readonly startedAt: number;
  readonly wake: Wake;
};

/** Does what was asked for, and says what came of it. */
async function carryOut(
  { hands, place, state, startedAt, wake }: Doing,
  command: Command,
): Promise<Event | undefined> {
  switch (command.type) {
    case 'send':
      return sendGroup(hands, place, command);
    case 'list':
      return { type: 'listed', look: await hands.lookInLists({ ...place, ...command }) };
    case 'collect':
      return collectPart(hands, place, command);
    case 'look':
      await hands.lookAtRuns({ ...place, ...command });
      return { type: 'looked' };
    case 'tell':
      upsertMemo({ view: view(state) });
      return undefined;
    case 'cancelRuns':
      await hands.cancelRuns({ ...place, runs: command.runs });
      return undefined;
    case 'close':
      return closeBatch(hands, { ...place, view: view(state), startedAt });
    case 'wake':
      return wake(command.at);
  }
}

type Wake = (at: number) => Promise<Event | undefined>;

/** Starts no timer while an earlier one runs, which asks again when it fires; cancelling one would cost as many events. */
function alarm(): Wake {
  const timers = new Set<number>();
  return async (at) => {
    const now = Date.now();
    if ([...timers].some((time) => time > now && time <= at)) return undefined;
    timers.add(at);
    await sleep(Math.max(1, at - now));
    timers.delete(at);
    return { type: 'woke' };
  };
}

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

async function sendGroup(hands: Hands, place: Place, { group, attempts }: CommandOf<'send'>): Promise<Event> {
  try {
    const answers = await hands.queueRuns({ ...place, attempts });
    return { type: 'groupAnswered', group, answers, rest: 'uncertain' };
  } catch (error) {
    return { type: 'groupAnswered', group, ...givenUp(error) };
  }
}

async function collectPart(hands: Hands, place: Place, command: CommandOf<'collect'>): Promise<Event> {
  try {
    return { type: 'collected', part: command.part, tally: await hands.collect({ ...place, ...command }) };
  } catch (error) {
    return unwritten(error, command.part);
  }
}

async function closeBatch(hands: Hands, order: Parameters<Hands['close']>[0]): Promise<Event> {
  try {
    await hands.close(order);
    return { type: 'closed' };
  } catch (error) {
    return unwritten(error, CLOSING);
  }
}

/** A folder that takes nothing is no failure of the batch: it waits. Throws what is anything else. */
function unwritten(error: unknown, part: number): Event {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === 'FolderFault')
    return { type: 'unwritten', part, reason: cause.message };
  throw error;
}

/** What is known of a group whose activity failed (R2). */
function givenUp(error: unknown): Omit<Extract<Event, { type: 'groupAnswered' }>, 'type' | 'group'> {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const reason = cause?.message ?? String(error);
  if (cause instanceof ApplicationFailure && cause.type === 'NothingSent')
    return { answers: [], rest: 'not-sent', reason };
  if (!(cause instanceof TimeoutFailure)) return { answers: [], rest: 'uncertain', reason };
  const answers = cause.lastHeartbeatDetails as readonly Answer[] | undefined;
  // No POST begins before the first heartbeat is confirmed; without one nothing was sent.
  return answers
    ? { answers, rest: 'uncertain', reason: 'the worker that sent it was lost' }
    : { answers: [], rest: 'not-sent', reason };
}
