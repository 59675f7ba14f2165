// What `doctor --cluster` finds out about the workers and receivers of a cluster, by asking each of them.

import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { membersQueueOf, TASK_QUEUE } from '../../../workflows/task-queues.ts';
import { list, problem, RunsheetError, errorMessage } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { fetchOutside } from '../../host/outgoing.ts';
import type { Config } from '../../host/config.ts';
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
  type Deployment,
  type Malformed,
  type MemberAnswer,
  type Members,
} from '../../temporal/cluster-members.ts';
import { temporalFrom, type TemporalAddress } from '../../temporal/temporal-address.ts';
import { plural } from '../format.ts';

/** Batches do not need equal clocks; a clock that is further off is a machine that needs care. */
const CLOCK_MS = 5_000;
const RECEIVER_MS = 5_000;

/** Never throws: what stops the questions is a finding too. */
export async function clusterFindings(config: Config): Promise<readonly Finding[]> {
  const at = temporalFrom(config.environment);
  const found: Finding[] = [];
  if (at === undefined) return found;
  const stopped = await finding('members', async () => {
    for await (const one of findingsAt(config, at)) found.push(one);
    return '';
  });
  return stopped.ok ? found : [...found, stopped];
}

async function* findingsAt(config: Config, at: TemporalAddress): AsyncGenerator<Finding> {
  const keys = payloadKeys(config, 'cluster');
  const queue = config.taskQueue ?? TASK_QUEUE;
  await using connected = await connectClient(at, clientConverter(keys));
  const { client } = connected;
  // Who has other keys cannot be asked.
  yield await finding('payload keys', async () => {
    const found = await readWorkerKeys(client, at, membersQueueOf(queue), keys, 'activity');
    checkWorkerKeys(found, at, keys, 'any');
    return 'the same everywhere';
  });
  const encrypted = keys.keys.length > 0;
  const members = await withFile(openStore(config.out), (file) =>
    askMembers(client, queue, { file, encrypted }),
  );
  yield* await findingsOf(members, config, at);
}

/** A file by which members recognize the place of the batches of this command. */
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
): Promise<readonly Finding[]> {
  const known = [...answers].sort((a, b) => (a.identity < b.identity ? -1 : 1));
  return [
    await finding('members', async () => {
      if (fault !== undefined) throw new Error(`they could not be asked: ${fault}`);
      const workers = known.filter(({ works }) => works).length + others.length;
      const taskQueue = config.taskQueue ?? TASK_QUEUE;
      if (workers === 0) throw problem('E403', { taskQueue, address });
      const receivers = known.filter(({ receives }) => receives).length;
      return `${plural(workers, 'worker')}, ${plural(receivers, 'receiver')}`;
    }),
    ...known.map((one) => memberFinding(one, config)),
    ...malformed.map(malformedFinding),
    ...silent.map(silentFinding),
    ...others.map(otherFinding),
    ...versionFindings(known),
    ...secretFindings(known),
    ...(await receiverFindings(known, config)),
    ...deployments.map(deploymentFinding),
    ...(await noticeFindings(config)),
  ];
}

/** `312@node-a`. */
const nameOf = (identity: string): string => identity.split(' ')[0] ?? identity;

function memberFinding(one: MemberAnswer, { out }: Config): Finding {
  const { identity, version, works, receives, clockMs, deployment } = one;
  const part = nameOf(identity);
  const facts = [
    [works && 'worker', receives && 'receiver'].filter(Boolean).join(' and '),
    `runsheet ${version}`,
    ...(deployment === undefined ? [] : [`build ${deployment.name} ${deployment.build}`]),
    `clock ${(clockMs / 1_000).toFixed(1)} s`,
    `batches in ${one.out}`,
    ...(works && one.programs.length > 0 ? [`may start ${one.programs.join(' and ')}`] : []),
  ].join(', ');
  const fault = memberFault(one, out);
  return fault === undefined ? good(part, facts) : { part, ok: false, ...fault };
}

const good = (part: string, message: string): Finding => ({ part, ok: true, message });
const bad = (part: string, message: string, hint: string): Finding => ({ part, ok: false, message, hint });

function memberFault(
  { clockMs, storeFault, sees, out: theirs }: MemberAnswer,
  out: string,
): Pick<Finding, 'message' | 'hint'> | undefined {
  if (storeFault !== undefined)
    return {
      message: `it cannot read and write ${theirs}: ${storeFault}`,
      hint: 'correct RUNSHEET_OUT or the rights of its user there, then restart it',
    };
  if (!sees)
    return {
      message: `its batches in ${theirs} are another place than ${out} of this command`,
      hint: `give all members and commands the same: RUNSHEET_OUT=${shellWord(out)} runsheet worker`,
    };
  if (Math.abs(clockMs) <= CLOCK_MS) return undefined;
  return {
    message: `its clock is ${(Math.abs(clockMs) / 1_000).toFixed(0)} s ${clockMs > 0 ? 'ahead of' : 'behind'} that of Temporal`,
    hint: 'synchronize it, for example with: timedatectl set-ntp true',
  };
}

/** A newer release may answer in another way. */
const malformedFinding = ({ identity, reason }: Malformed): Finding =>
  bad(
    identity === undefined ? 'a member' : nameOf(identity),
    `its answer cannot be read: ${reason}`,
    'give it the release of the others, or stop it; if it is unknown, check who may use the namespace',
  );

/** Temporal lists for a minute who has ended, as after every upgrade, and no longer who hangs. */
const silentFinding = (identity: string): Finding =>
  good(nameOf(identity), 'gives no answer: it has ended in the last minute, or hangs');

const otherFinding = (identity: string): Finding =>
  good(nameOf(identity), 'worker of an application, or of a release that answers no questions');

/** A batch of the newest release waits for a worker that can continue it. */
function versionFindings(known: readonly MemberAnswer[]): readonly Finding[] {
  const workers = known.filter(({ works }) => works);
  const counts = Map.groupBy(known, ({ version }) => version);
  const message = [...counts].map(([version, some]) => `${version} (${some.length})`).join(', ');
  const newest = Math.max(...workers.map(({ writes }) => writes));
  const old = workers.filter(({ reads }) => reads < newest).map(({ identity }) => nameOf(identity));
  if (known.length === 0) return [];
  if (old.length === 0) return [good('versions', message)];
  return [
    bad(
      'versions',
      `${message}: ${list(old)} cannot continue the batches that newer workers start`,
      'upgrade them, or stop them with SIGTERM; the batches wait for the others meanwhile',
    ),
  ];
}

function secretFindings(known: readonly MemberAnswer[]): readonly Finding[] {
  const bySecret = Map.groupBy(known, ({ webhookSecret }) => webhookSecret);
  const part = 'webhook secret';
  if (!known.some(({ receives }) => receives)) return [];
  if (bySecret.size === 1) return [good(part, 'the same everywhere')];
  const groups = [...bySecret.values()].map((some) => list(some.map(({ identity }) => nameOf(identity))));
  return [
    bad(
      part,
      `${groups.join(' have another one than ')}: webhooks that reach the wrong receiver are refused, and their runs polled`,
      'set the same RUNSHEET_WEBHOOK_SECRET or RUNSHEET_WEBHOOK_SECRET_FILE for all of them; create one with: openssl rand -hex 32',
    ),
  ];
}

async function receiverFindings(
  known: readonly MemberAnswer[],
  { webhook }: Config,
): Promise<readonly Finding[]> {
  const { url } = webhook;
  if (url === undefined) return [];
  const one = await finding('receivers', async () => {
    if (known.length > 0 && !known.some(({ receives }) => receives))
      throw problem('E602', {
        what: `RUNSHEET_WEBHOOK_URL is ${url}, but no process receives webhooks`,
        hint: 'start one: runsheet worker --receiver-only',
      });
    const { status } = await fetchOutside(`${url}/hook/1/`, { signal: AbortSignal.timeout(RECEIVER_MS) });
    // Only a receiver answers so, to the addresses of old batches.
    if (status !== 410) throw new Error(`${url} answers ${status}, so something else listens there`);
    return `${url} answers`;
  });
  return [one];
}

const NOTICES_WITHIN_MS = 24 * 3_600_000;
/** The newest batches; reading those of years would take long. */
const BATCHES_MOST = 50;

/** Notifications of the last day that reached nobody. */
async function noticeFindings({ out }: Config): Promise<readonly Finding[]> {
  const part = 'notifications';
  const batches = (await listBatchFolders(out, () => undefined)).slice(0, BATCHES_MOST);
  const undelivered = await pMap(
    batches,
    // A folder that cannot be read is a finding of other commands.
    async ({ batch, store }) =>
      (await undeliveredNotices(store).catch(() => [])).map((one) => ({ batch, ...one })),
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

function deploymentFinding({ name, builds, current }: Deployment): Finding {
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

export type Finding = {
  readonly part: string;
  readonly ok: boolean;
  readonly message: string;
  readonly hint?: string;
};

export async function finding(part: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { part, ok: true, message: await check() };
  } catch (error) {
    const hint = error instanceof RunsheetError && error.hint ? { hint: error.hint } : {};
    return { part, ok: false, message: errorMessage(error), ...hint };
  }
}
