// The workflow of a pool: turns signals into events of `src/batch/pool`, and grants into signals to batches. There
// are no activities: a grant that cannot be delivered shows that a batch has ended.

import {
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { CLOCK_IDLE_MS, CONTINUE_AT_EVENTS } from '../src/batch/bounds.ts';
import { newPool, type PoolState } from '../src/batch/pool/pool-state.ts';
import {
  poolDueAt,
  poolStep,
  type MemberGrant,
  type PoolEvent,
  shownPool,
} from '../src/batch/pool/pool-step.ts';
import { releaseMember, resizePool, usage, grantSlots } from './signals.ts';
import { createTimers } from './batch-runtime.ts';

/** How many grants of a pool are on their way at the same time. */
export const POOL_GRANTS_IN_FLIGHT = 50;

/** The minimum time between two publications of a pool. */
const POOL_PUBLISH_MS = 1_000;

type PoolInput = {
  readonly pool: string;
  /** Set by continue-as-new. */
  readonly state?: PoolState;
  /** Members that the previous workflow run did not reach. */
  readonly untold?: readonly string[];
};

/** Shares slots between batches, until a user terminates the workflow. */
export async function runsheetPool({
  pool,
  state = newPool(pool, Date.now()),
  untold: undelivered,
}: PoolInput): Promise<never> {
  const events: PoolEvent[] = [{ type: 'started', ...(undelivered && { undelivered }) }];
  const delivery = createDelivery(async (grant) => {
    const event = await delivered(grant);
    if (event !== undefined) events.push(event);
  });
  const publish = publisher(state);
  const wake = createTimers({ now: () => Date.now(), sleep });
  setHandler(usage, (report) => void events.push({ type: 'usage', usage: report }));
  setHandler(resizePool, (command) => void events.push({ type: 'resize', ...command }));
  setHandler(releaseMember, (command) => void events.push({ type: 'release', ...command }));

  for (;;) {
    const due = events.splice(0);
    delivery.send(poolStep(state, due, Date.now()));
    const publishAt = publish(due.some(({ type }) => type === 'resize' || type === 'release'));
    if (isLong()) return continueAsNew(state, delivery.undelivered());
    const afterMs = Math.min(CLOCK_IDLE_MS, Math.min(publishAt, poolDueAt(state)) - Date.now());
    void wake(Math.max(1, afterMs)).then((event) => event && events.push({ type: 'woke' }));
    await condition(() => events.length > 0);
  }
}

/** Whether the history is long. Grants that are on their way may be lost: the next workflow run repeats them. */
const isLong = (): boolean =>
  workflowInfo().historyLength >= CONTINUE_AT_EVENTS || workflowInfo().continueAsNewSuggested;

function continueAsNew(state: PoolState, undelivered: readonly string[]): Promise<never> {
  const memo = { ...workflowInfo().memo, pool: shownPool(state) };
  return makeContinueAsNewFunc<typeof runsheetPool>({ memo })({
    pool: state.name,
    state,
    untold: undelivered,
  });
}

async function delivered({ member, number, grant }: MemberGrant): Promise<PoolEvent | undefined> {
  try {
    await getExternalWorkflowHandle(member).signal(grantSlots, grant);
    return undefined;
  } catch {
    return { type: 'notRunning', member, life: grant.life, number };
  }
}

/** Writes changes into the memo, at most once a second unless a command waits; returns when the next one is due. */
function publisher(state: PoolState): (isCommand: boolean) => number {
  let publishedAt = 0;
  let published = '';
  return (isCommand) => {
    const shown = shownPool(state);
    const text = JSON.stringify(shown);
    if (text === published) return Number.POSITIVE_INFINITY;
    const now = Date.now();
    // The clock may have been set back.
    const isSoon = now >= publishedAt && now < publishedAt + POOL_PUBLISH_MS;
    if (!isCommand && isSoon) return publishedAt + POOL_PUBLISH_MS;
    upsertMemo({ pool: shown });
    [publishedAt, published] = [now, text];
    return Number.POSITIVE_INFINITY;
  };
}

/**
 * Delivers the grants of a pool: one at a time to each member, always the newest, and only some at the same time,
 * because the server bounds them and each is written into the history.
 */
export function createDelivery(deliver: (grant: MemberGrant) => Promise<void>) {
  const waiting = new Map<string, MemberGrant>();
  const inFlight = new Set<string>();
  const deliverTo = async (grant: MemberGrant): Promise<void> => {
    await deliver(grant);
    inFlight.delete(grant.member);
    next();
  };
  const next = (): void => {
    for (const [member, grant] of waiting) {
      if (inFlight.size >= POOL_GRANTS_IN_FLIGHT) return;
      if (inFlight.has(member)) continue;
      waiting.delete(member);
      inFlight.add(member);
      void deliverTo(grant);
    }
  };
  return {
    /** `deliver` must not fail. */
    send: (grants: readonly MemberGrant[]): void => {
      for (const grant of grants) waiting.set(grant.member, grant);
      next();
    },
    /** The members that may not have their newest grant. */
    undelivered: (): readonly string[] => [...new Set([...inFlight, ...waiting.keys()])],
  };
}
