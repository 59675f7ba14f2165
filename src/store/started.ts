// started.json: the workflow run that has a batch, and who has that (R20, R36). It is the fence between executions: only the one that
// it names may send, write or cancel, and it reads the file again before each lease.
//
//   (none) ──loadBatch──▶ held by A ──▶ A, being rebuilt by B ──the run of B is entered──▶ held by B
//                            ▲                  │  ▲  │
//                            └── A takes it back┘  └──┘ another command rebuilds it instead
//
// Nothing is sent while a batch is being rebuilt: neither by A, which sees it within its lease, nor by B, which is not entered yet.

import { z } from 'zod';
import type { Execution } from '../batch/workflow-ids.ts';
import { definedOnly } from '../options/defined-only.ts';
import { problem } from '../errors/error.ts';
import { jsonIn } from '../errors/outside-text.ts';
import { holderSchema, type Holder } from './holder.ts';
import type { Store } from './store.ts';

/** Written by the workflow's first activity: from then on, only Temporal knows what was sent. */
export const STARTED_FILE = 'started.json';

const schema = z.object({
  at: z.iso.datetime(),
  /** The time by the service's clock at that moment. */
  serviceNowMs: z.number().exactOptional(),
  /** The first workflow run of the execution that has the batch; empty names if it never started and is being rebuilt. */
  workflow: z.object({ workflowId: z.string(), runId: z.string() }),
  /** Who runs it; absent in files of earlier versions. */
  holder: holderSchema.exactOptional(),
  /** A command that rebuilds the batch for another execution. */
  rebuilding: z
    .object({
      /** Names the latest command that does this. */
      id: z.string(),
      holder: holderSchema,
      /** Since when nobody sends, for each machine by its own clock, and by that of the service if it shows one. */
      since: z.array(z.object({ host: z.string(), now: z.number(), serviceNow: z.number().exactOptional() })),
    })
    .exactOptional(),
  /** The pass of the rebuild with which this execution began: it counts the parts before it (src/results/parts-seal.ts). */
  rebuiltPass: z.number().int().positive().exactOptional(),
  /** The rebuild that was taken back last: a late write in S3 must not meet content that the file had before. */
  takenBack: z.string().exactOptional(),
});

export type Started = z.infer<typeof schema>;

/** undefined if the batch was not started. Throws E504 for an invalid started.json. */
export async function readStarted(store: Pick<Store, 'read' | 'location'>): Promise<Started | undefined> {
  return startedIn(store, await store.read(STARTED_FILE));
}

function startedIn({ location }: Pick<Store, 'location'>, text: string | undefined): Started | undefined {
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  throw problem('E504', { what: `${location}/${STARTED_FILE} is not one of this version` });
}

/** Creates started.json; false if the batch was started before. */
export const createStarted = (store: Store, started: Started): Promise<boolean> =>
  store.create(STARTED_FILE, textOf(started));

type Run = Pick<Started, 'workflow' | 'holder'>;

/** An ended batch continues in another workflow run. `newest` is asked for it after the present file was read. */
export const replaceStarted = (store: Store, newest: () => Promise<Run>): Promise<void> =>
  changeStarted(store, async (before) => heldBy(before, await newest()));

const heldBy = (before: Started | undefined, run: Run): Started => {
  const { holder: _, rebuilding: __, ...kept } = before ?? { at: new Date().toISOString() };
  return { ...kept, ...run };
};

/** A moment by the clock of this machine, and by that of the service if it shows one. */
export type Moment = { readonly now: number; readonly serviceNow?: number | undefined };

type Announcement = {
  readonly id: string;
  readonly at: Moment;
  readonly holder: Holder;
  /** Somebody may have sent since an earlier announcement of this machine. */
  readonly afresh: boolean;
};

/** Machines whose waits are remembered. */
const HOSTS_MOST = 16;

/**
 * Announces a rebuild, so that nobody sends; returns since when, for this machine. Several may wait for the same quiet period, and the
 * command of one does not lengthen that of another.
 */
export async function announceRebuild(
  store: Store,
  { id, at, holder, afresh }: Announcement,
): Promise<Moment> {
  const { host } = holder;
  let since = at;
  await changeStarted(store, (before) => {
    const known = before?.rebuilding?.since ?? [];
    const own = known.find((one) => one.host === host);
    since = !afresh && own !== undefined && isReached(own, at) ? own : at;
    const others = known.filter((one) => one.host !== host).slice(1 - HOSTS_MOST);
    const { now, serviceNow } = since;
    const rebuilding = { id, holder, since: [...others, { host, now, ...definedOnly({ serviceNow }) }] };
    return { ...(before ?? { at: new Date(at.now).toISOString(), workflow: NEVER_STARTED }), rebuilding };
  });
  return since;
}

/** A clock that shows an earlier time was set back, so it cannot tell how long ago that was. */
const isReached = (since: Moment, at: Moment): boolean =>
  since.now <= at.now &&
  (since.serviceNow === undefined || at.serviceNow === undefined || since.serviceNow <= at.serviceNow);

const NEVER_STARTED: Execution = { workflowId: '', runId: '' };

/** Whether the file is there only because the batch is being rebuilt. */
export const isNeverStarted = ({ workflow }: Started): boolean => isSameRun(workflow, NEVER_STARTED);

/**
 * Gives the batch to the workflow run that continues it with the pass of its rebuild; false if another command rebuilds it now, or it
 * was taken back.
 */
export async function enterRebuilt(store: Store, id: string, run: Run, pass: number): Promise<boolean> {
  let isEntered = false;
  await changeStarted(store, (before) => {
    const isOurs = before?.rebuilding?.id === id;
    isEntered = isOurs || (before !== undefined && isSameRun(before.workflow, run.workflow));
    return isOurs ? { ...heldBy(before, run), rebuiltPass: pass } : undefined;
  });
  return isEntered;
}

/**
 * Ends a rebuild for the execution that still has the batch, or only the one with this id; false if it is being rebuilt all the same,
 * or another execution has it.
 */
export async function takeBack(store: Store, workflow: Execution, id?: string): Promise<boolean> {
  let isHeld = false;
  await changeStarted(store, (before) => {
    const { rebuilding, ...kept } = before ?? {};
    const isOwn = before !== undefined && isSameRun(before.workflow, workflow);
    isHeld = isOwn && (id === undefined || rebuilding === undefined || rebuilding.id === id);
    return isHeld && rebuilding !== undefined
      ? ({ ...kept, takenBack: rebuilding.id } as Started)
      : undefined;
  });
  return isHeld;
}

export const isSameRun = (one: Execution, other: Execution): boolean =>
  one.workflowId === other.workflowId && one.runId === other.runId;

type Change = (before: Started | undefined) => Started | undefined | Promise<Started | undefined>;

const changeStarted = (store: Store, change: Change): Promise<void> =>
  store.update(STARTED_FILE, async (text) => {
    const next = await change(startedIn(store, text));
    return next && textOf(next);
  });

const textOf = (started: Started): string => `${JSON.stringify(started)}\n`;
