// This process as a member of a cluster: what it says of itself, and whether it fits the other members.

import type { Client } from '@temporalio/client';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Member } from '../../activities/describe-member.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { version } from '../host/package-version.ts';
import { openStore } from '../store/open-store.ts';
import { MEMBER, membersOf } from '../temporal/cluster-members.ts';
import { isSecretShared, secretFingerprint, webhookSecret } from '../webhook/secret.ts';
import { createMemberWorker } from './create-workers.ts';
import type { WorkerParts } from './worker-parts.ts';

const WEBHOOK = 'webhook/';

/** What Temporal shows of this process beside its name and keys. */
export const identityParts = (config: Config): readonly string[] => [
  `${MEMBER}${version}`,
  `${WEBHOOK}${secretFingerprint(webhookSecret(config))}`,
];

const secretIn = (identity: string): string | undefined =>
  identity
    .split(' ')
    .find((word) => word.startsWith(WEBHOOK))
    ?.slice(WEBHOOK.length);

type At = Required<Pick<WorkerOptions, 'connection' | 'namespace' | 'identity'>> &
  Pick<WorkerOptions, 'dataConverter' | 'interceptors'>;

/** The worker that answers for this process. */
export function createMemberOf(
  config: Config,
  parts: WorkerParts,
  { queue, ...at }: At & { readonly queue: string },
): Promise<Worker> {
  const { deployment, build = version, tags } = config.member;
  const works = parts !== 'receiver-only';
  const member: Member = {
    identity: at.identity,
    version,
    works,
    receives: parts !== 'no-receiver',
    tags: works ? tags : [],
    ...(deployment === undefined || !works ? {} : { deployment: { name: deployment, build } }),
    webhookSecret: secretFingerprint(webhookSecret(config)),
    out: config.out,
  };
  return createMemberWorker(member, openStore(config.out), { queue, ...at });
}

/**
 * Webhooks that another member cannot check are lost, and their runs are polled. Throws E412 if the settings give this process no
 * secret; one from the settings may just be replaced, so a difference is only logged.
 */
export async function checkWebhookSecret(
  client: Client,
  queue: string,
  config: Config,
  log: Logger,
): Promise<void> {
  // Without an address for webhooks, each process receives only what it asks for.
  if (config.webhook.url === undefined) return;
  const own = secretFingerprint(webhookSecret(config));
  const others = (await membersOf(client, queue)).filter((one) => (secretIn(one) ?? own) !== own);
  if (others.length === 0) return;
  const members = others.map((one) => one.split(' ')[0] ?? '');
  if (!isSecretShared(config)) throw problem('E412', { members });
  log.warn({ members }, 'these members have another webhook secret: runs whose webhooks they get are polled');
}
