// Finds the workers and receivers of a cluster: Temporal lists who polls its task queues, and each member answers a question.

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { MemberAnswer, runsheetMembers } from '../../workflows/members.ts';
import { membersQueueOf } from '../../workflows/task-queues.ts';
import { isRefusedAs } from './client-errors.ts';
import { pollersOf } from './encryption/worker-keys.ts';
import { readAnswers, type ReadAnswers } from './member-answers.ts';
import { errorMessage } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';

const { WORKER_VERSIONING_MODE_VERSIONED } = proto.temporal.api.enums.v1.WorkerVersioningMode;

/** A poll lasts a minute at most, so a process without a poll in this time has ended. */
export const POLLED_MS = 75_000;
/** Further questions, for members that begin to poll meanwhile. */
const SPARE = 4;
const MAX_MEMBERS = 500;
const ANSWER_WITHIN = '20s';

export type { MemberAnswer };

export type Members = ReadAnswers & {
  /** The identities of members that poll but gave no answer. */
  readonly silent: readonly string[];
  /** The identities of workers that take no question: of applications, or of an older release. */
  readonly others: readonly string[];
  /** The Worker Deployments of workers, with their builds. */
  readonly deployments: readonly WorkerDeployment[];
  /** The reason why no member could be asked. */
  readonly fault?: string;
};

export type WorkerDeployment = {
  readonly name: string;
  readonly builds: readonly string[];
  /** The build that gets the tasks. */
  readonly current: string | undefined;
};

/** `file`: exists beside the batches. `encrypted`: the client encrypts. */
export async function askMembers(
  client: Client,
  queue: string,
  { file, encrypted }: { readonly file: string; readonly encrypted: boolean },
): Promise<Members> {
  const [workers, members] = await Promise.all([
    recentPollers(client, queue, 'workflow'),
    membersOf(client, queue),
  ]);
  // A worker that was killed may be listed for one queue only.
  const pollers = identitiesIn(workers);
  const nonMembers = pollers.filter((identity) => !isMember(identity) && !members.includes(identity));
  const deployments = await deploymentsOf(client, workers);
  const asking =
    members.length === 0
      ? { answers: [], malformed: [] }
      : await ask(client, queue, members.length, { file, encrypted });
  const answered = new Set([...asking.answers, ...asking.malformed].map(({ identity }) => identity));
  const silent = [...new Set([...members, ...pollers.filter(isMember)])].filter(
    (identity) => !answered.has(identity),
  );
  return { ...asking, silent: silent.sort(), others: nonMembers, deployments };
}

export const membersOf = async (client: Client, queue: string): Promise<readonly string[]> =>
  identitiesIn(await recentPollers(client, membersQueueOf(queue), 'activity'));

/** A word in the identity of every process that takes questions. */
export const MEMBER = 'runsheet/';
const isMember = (identity: string): boolean => identity.includes(` ${MEMBER}`);

type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

/** The identities, without control characters that a terminal would obey: a member chooses its own name. */
const identitiesIn = (pollers: readonly Poller[]): readonly string[] =>
  [...new Set(pollers.map(({ identity }) => terminalLine(identity ?? '')))].sort();

async function recentPollers(client: Client, queue: string, type: 'workflow' | 'activity') {
  const pollers = await pollersOf(client, client.options.namespace, queue, type);
  return pollers.filter(
    ({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < POLLED_MS,
  );
}

async function deploymentsOf(
  client: Client,
  pollers: readonly Poller[],
): Promise<readonly WorkerDeployment[]> {
  const builds = new Map<string, Set<string>>();
  for (const { deploymentOptions } of pollers) {
    const { deploymentName: name, buildId, workerVersioningMode } = deploymentOptions ?? {};
    // Unversioned workers may name a deployment too, but get tasks without it.
    if (name && workerVersioningMode === WORKER_VERSIONING_MODE_VERSIONED)
      builds.set(name, (builds.get(name) ?? new Set()).add(buildId ?? ''));
  }
  return Promise.all(
    [...builds].map(async ([name, buildIds]) => ({
      name,
      builds: [...buildIds].sort(BY_VERSION.compare),
      current: await currentBuild(client, name),
    })),
  );
}

/** Sorts versions by number: 0.10.0 is newer than 0.9.0. */
const BY_VERSION = new Intl.Collator('en', { numeric: true });

async function currentBuild(client: Client, deploymentName: string): Promise<string | undefined> {
  const { namespace } = client.options;
  try {
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId || undefined;
  } catch (error) {
    // Anyone who polls may name a deployment that does not exist.
    if (isRefusedAs(error, '5 NOT_FOUND')) return undefined;
    throw error;
  }
}

async function ask(
  client: Client,
  queue: string,
  members: number,
  { file, encrypted }: { readonly file: string; readonly encrypted: boolean },
): Promise<ReadAnswers & Pick<Members, 'fault'>> {
  try {
    const answers = await client.workflow.execute<typeof runsheetMembers>('runsheetMembers', {
      workflowId: `runsheet-members:${randomUUID()}`,
      taskQueue: queue,
      workflowExecutionTimeout: ANSWER_WITHIN,
      args: [{ members: Math.min(members + SPARE, MAX_MEMBERS), file }],
      ...(encrypted ? { memo: { encrypted } } : {}),
      staticSummary: 'runsheet doctor --cluster',
    });
    return readAnswers(answers);
  } catch (error) {
    return { answers: [], malformed: [], fault: errorMessage(error) };
  }
}
