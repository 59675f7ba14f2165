// started.json: the workflow run that owns a batch, and the holder of that run (R20, R36). The file is the fence
// between executions: only the execution that it names may send, write or cancel, and it reads the file again before
// each lease.
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
  /** The first workflow run of the owning execution; empty names if the batch never started and is being rebuilt. */
  workflow: z.object({ workflowId: z.string(), runId: z.string() }),
  /** The holder that runs the batch; absent in files of earlier versions. */
  holder: holderSchema.exactOptional(),
  /** A command that rebuilds the batch for another execution. */
  rebuilding: z
    .object({
      /** The id of the latest command that rebuilds. */
      id: z.string(),
      holder: holderSchema,
      /** Since when nobody sends: for each machine by its own clock, and by that of the service if it shows one. */
      since: z.array(z.object({ host: z.string(), now: z.number(), serviceNow: z.number().exactOptional() })),
    })
    .exactOptional(),
  /** The pass of the rebuild with which this execution began: it counts the parts before it (src/results/parts-seal.ts). */
  rebuiltPass: z.number().int().positive().exactOptional(),
  /** The rebuild that was taken back last: a late write in S3 must not restore earlier content of the file. */
  takenBack: z.string().exactOptional(),
});

export type StartedFile = z.infer<typeof schema>;

/** undefined if the batch was not started. Throws E504 for an invalid started.json. */
export async function readStarted(store: Pick<Store, 'read' | 'location'>): Promise<StartedFile | undefined> {
  return startedIn(store, await store.read(STARTED_FILE));
}

function startedIn({ location }: Pick<Store, 'location'>, text: string | undefined): StartedFile | undefined {
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data;
  throw problem('E504', { what: `${location}/${STARTED_FILE} is not one of this version` });
}

/** Creates started.json; false if the batch was started before. */
export const createStarted = (store: Store, started: StartedFile): Promise<boolean> =>
  store.create(STARTED_FILE, textOf(started));

type HeldRun = Pick<StartedFile, 'workflow' | 'holder'>;

/** Gives an ended batch to another workflow run. `newest` is called after the current file was read. */
export const replaceStarted = (store: Store, newest: () => Promise<HeldRun>): Promise<void> =>
  changeStarted(store, async (before) => heldBy(before, await newest()));

const heldBy = (before: StartedFile | undefined, run: HeldRun): StartedFile => {
  const { holder: _, rebuilding: __, ...kept } = before ?? { at: new Date().toISOString() };
  return { ...kept, ...run };
};

/** A moment by the clock of this machine, and by that of the service if it shows one. */
export type ServiceMoment = { readonly now: number; readonly serviceNow?: number | undefined };

type Announcement = {
  readonly id: string;
  readonly at: ServiceMoment;
  readonly holder: Holder;
  /** Whether a sender may have been active since an earlier announcement of this machine. */
  readonly afresh: boolean;
};

/** Machines whose waits are remembered. */
const MAX_HOSTS = 16;

/**
 * Announces a rebuild, so that nobody sends; returns since when, for this machine. Several commands may wait for the
 * same quiet period, and none lengthens the wait of another.
 */
export async function announceRebuild(
  store: Store,
  { id, at, holder, afresh }: Announcement,
): Promise<ServiceMoment> {
  const { host } = holder;
  let since = at;
  await changeStarted(store, (before) => {
    const announced = before?.rebuilding?.since ?? [];
    const own = announced.find((announcement) => announcement.host === host);
    since = !afresh && own !== undefined && isReached(own, at) ? own : at;
    const foreign = announced.filter((announcement) => announcement.host !== host).slice(1 - MAX_HOSTS);
    const { now, serviceNow } = since;
    const rebuilding = { id, holder, since: [...foreign, { host, now, ...definedOnly({ serviceNow }) }] };
    return { ...(before ?? { at: new Date(at.now).toISOString(), workflow: NEVER_STARTED }), rebuilding };
  });
  return since;
}

/** A clock that shows an earlier time was set back, so it cannot measure the elapsed time. */
const isReached = (since: ServiceMoment, at: ServiceMoment): boolean =>
  since.now <= at.now &&
  (since.serviceNow === undefined || at.serviceNow === undefined || since.serviceNow <= at.serviceNow);

/** Whether the batch goes on from a rebuild. */
export const isRebuilt = async (store: Pick<Store, 'read' | 'location'>): Promise<boolean> =>
  (await readStarted(store))?.rebuiltPass !== undefined;

const NEVER_STARTED: Execution = { workflowId: '', runId: '' };

/** Whether the file exists only because the batch is being rebuilt. */
export const isNeverStarted = ({ workflow }: StartedFile): boolean => isSameRun(workflow, NEVER_STARTED);

/**
 * Gives the batch to the workflow run that continues it with the pass of its rebuild; false if another command
 * rebuilds it now, or the rebuild was taken back.
 */
export async function enterRebuilt(store: Store, id: string, run: HeldRun, pass: number): Promise<boolean> {
  let isEntered = false;
  await changeStarted(store, (before) => {
    const isOurs = before?.rebuilding?.id === id;
    isEntered = isOurs || (before !== undefined && isSameRun(before.workflow, run.workflow));
    return isOurs ? { ...heldBy(before, run), rebuiltPass: pass } : undefined;
  });
  return isEntered;
}

/**
 * Ends a rebuild on behalf of the execution that still owns the batch, or only the rebuild with this id; false if the
 * batch is being rebuilt nevertheless, or another execution owns it.
 */
export async function takeBack(store: Store, workflow: Execution, id?: string): Promise<boolean> {
  let isHeld = false;
  await changeStarted(store, (before) => {
    const { rebuilding, ...kept } = before ?? {};
    const isOwn = before !== undefined && isSameRun(before.workflow, workflow);
    isHeld = isOwn && (id === undefined || rebuilding === undefined || rebuilding.id === id);
    return isHeld && rebuilding !== undefined
      ? ({ ...kept, takenBack: rebuilding.id } as StartedFile)
      : undefined;
  });
  return isHeld;
}

export const isSameRun = (a: Execution, b: Execution): boolean =>
  a.workflowId === b.workflowId && a.runId === b.runId;

type Change = (before: StartedFile | undefined) => StartedFile | undefined | Promise<StartedFile | undefined>;

const changeStarted = (store: Store, change: Change): Promise<void> =>
  store.update(STARTED_FILE, async (text) => {
    const next = await change(startedIn(store, text));
    return next && textOf(next);
  });

const textOf = (started: StartedFile): string => `${JSON.stringify(started)}\n`;
