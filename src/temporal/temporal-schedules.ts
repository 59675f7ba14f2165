// Creates, changes and reads the schedules of runsheet, which are Temporal Schedules: Temporal decides when they
// fire, even after an outage. Each firing is a workflow `runsheetFiring`, which lasts as long as its batch.

import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  isGrpcServiceError,
  type Client,
  type ScheduleDescription,
  type ScheduleHandle as TemporalHandle,
  type ScheduleOptions,
} from '@temporalio/client';
import type { runsheetFiring } from '../../workflows/firing-workflow.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { firingIdOf, nominalTimeOf, scheduleIdOf, scheduleOf } from '../batch/workflow-ids.ts';
import { batchNameAt, changesBetween, type ScheduleDefinition } from '../schedule/schedule-definition.ts';
import { correctionOf, nearest, problem } from '../errors/error.ts';
import { waitInCall, type Abortable } from '../host/call-signal.ts';
import { shortened, terminalLine } from '../errors/outside-text.ts';
import { shownAddress } from '../errors/redact.ts';
import { workflowLabel } from '../batch/payloads/labels.ts';
import { labelled, labelledMemo } from './encryption/labelled.ts';
import { readFiring, type FiringInfo } from './firing-info.ts';
import type { TicketFolder } from '../schedule/tickets.ts';

export type ScheduleInfo = {
  readonly name: string;
  /** The definition; the address of the sheet has no query, which may be a signature. */
  readonly definition: ScheduleDefinition;
  readonly isPaused: boolean;
  /** The reason of the pause. */
  readonly note?: string;
  readonly nextTimes: readonly Date[];
  /** The last ten firings, oldest first. */
  readonly firings: readonly FiringInfo[];
  readonly counts: {
    readonly fired: number;
    /** Firings that were later than `catchupMs`. */
    readonly missed: number;
    /** Firings that were left out because an earlier batch was running. */
    readonly skipped: number;
  };
};

/** Two times of a rule, both included. */
type Between = { readonly from: Date; readonly to: Date };

export type ScheduleHandle = {
  readonly name: string;
  /** Throws E560 if there is no such schedule; so do the other methods. */
  describe(call?: Abortable): Promise<ScheduleInfo>;
  /** Fires now, or at all times of the rule between two times, one after another. Returns the names of the batches. */
  trigger(between?: Between, call?: Abortable): Promise<readonly string[]>;
  pause(note?: string, call?: Abortable): Promise<void>;
  resume(call?: Abortable): Promise<void>;
  /** Deletes the schedule. Its batches remain, and a running one continues. */
  delete(call?: Abortable): Promise<void>;
};

export type CreatedSchedule = {
  readonly handle: ScheduleHandle;
  readonly how: 'created' | 'changed' | 'unchanged';
};

export type Schedules = {
  /** Throws E562 if another schedule has this name and `replace` is not set. */
  create(definition: ScheduleDefinition, options?: { readonly replace?: boolean }): Promise<CreatedSchedule>;
  /** The changes that `create` would make; undefined if there is no schedule of this name. */
  changes(definition: ScheduleDefinition): Promise<readonly string[] | undefined>;
  getHandle(name: string): ScheduleHandle;
  /** The schedules, sorted by name. */
  list(): AsyncIterable<ScheduleInfo>;
};

export type ScheduleParams = {
  readonly taskQueue?: string;
  /** Whether the client, and so the workflows that it starts, encrypt. */
  readonly encrypted?: boolean;
  /** Tickets for firings; only for an embedded server. */
  readonly tickets?: TicketFolder;
};

/** `reach` returns the current client, because an embedded server may restart on another port. */
export function openSchedules(reach: () => Client, params: ScheduleParams = {}): Schedules {
  const { tickets } = params;
  const getHandle = (name: string): ScheduleHandle => handleOf(reach, name, tickets);
  const changesOf = async (definition: ScheduleDefinition): Promise<readonly string[] | undefined> => {
    const before = await definitionOf(reach(), definition.name);
    return before && changesBetween(before, definition);
  };
  return {
    changes: changesOf,
    create: async (definition, { replace = false } = {}) => {
      const { name } = definition;
      const changes = await changesOf(definition);
      if (changes !== undefined && changes.length > 0 && !replace)
        throw problem('E562', { name, changes }, REPLACE);
      // The ticket comes first, because a schedule may fire immediately.
      tickets?.write(definition);
      const handle = getHandle(name);
      if (changes?.length === 0) return { handle, how: 'unchanged' };
      const { scheduleId, ...options } = optionsOf(definition, params);
      if (changes === undefined) await createNew(reach(), { scheduleId, ...options });
      else
        await reach()
          .schedule.getHandle(scheduleId)
          .update(({ state }) => ({ ...options, state }))
          .catch((error: unknown) => {
            throw refusalIn(error) ?? error;
          });
      return { handle, how: changes === undefined ? 'created' : 'changed' };
    },
    getHandle,
    async *list() {
      for (const name of await namesOf(reach())) yield await getHandle(name).describe();
    },
  };
}

const REPLACE = { correction: { add: [['--replace']] } } as const;

const OVERLAP = { skip: 'SKIP', buffer: 'BUFFER_ONE', cancel: 'CANCEL_OTHER' } as const;

type PoliciedOptions = ScheduleOptions & { readonly policies: object };

function optionsOf(definition: ScheduleDefinition, { taskQueue = TASK_QUEUE, encrypted }: ScheduleParams) {
  const { name, cron, timezone, overlap, catchupMs } = definition;
  return {
    scheduleId: scheduleIdOf(name),
    spec: { cronExpressions: [cron], timezone },
    action: {
      type: 'startWorkflow',
      workflowType: 'runsheetFiring',
      workflowId: firingIdOf(name),
      taskQueue,
      args: [labelled(workflowLabel('runsheetFiring', 'input'), definition)] as Parameters<
        typeof runsheetFiring
      >,
      ...(encrypted ? { memo: labelledMemo({ encrypted }) } : {}),
    },
    policies: { overlap: OVERLAP[overlap], catchupWindow: catchupMs },
  } satisfies PoliciedOptions;
}

async function createNew({ schedule }: Client, options: PoliciedOptions): Promise<void> {
  try {
    await schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw refusalIn(error) ?? error;
    const name = scheduleOf(options.scheduleId) ?? '';
    throw problem(
      'E562',
      { name, changes: ['another command has just made it'] },
      { ...REPLACE, cause: error },
    );
  }
}

/** The server may know other rules and zones than this machine. */
function refusalIn(error: unknown) {
  const cause: unknown = (error as Error).cause ?? error;
  if (!isGrpcServiceError(cause) || !cause.message.startsWith('3 INVALID_ARGUMENT')) return undefined;
  return problem(
    'E602',
    {
      what: `Temporal refuses the schedule: ${shortened(terminalLine(cause.details), 200)}`,
      hint: 'its server may lack the zone: use another name of it as --tz, such as Etc/UTC, and check --cron',
    },
    { cause: error },
  );
}

const definitionIn = ({ action }: ScheduleDescription): ScheduleDefinition =>
  (action.args as Parameters<typeof runsheetFiring>)[0];

async function definitionOf({ schedule }: Client, name: string): Promise<ScheduleDefinition | undefined> {
  try {
    return definitionIn(await schedule.getHandle(scheduleIdOf(name)).describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

function handleOf(reach: () => Client, name: string, tickets: TicketFolder | undefined): ScheduleHandle {
  const use = async <T>(work: (handle: TemporalHandle) => Promise<T>): Promise<T> => {
    try {
      return await work(reach().schedule.getHandle(scheduleIdOf(name)));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      throw await unknown(reach(), name, error);
    }
  };
  return {
    name,
    describe: () => use(async (handle) => infoOf(reach(), name, await handle.describe())),
    trigger: (between) =>
      use((handle) => {
        const params = { client: reach(), name, handle, tickets };
        return between === undefined ? triggerNow(params) : triggerBetween(params, between);
      }),
    pause: (note) =>
      use(async (handle) => {
        await handle.pause(note);
        tickets?.pause(name, true);
      }),
    resume: () =>
      use(async (handle) => {
        tickets?.pause(name, false);
        await handle.unpause('resumed');
      }),
    delete: () =>
      use(async (handle) => {
        await handle.delete();
        tickets?.remove(name);
      }),
  };
}

async function unknown(client: Client, name: string, cause: unknown) {
  const names = await namesOf(client);
  const near = nearest(name, names);
  return problem('E560', { name, known: names, near }, { cause, correction: correctionOf(name, near) });
}

async function infoOf(client: Client, name: string, description: ScheduleDescription): Promise<ScheduleInfo> {
  const { info, state } = description;
  const meant = definitionIn(description);
  const definition = { ...meant, sheet: shownAddress(meant.sheet) };
  return {
    name,
    definition,
    isPaused: state.paused,
    ...(state.paused && state.note ? { note: state.note } : {}),
    nextTimes: info.nextActionTimes,
    firings: await Promise.all(
      info.recentActions.map(({ takenAt, action }) =>
        readFiring(client, name, { takenAt, ...action.workflow }),
      ),
    ),
    counts: {
      fired: info.numActionsTaken,
      missed: info.numActionsMissedCatchupWindow,
      skipped: info.numActionsSkippedOverlap,
    },
  };
}

async function namesOf({ schedule }: Client): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { scheduleId } of schedule.list()) {
    const name = scheduleOf(scheduleId);
    if (name !== undefined) names.push(name);
  }
  return names.toSorted();
}

type Triggering = {
  readonly client: Client;
  readonly name: string;
  readonly handle: TemporalHandle;
  readonly tickets: TicketFolder | undefined;
};

/** Temporal's clock, which sets the time of the firing, may differ from ours. */
const ALLOWED_MS = 60_000;
const POLL_MS = 100;
const POLLED_FOR_MS = 10_000;

/** Fires once, under the overlap policy. Returns no name if the firing is left out or waits. */
async function triggerNow({ name, handle, tickets }: Triggering): Promise<readonly string[]> {
  const before = await handle.describe();
  const earlier = new Set(before.info.recentActions.map(({ action }) => action.workflow.workflowId));
  const now = Date.now();
  tickets?.allow(name, { from: now - ALLOWED_MS, to: now + ALLOWED_MS, isOnRule: false });
  // Without the policy, a trigger would start a firing beside the one that runs.
  await handle.trigger(OVERLAP[definitionIn(before).overlap]);
  for (const until = Date.now() + POLLED_FOR_MS; Date.now() < until; await waitInCall(POLL_MS)) {
    const { info } = await handle.describe();
    const ids = info.recentActions.map(({ action }) => action.workflow.workflowId);
    const fresh = ids.filter((id) => !earlier.has(id)).flatMap((id) => nominalTimeOf(name, id) ?? []);
    if (fresh.length > 0) return fresh.map((time) => batchNameAt(name, time));
    if (info.numActionsSkippedOverlap > before.info.numActionsSkippedOverlap) return [];
  }
  return [];
}

const MAX_TIMES = 1_000;

async function triggerBetween(
  { client, name, handle, tickets }: Triggering,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly string[]> {
  const times = await matchingTimes(client, name, from, to);
  if (times.length > MAX_TIMES)
    throw problem('E602', {
      what: `the rule has ${times.length} times between --from and --to`,
      hint: `fire at most ${MAX_TIMES} with one command`,
    });
  if (times.length === 0) return [];
  tickets?.allow(name, { from: from.getTime(), to: to.getTime(), isOnRule: true });
  // Temporal excludes the start.
  const start = new Date(from.getTime() - 1);
  await handle.backfill({ start, end: to, overlap: 'BUFFER_ALL' });
  return times.map((time) => batchNameAt(name, time.getTime()));
}

/** The times of a schedule between two times, both included, as Temporal lists them. */
export async function matchingTimes(
  { workflowService, options }: Client,
  name: string,
  from: Date,
  to: Date,
): Promise<readonly Date[]> {
  const timestamp = (time: Date) => ({
    seconds: Math.floor(time.getTime() / 1_000) as unknown as Long,
    nanos: (time.getTime() % 1_000) * 1_000_000,
  });
  const { startTime } = await workflowService.listScheduleMatchingTimes({
    namespace: options.namespace,
    scheduleId: scheduleIdOf(name),
    startTime: timestamp(new Date(from.getTime() - 1)),
    endTime: timestamp(to),
  });
  return startTime.map(({ seconds }) => new Date(Number(seconds) * 1_000));
}

type Long = NonNullable<
  NonNullable<Parameters<Client['workflowService']['listScheduleMatchingTimes']>[0]['startTime']>['seconds']
>;
