// Finds the workers and receivers of a cluster: Temporal lists who polls its task queues, and each member answers a question.

import { definedOnly } from '../options/defined-only.ts';
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { z } from 'zod';
import type { MemberAnswer, runsheetMembers } from '../../workflows/members.ts';
import { membersQueueOf } from '../../workflows/task-queues.ts';
import { isRefusedAs } from './client-errors.ts';
import { pollersOf } from './encryption/worker-keys.ts';
import { errorMessage } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';

const { WORKER_VERSIONING_MODE_VERSIONED } = proto.temporal.api.enums.v1.WorkerVersioningMode;

/** A poll lasts a minute at most, so who has polled no later has ended. */
export const POLLED_MS = 75_000;
/** For members that began to poll meanwhile. */
const SPARE = 4;
const MEMBERS_MOST = 500;
const ANSWER_WITHIN = '20s';

export type { MemberAnswer };

export type Members = ReadAnswers & {
  /** The identities of those that poll and gave no answer. */
  readonly silent: readonly string[];
  /** The identities of workers that take no question: of applications, or of an older release. */
  readonly others: readonly string[];
  /** The Worker Deployments of workers, with their builds. */
  readonly deployments: readonly Deployment[];
  /** Why no member could be asked. */
  readonly fault?: string;
};

export type Deployment = {
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
  // One that was killed may be listed for one queue only.
  const known = identitiesIn(workers);
  const others = known.filter((one) => !isMember(one) && !members.includes(one));
  const deployments = await deploymentsOf(client, workers);
  const asking =
    members.length === 0
      ? { answers: [], malformed: [] }
      : await ask(client, queue, members.length, { file, encrypted });
  const answered = new Set([...asking.answers, ...asking.malformed].map(({ identity }) => identity));
  const silent = [...new Set([...members, ...known.filter(isMember)])].filter((one) => !answered.has(one));
  return { ...asking, silent: silent.sort(), others, deployments };
}

export const membersOf = async (client: Client, queue: string): Promise<readonly string[]> =>
  identitiesIn(await recentPollers(client, membersQueueOf(queue), 'activity'));

/** A word in the identity of every process that takes questions. */
export const MEMBER = 'runsheet/';
const isMember = (identity: string): boolean => identity.includes(` ${MEMBER}`);

type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

/** Without what a terminal would obey: the name of a member is its own choice. */
const identitiesIn = (pollers: readonly Poller[]): readonly string[] =>
  [...new Set(pollers.map(({ identity }) => terminalLine(identity ?? '')))].sort();

async function recentPollers(client: Client, queue: string, type: 'workflow' | 'activity') {
  const pollers = await pollersOf(client, client.options.namespace, queue, type);
  return pollers.filter(
    ({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < POLLED_MS,
  );
}

async function deploymentsOf(client: Client, pollers: readonly Poller[]): Promise<readonly Deployment[]> {
  const builds = new Map<string, Set<string>>();
  for (const { deploymentOptions } of pollers) {
    const { deploymentName: name, buildId, workerVersioningMode } = deploymentOptions ?? {};
    // Others may only name one, and then get tasks without it.
    if (name && workerVersioningMode === WORKER_VERSIONING_MODE_VERSIONED)
      builds.set(name, (builds.get(name) ?? new Set()).add(buildId ?? ''));
  }
  return Promise.all(
    [...builds].map(async ([name, found]) => ({
      name,
      builds: [...found].sort(BY_VERSION.compare),
      current: await currentBuild(client, name),
    })),
  );
}

/** 0.10.0 is newer than 0.9.0. */
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
    // Anyone who polls may name a deployment that there is not.
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
    const all = await client.workflow.execute<typeof runsheetMembers>('runsheetMembers', {
      workflowId: `runsheet-members:${randomUUID()}`,
      taskQueue: queue,
      workflowExecutionTimeout: ANSWER_WITHIN,
      args: [{ members: Math.min(members + SPARE, MEMBERS_MOST), file }],
      ...(encrypted ? { memo: { encrypted } } : {}),
      staticSummary: 'runsheet doctor --cluster',
    });
    return readAnswers(all);
  } catch (error) {
    return { answers: [], malformed: [], fault: errorMessage(error) };
  }
}

// Every client of the namespace can answer, so each answer is checked alone: one that is malformed hides no other.

const TEXT_MOST = 5_000;
/** What a terminal can show. */
const text = z.string().max(TEXT_MOST).transform(terminalLine);

const answerSchema = z.object({
  identity: text,
  version: text,
  works: z.boolean(),
  receives: z.boolean(),
  deployment: z.object({ name: text, build: text }).optional(),
  webhookSecret: text,
  out: text,
  // Workers of an older release do not say.
  programs: z.array(text).default([]),
  reads: z.number(),
  writes: z.number(),
  clockMs: z.number(),
  sees: z.boolean(),
  storeFault: text.optional(),
});
const namedSchema = z.object({ identity: text });

export type Malformed = {
  /** undefined if not even its name can be read. */
  readonly identity: string | undefined;
  readonly reason: string;
};

type ReadAnswers = {
  readonly answers: readonly MemberAnswer[];
  readonly malformed: readonly Malformed[];
};

/** The last answer of each member; those that differ in more than their clock are of two members with one name. */
export function readAnswers(all: readonly unknown[]): ReadAnswers {
  const answers = new Map<string, MemberAnswer>();
  const malformed: Malformed[] = [];
  for (const one of all) {
    const { data, error } = answerSchema.safeParse(one);
    if (error === undefined) {
      answers.set(JSON.stringify({ ...data, clockMs: 0 }), definedOnly(data));
    } else malformed.push({ identity: namedSchema.safeParse(one).data?.identity, reason: reasonOf(error) });
  }
  return { answers: [...answers.values()], malformed };
}

/** `clockMs: Invalid input: expected number, received string`. */
const reasonOf = ({ issues: [first] }: z.ZodError): string =>
  terminalLine([first?.path.join('.'), first?.message].filter(Boolean).join(': '));
