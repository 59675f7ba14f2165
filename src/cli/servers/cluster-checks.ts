// Checks the workers and receivers of a cluster for `doctor --cluster` by asking each of them.

import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { membersQueueOf, TASK_QUEUE } from '../../../workflows/task-queues.ts';
import { list, problem, RunsheetError, errorMessage } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { fetchOutside } from '../../host/http/outgoing.ts';
import type { Config } from '../../host/settings/config.ts';
import { undeliveredNotices } from '../../library/handle/undelivered-notices.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { connectClient } from '../../temporal/connect.ts';
import { clientConverter } from '../../temporal/encryption/converter.ts';
import { payloadKeys } from '../../temporal/encryption/payload-keys.ts';
import { checkWorkerKeys, readWorkerKeys } from '../../temporal/encryption/worker-keys.ts';
import {
  askMembers,
  type WorkerDeployment,
  type MemberAnswer,
  type Members,
} from '../../temporal/cluster-members.ts';
import type { Malformed } from '../../temporal/member-answers.ts';
import { temporalFrom, type TemporalAddress } from '../../temporal/temporal-address.ts';
import { plural, span } from '../../options/text/printed-numbers.ts';

/** Batches tolerate different clocks, but a clock this far off points to a machine that needs attention. */
const CLOCK_MS = 5_000;
const RECEIVER_MS = 5_000;

/** Never throws: a failure to ask is a finding too. */
export async function clusterFindings(config: Config): Promise<readonly ClusterFinding[]> {
  const at = temporalFrom(config.environment);
  const findings: ClusterFinding[] = [];
  if (at === undefined) return findings;
  const stopped = await finding('members', async () => {
    for await (const result of findingsAt(config, at)) findings.push(result);
    return '';
  });
  return stopped.ok ? findings : [...findings, stopped];
}

async function* findingsAt(config: Config, at: TemporalAddress): AsyncGenerator<ClusterFinding> {
  const keys = payloadKeys(config, 'cluster');
  const queue = config.taskQueue ?? TASK_QUEUE;
  await using connected = await connectClient(at, clientConverter(keys));
  const { client } = connected;
  // Workers with other keys cannot be asked.
  yield await finding('payload keys', async () => {
    const workerKeys = await readWorkerKeys(client, at, membersQueueOf(queue), keys, 'activity');
    checkWorkerKeys(workerKeys, at, keys, 'any');
    return 'the same everywhere';
  });
  const encrypted = keys.keys.length > 0;
  const members = await withFile(openStore(config.out), (file) =>
    askMembers(client, queue, { file, encrypted }),
  );
  yield* await findingsOf(members, config, at);
}

/** Writes a file by which members recognize this command's place of batches. */
async function withFile<T>(batches: Store, work: (file: string) => Promise<T>): Promise<T> {
  const file = `.doctor-${randomUUID()}`;
  await batches.write(file, '');
  try {
    return await work(file);
  } finally {
    await batches.remove(file);
  }
}

async function findingsOf(
  { answers, malformed, silent, others, deployments, fault }: Members,
  config: Config,
  { address }: TemporalAddress,
): Promise<readonly ClusterFinding[]> {
  const members = [...answers].sort((a, b) => (a.identity < b.identity ? -1 : 1));
  return [
    await finding('members', async () => {
      if (fault !== undefined) throw new Error(`they could not be asked: ${fault}`);
      const workers = members.filter(({ works }) => works).length + others.length;
      const taskQueue = config.taskQueue ?? TASK_QUEUE;
      if (workers === 0) throw problem('E403', { taskQueue, address });
      const receivers = members.filter(({ receives }) => receives).length;
      return `${plural(workers, 'worker')}, ${plural(receivers, 'receiver')}`;
    }),
    ...members.map((member) => memberFinding(member, config)),
    ...malformed.map(malformedFinding),
    ...silent.map(silentFinding),
    ...others.map(otherFinding),
    ...versionFindings(members),
    ...secretFindings(members),
    ...(await receiverFindings(members, config)),
    ...deployments.map(deploymentFinding),
    ...(await noticeFindings(config)),
  ];
}

/** `312@node-a`. */
const nameOf = (identity: string): string => identity.split(' ')[0] ?? identity;

function memberFinding(member: MemberAnswer, { out }: Config): ClusterFinding {
  const { identity, version, works, receives, clockMs, deployment } = member;
  const part = nameOf(identity);
  const facts = [
    [works && 'worker', receives && 'receiver'].filter(Boolean).join(' and '),
    `runsheet ${version}`,
    ...(deployment === undefined ? [] : [`build ${deployment.name} ${deployment.build}`]),
    `clock ${(clockMs / 1_000).toFixed(1)} s`,
    `batches in ${member.out}`,
    ...(works && member.programs.length > 0 ? [`may start ${member.programs.join(' and ')}`] : []),
  ].join(', ');
  const fault = memberFault(member, out);
  return fault === undefined ? good(part, facts) : { part, ok: false, ...fault };
}

const good = (part: string, message: string): ClusterFinding => ({ part, ok: true, message });
const bad = (part: string, message: string, hint: string): ClusterFinding => ({
  part,
  ok: false,
  message,
  hint,
});

function memberFault(
  { clockMs, storeFault, sees, out: memberOut }: MemberAnswer,
  out: string,
): Pick<ClusterFinding, 'message' | 'hint'> | undefined {
  if (storeFault !== undefined)
    return {
      message: `it cannot read and write ${memberOut}: ${storeFault}`,
      hint: 'correct RUNSHEET_OUT or the rights of its user there, then restart it',
    };
  if (!sees)
    return {
      message: `it keeps its batches in ${memberOut}, but this command uses ${out}`,
      hint: `give all members and commands the same: RUNSHEET_OUT=${shellWord(out)} runsheet worker`,
    };
  if (Math.abs(clockMs) <= CLOCK_MS) return undefined;
  return {
    message: `its clock is ${span(Math.abs(clockMs) / 1_000)} ${clockMs > 0 ? 'ahead of' : 'behind'} that of Temporal`,
    hint: 'synchronize it, for example with: timedatectl set-ntp true',
  };
}

/** A newer release may answer in another format. */
const malformedFinding = ({ identity, reason }: Malformed): ClusterFinding =>
  bad(
    identity === undefined ? 'a member' : nameOf(identity),
    `its answer cannot be read: ${reason}`,
    'give it the release of the others, or stop it; if it is unknown, check who may use the namespace',
  );

/** Temporal still lists a worker for a minute after it ended, as after every upgrade, and drops one that hangs. */
const silentFinding = (identity: string): ClusterFinding =>
  good(nameOf(identity), 'gives no answer: it has ended in the last minute, or hangs');

const otherFinding = (identity: string): ClusterFinding =>
  good(nameOf(identity), 'worker of an application, or of a release that answers no questions');

/** A batch that the newest release started waits for a worker of that release. */
function versionFindings(members: readonly MemberAnswer[]): readonly ClusterFinding[] {
  const workers = members.filter(({ works }) => works);
  const counts = Map.groupBy(members, ({ version }) => version);
  const message = [...counts].map(([version, some]) => `${version} (${some.length})`).join(', ');
  const newest = Math.max(...workers.map(({ writes }) => writes));
  const old = workers.filter(({ reads }) => reads < newest).map(({ identity }) => nameOf(identity));
  if (members.length === 0) return [];
  if (old.length === 0) return [good('versions', message)];
  return [
    bad(
      'versions',
      `${message}: ${list(old)} cannot continue the batches that newer workers start`,
      'upgrade them, or stop them with SIGTERM; the batches wait for the others meanwhile',
    ),
  ];
}

function secretFindings(members: readonly MemberAnswer[]): readonly ClusterFinding[] {
  const bySecret = Map.groupBy(members, ({ webhookSecret }) => webhookSecret);
  const part = 'webhook secret';
  if (!members.some(({ receives }) => receives)) return [];
  if (bySecret.size === 1) return [good(part, 'the same everywhere')];
  const groups = [...bySecret.values()].map((some) => list(some.map(({ identity }) => nameOf(identity))));
  return [
    bad(
      part,
      `${groups.join(' have a different one from ')}: webhooks that reach the wrong receiver are refused, and their runs polled`,
      'set the same RUNSHEET_WEBHOOK_SECRET or RUNSHEET_WEBHOOK_SECRET_FILE for all of them; create one with: openssl rand -hex 32',
    ),
  ];
}

async function receiverFindings(
  members: readonly MemberAnswer[],
  { webhook }: Config,
): Promise<readonly ClusterFinding[]> {
  const { url } = webhook;
  if (url === undefined) return [];
  const receiver = await finding('receivers', async () => {
    if (members.length > 0 && !members.some(({ receives }) => receives))
      throw problem('E602', {
        what: `RUNSHEET_WEBHOOK_URL is ${url}, but no process receives webhooks`,
        hint: 'start one: runsheet worker --receiver-only',
      });
    const { status } = await fetchOutside(`${url}/hook/1/`, { signal: AbortSignal.timeout(RECEIVER_MS) });
    // Only a receiver answers 410, for webhook addresses of old batches.
    if (status !== 410) throw new Error(`${url} answers ${status}, so something else listens there`);
    return `${url} answers`;
  });
  return [receiver];
}

const NOTICES_WITHIN_MS = 24 * 3_600_000;
/** Only the newest batches are read, because years of them would take long. */
const MAX_BATCHES = 50;

/** Reports notifications of the last day that were not delivered. */
async function noticeFindings({ out }: Config): Promise<readonly ClusterFinding[]> {
  const part = 'notifications';
  const batches = (await listBatchFolders(out, () => undefined)).slice(0, MAX_BATCHES);
  const undelivered = await pMap(
    batches,
    // Unreadable folders are reported by other commands.
    async ({ batch, store }) =>
      (await undeliveredNotices(store).catch(() => [])).map((notice) => ({ batch, ...notice })),
    { concurrency: 8 },
  );
  const recent = undelivered.flat().filter(({ at }) => Date.now() - at < NOTICES_WITHIN_MS);
  const newest = recent.toSorted((a, b) => b.at - a.at)[0];
  if (newest === undefined) return [];
  const { batch, notice, reason } = newest;
  return [
    bad(
      part,
      `${plural(recent.length, 'notification')} of the last day reached nobody; the newest: ${terminalLine(batch)}: ${terminalLine(notice)}: ${terminalLine(reason)}`,
      'correct what the reason names where the workers run, and restart them',
    ),
  ];
}

function deploymentFinding({ name, builds, current }: WorkerDeployment): ClusterFinding {
  const part = `deployment ${name}`;
  if (current !== undefined && builds.includes(current)) return good(part, `its current build is ${current}`);
  const newest = builds.at(-1) ?? '';
  return bad(
    part,
    current === undefined
      ? `it has no current build, so its workers get no tasks`
      : `no worker of its current build ${current} is running, so batches wait`,
    `make a running build current: temporal worker deployment set-current-version --deployment-name ${shellWord(name)} --build-id ${shellWord(newest)} --yes`,
  );
}

export type ClusterFinding = {
  readonly part: string;
  readonly ok: boolean;
  readonly message: string;
  readonly hint?: string;
};

export async function finding(part: string, check: () => Promise<string>): Promise<ClusterFinding> {
  try {
    return { part, ok: true, message: await check() };
  } catch (error) {
    const hint = error instanceof RunsheetError && error.hint ? { hint: error.hint } : {};
    return { part, ok: false, message: errorMessage(error), ...hint };
  }
}
