// Makes, reads and changes pools: workflows that share slots between batches (workflows/pool-workflow.ts). Their memo shows their state.

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { runsheetPool } from '../../workflows/pool-workflow.ts';
import { poolIdOf, releaseMember, resizePool, type PoolMemo } from '../../workflows/signals.ts';
import { TASK_QUEUE } from '../../workflows/task-queues.ts';
import { WORKFLOW_TASK_MS } from '../batch/bounds.ts';
import type { ShownMember, ShownPool } from '../batch/pool/pool-step.ts';
import { correctionOf, nearest, problem } from '../errors/error.ts';
import { waitInCall } from '../host/call-signal.ts';
import { batchNameOf, workflowIdOf } from '../batch/workflow-ids.ts';
import { undefinedIfGone } from './client-errors.ts';

export type PoolMember = Omit<ShownMember, 'member'> & {
  readonly batch: string;
  readonly mark: string;
};

export type Pool = Omit<ShownPool, 'members' | 'commands'> & { readonly members: readonly PoolMember[] };

export type Pools = ReturnType<typeof openPools>;

const CONFIRMED_MS = 20_000;
const READ_AGAIN_MS = 50;

/** `reach` returns the current client; `encrypted`: the client encrypts. */
export function openPools(reach: () => Client, taskQueue: string = TASK_QUEUE, encrypted = false) {
  const find = (name: string): Promise<ShownPool | undefined> => read(reach(), name);

  const list = async (): Promise<readonly Pool[]> => {
    const query = "WorkflowType = 'runsheetPool' AND ExecutionStatus = 'Running'";
    const pools: Pool[] = [];
    for await (const { workflowId } of reach().workflow.list({ query })) {
      const shown = await find(workflowId.slice(poolIdOf('').length));
      if (shown !== undefined) pools.push(poolOf(shown));
    }
    return pools.toSorted((a, b) => (a.pool < b.pool ? -1 : 1));
  };

  /** Throws E540 if there is no such pool. */
  const show = async (name: string): Promise<Pool> => {
    const shown = await find(name);
    if (shown !== undefined) return poolOf(shown);
    const names = (await list()).map(({ pool }) => pool);
    const near = nearest(name, names);
    throw problem('E540', { pool: name, known: names, near }, { correction: correctionOf(name, near) });
  };

  return {
    list,
    show,

    /** Makes the pool, or changes its size. Throws E543 if no worker confirms it in time. */
    set: async (name: string, { size }: { readonly size: number }): Promise<Pool> => {
      const commandId = randomUUID();
      await reach().workflow.signalWithStart<typeof runsheetPool, [{ commandId: string; size: number }]>(
        'runsheetPool',
        {
          workflowId: poolIdOf(name),
          taskQueue,
          workflowTaskTimeout: WORKFLOW_TASK_MS,
          args: [{ pool: name }],
          ...(encrypted ? { memo: { encrypted } } : {}),
          staticSummary: `pool ${name}`,
          signal: resizePool,
          signalArgs: [{ commandId, size }],
        },
      );
      return confirmed(() => find(name), name, commandId);
    },

    /**
     * Frees the slots of a batch that was terminated: its user knows that none of its runs is left. Throws E541 if
     * the batch is not in the pool, E542 if it still runs.
     */
    release: async (name: string, batch: string): Promise<Pool> => {
      const { members } = await show(name);
      const poolMember = members.find((candidate) => candidate.batch === batch);
      if (poolMember === undefined)
        throw problem('E541', { pool: name, batch, members: members.map((candidate) => candidate.batch) });
      const member = workflowIdOf(poolMember);
      const described = await reach().workflow.getHandle(member).describe().catch(undefinedIfGone);
      if (described?.status.name === 'RUNNING') throw problem('E542', { pool: name, batch });
      const commandId = randomUUID();
      await reach().workflow.getHandle(poolIdOf(name)).signal(releaseMember, { commandId, member });
      return confirmed(() => find(name), name, commandId);
    },
  };
}

/** undefined if no such pool is running. */
async function read(client: Client, name: string): Promise<ShownPool | undefined> {
  const described = await client.workflow.getHandle(poolIdOf(name)).describe().catch(undefinedIfGone);
  if (described?.status.name !== 'RUNNING') return undefined;
  return (described.memo as PoolMemo | undefined)?.pool ?? nothingYet(name);
}

/** The state of a pool whose first workflow task was not done yet. */
const nothingYet = (pool: string): ShownPool => ({
  pool,
  size: 0,
  batches: 0,
  used: 0,
  charged: 0,
  members: [],
  commands: [],
});

async function confirmed(find: () => Promise<ShownPool | undefined>, pool: string, commandId: string) {
  for (const until = Date.now() + CONFIRMED_MS; Date.now() < until; await waitInCall(READ_AGAIN_MS)) {
    const shown = await find();
    if (shown?.commands.includes(commandId)) return poolOf(shown);
  }
  throw problem('E543', { pool, seconds: CONFIRMED_MS / 1_000 });
}

function poolOf(shown: ShownPool): Pool {
  const { members, commands: _, ...pool } = shown;
  const named = members.map(({ member, ...usage }) => ({
    ...(batchNameOf(member) ?? { batch: member, mark: '' }),
    ...usage,
  }));
  return { ...pool, members: named };
}
