// doctor: checks everything that a batch needs, and prints a hint for each part that fails.

import type { FlagsOf } from '../flags/flags.ts';
import type { doctorFlags } from './server-flags.ts';
import { existsSync } from 'node:fs';
import { EMBEDDED } from '../../errors/codes.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { LOCAL, canReachReceiver } from '../../host/local-address.ts';
import type { Config } from '../../host/settings/config.ts';
import { assertWritable } from '../../host/disk-space.ts';
import { lastFour } from '../../host/settings/api-key.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import { connectClient } from '../../temporal/connect.ts';
import { attributesCommand, isSearchWanted } from '../../temporal/search-attributes.ts';
import { temporalFrom, type TemporalAddress } from '../../temporal/temporal-address.ts';
import { readWorkerKeys, checkWorkerKeys } from '../../temporal/encryption/worker-keys.ts';
import { drawnKeyFile, payloadKeys, type PayloadKeys } from '../../temporal/encryption/payload-keys.ts';
import { temporalBinary } from '../../temporal/embedded/binary.ts';
import { refuseTooOld } from '../../temporal/embedded/join-stack.ts';
import { livingRecord } from '../../temporal/embedded/stack-file.ts';
import { checkPlace } from '../../store/open-store.ts';
import { TASK_QUEUE } from '../../../workflows/task-queues.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { REHEARSAL, sameCommand } from '../next-command.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { refuseOtherApi } from '../../batches/batch-request.ts';
import { configOf } from '../flags/batch-options.ts';
import { gpusOf } from '../flags/gpu-flags.ts';
import { serversNow, type GivenGpus, type KnownServer } from '../../library/register-own-gpus.ts';
import { VENDOR_FACTS, vendorFacts, VENDORS } from '../../options/facts/server-kind.ts';
import { checkSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import { clusterFindings, finding, type ClusterFinding } from './cluster-checks.ts';

import { getCACertificates } from 'node:tls';
import type { Proxies } from '../../host/settings/proxies.ts';

export default async function doctor(this: Context, flags: FlagsOf<typeof doctorFlags>): Promise<number> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  if (flags.cluster && temporalFrom(config.environment) === undefined) throw NO_CLUSTER();
  const checks: readonly (readonly [part: string, check: () => Promise<string>])[] = [
    ['node', async () => process.versions.node],
    ['network', async () => networkText(config)],
    ['temporal', () => temporalText(config, (text) => printer.notice(text))],
    ['encryption', () => encryptionText(config)],
    ['run service', () => serviceText(config)],
    ['webhooks', async () => webhookText(config)],
    ['folders', () => foldersText(config)],
    ...gpuChecks(gpusOf(flags)),
    ...vendorChecks(gpusOf(flags), config, await serversNow(config)),
  ];
  const findings: ClusterFinding[] = [];
  for (const [part, check] of checks) findings.push(await finding(part, check));
  if (flags.cluster) findings.push(...(await clusterFindings(config)));
  if (flags.output === 'json') printer.json(findings.map((result) => shaped(checkSchema, result)));
  else {
    for (const { part, ok, message, hint } of findings) {
      printer.data(
        `${ok ? printer.paint('green', '✓') : printer.paint('red', '✗')} ${terminalLine(part).padEnd(12)} ${terminalLine(message)}`,
      );
      if (hint) printer.data(printer.forPeople(`  hint: ${terminalLine(hint)}`));
    }
  }
  printer.next(nextOf(config, findings, sameCommand(this.args ?? [], 'doctor')));
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.unreachable;
}

/** Checks the servers that the flags name, and each workflow on them. */
const gpuChecks = ({ servers, workflows }: GivenGpus) =>
  servers.map(
    (server) =>
      [
        server.kind ?? 'comfyui',
        async () => {
          const { serverReport } = await import('../../run-service/server.ts');
          const { url, version, gpu, waiting, faults } = await serverReport(server, workflows);
          if (version === undefined) throw problem('E614', { url, reason: faults.join('; ') });
          if (faults.length > 0)
            throw problem('E602', {
              what: `${url} cannot run ${faults.join('; ')}`,
              hint: 'install there what is missing, or change the workflow and export it again',
            });
          const able = workflows.map(({ name }) => `, ${name} can run`).join('');
          return server.kind === 'comfy-api'
            ? `${url}, Comfy API ${version}; missing nodes or models are reported only when the workflow first runs`
            : `${url}, ComfyUI ${version}, ${server.gpu ?? gpu}, ${waiting} in its queue${able}`;
        },
      ] as const,
  );

/**
 * Asks each vendor whose key is set, or whose model the flags name. A request is answered within ten seconds, or has failed. The
 * run service tells of a vendor whose key it alone has.
 */
const vendorChecks = ({ models = [] }: GivenGpus, { environment }: Config, servers: readonly KnownServer[]) =>
  VENDORS.flatMap((vendor) => {
    const { model, keyFile } = models.find((entry) => entry.vendor === vendor) ?? {};
    const { variable } = VENDOR_FACTS[vendor];
    const server = servers.find(({ kind }) => kind === vendor);
    if (model === undefined && !environment[variable])
      return server === undefined ? [] : [[vendor, async () => textOfService(server)] as const];
    const check = async (): Promise<string> => {
      const { vendorAccount } = await import('../../library/register-own-gpus.ts');
      const { assertVendorAnswers } = await import('../../run-service/server.ts');
      const account = vendorAccount(vendor, keyFile, environment);
      await assertVendorAnswers(account, model);
      const own = `key ${lastFour(environment[variable] ?? '')} from ${variable}`;
      const text = `${account.url}, ${keyFile === undefined ? own : `key from ${keyFile}`}`;
      if (vendorFacts(vendor)?.checksKeyAt === 'endpoint' && model === undefined)
        return `${text}; only an endpoint shows whether it is accepted: name one with --model`;
      return `${text} is accepted${model === undefined ? '' : `; it has ${model}`}`;
    };
    return [[vendor, check] as const];
  });

/** Throws E614 with the last fault that the run service saw there. */
function textOfService({ url, away }: KnownServer): string {
  if (away !== null)
    throw problem('E614', { url, reason: `${away} (its key is known to the run service only)` });
  return `${url}, key known to the run service only, which sees no fault there`;
}

/** Without a run service, only a rehearsal is possible. */
function nextOf({ apiUrl }: Config, findings: readonly ClusterFinding[], same: string): Next {
  if (findings.some(({ ok }) => !ok)) return ['again', same];
  return apiUrl === undefined ? ['rehearse', REHEARSAL] : ['choose', 'runsheet deployments'];
}

const NO_CLUSTER = () =>
  problem('E602', {
    what: '--cluster asks the workers of a Temporal cluster, and the settings name none',
    hint: 'set TEMPORAL_ADDRESS; for the embedded servers: runsheet doctor',
  });

async function temporalText(config: Config, notice: (text: string) => void): Promise<string> {
  const cluster = temporalFrom(config.environment);
  if (cluster === undefined) {
    const { cache, environment, home } = config;
    const stack = livingRecord(home);
    if (stack !== undefined) refuseTooOld(home, stack);
    const running = stack?.temporal && `, running at ${stack.temporal.address} (pid ${stack.pid})`;
    return `embedded: ${await temporalBinary({ cache, environment, notice })}${running ?? ''}`;
  }
  await using connected = await connectClient(cluster);
  const { client } = connected;
  const queue = config.taskQueue ?? TASK_QUEUE;
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: cluster.namespace,
    taskQueue: { name: queue },
  });
  if ((pollers ?? []).length === 0) throw problem('E403', { taskQueue: queue, address: cluster.address });
  const reached = `${cluster.address} (${cluster.from}), namespace ${cluster.namespace}, ${plural(pollers?.length ?? 0, 'worker')} on ${queue}`;
  const lacking =
    isSearchWanted(config, payloadKeys(config, 'cluster')) && (await attributesCommand(client, cluster));
  return lacking
    ? `${reached}; it cannot search for the rows of a batch, so the same sheet in another folder is not found: ${lacking}`
    : reached;
}

/** Every worker needs the same keys, because Temporal may give any task to any worker. */
async function encryptionText(config: Config): Promise<string> {
  const cluster = temporalFrom(config.environment);
  const living = livingRecord(config.home)?.temporal;
  const isSet = config.payload.keys !== undefined || config.payload.keysFile !== undefined;
  // A check must not create a key.
  if (cluster === undefined && !isSet && !existsSync(drawnKeyFile(config.home)))
    return 'on: the first start creates a random key';
  const keys = payloadKeys(config, cluster === undefined ? 'embedded' : 'cluster');
  const at = cluster ?? (living && { ...living, from: EMBEDDED, options: {} });
  if (at !== undefined) await refuseOtherKeys(at, config.taskQueue ?? TASK_QUEUE, keys);
  const [first, ...retiredKeys] = keys.keys;
  if (first === undefined) return 'off: Temporal stores activity inputs, run ids and reasons as plain text';
  const more =
    retiredKeys.length > 0 ? `, ${retiredKeys.map(({ id }) => id).join(', ')} for decryption only` : '';
  return `on, with the key ${first.id}${more}; unencrypted payloads are ${keys.readsPlain ? 'accepted' : 'refused'}`;
}

async function refuseOtherKeys(at: TemporalAddress, queue: string, keys: PayloadKeys): Promise<void> {
  await using connected = await connectClient(at);
  checkWorkerKeys(await readWorkerKeys(connected.client, at, queue, keys), at, keys, 'any');
}

async function serviceText(config: Config): Promise<string> {
  if (config.apiUrl === undefined) return `none set; to rehearse on the ${LOCAL} run service, add --local`;
  const meant = { base: config.apiUrl, api: config.api };
  const services = openServices(config, openTransport(2));
  await refuseOtherApi(services, meant);
  const service = services.at(meant);
  const key = config.apiKey();
  const [deployments, prices] = [await service.listDeployments(), await service.getPrices()];
  const workflowId = deployments?.find((deployment) => deployment.workflowId !== undefined)?.workflowId;
  const lists =
    workflowId === undefined ? undefined : await service.listRuns(workflowId, { limit: 1, offset: 0 });
  const proof =
    lists === undefined
      ? 'no run list, so unconfirmed attempts cannot be resolved by it'
      : 'its run list can resolve unconfirmed attempts';
  const less =
    config.api === 'v1' ? '; it speaks V1, which cannot cancel runs and does not describe deployments' : '';
  const name = config.service === undefined ? '' : `${config.service}: `;
  return `${name}${config.apiUrl}, key ${lastFour(key?.value ?? '')} from ${key?.from}, ${deployments?.length ?? 'unlisted'} deployments, prices ${prices ? 'from the service' : 'assumed'}, ${proof}${less}`;
}

/** Throws the fault of the batches folder or of the state folder. */
async function foldersText({ out, home }: Config): Promise<string> {
  await checkPlace(out);
  await assertWritable(home);
  return `batches in ${out}, state in ${home}`;
}

function webhookText({ webhook, apiUrl }: Config): string {
  if (webhook.url !== undefined) return `received at ${webhook.url}`;
  if (apiUrl === undefined || canReachReceiver(apiUrl, webhook.url)) return 'received on this machine';
  return `none: ${apiUrl} cannot reach this machine, so runs are polled; to receive webhooks, set RUNSHEET_WEBHOOK_URL to an address that it can reach`;
}

// Describes the network for `doctor`: proxies and trusted certificate authorities.
/** Throws E602 for an unusable proxy, and for an unreadable file of certificates. */
const networkText = ({ proxies, environment }: Config): string =>
  `${proxiesText(proxies)}; certificates: ${certificatesText(environment)}`;

function proxiesText({ http, https, except }: Proxies): string {
  if (http === undefined && https === undefined) return 'directly';
  const [httpsWay, httpWay] = [wayOf('https', https), wayOf('http', http)];
  return `${httpsWay}, ${httpWay}, except this machine${except === undefined ? '' : ` and ${except.text} (${except.from})`}`;
}

function wayOf(scheme: string, proxy: Proxies['http']): string {
  if (proxy === undefined) return `${scheme} directly`;
  if ('wrong' in proxy)
    throw problem('E602', {
      what: `${proxy.from} ${proxy.wrong}`,
      hint: `write it as ${proxy.from}=http://proxy.example:3128, or unset it`,
    });
  const login = proxy.login === undefined ? '' : ` as ${proxy.login.user}`;
  return `${scheme} through ${proxy.url}${login} (${proxy.from})`;
}

function certificatesText(environment: Config['environment']): string {
  const { NODE_EXTRA_CA_CERTS: file, NODE_USE_SYSTEM_CA: system, NODE_OPTIONS: options = '' } = environment;
  const own = ["Node's"];
  if (system === '1' || options.includes('--use-system-ca')) own.push("the system's");
  if (!file) return own.join(' and ');
  const { length: count } = getCACertificates('extra');
  // Node itself would only warn.
  if (count === 0)
    throw problem('E602', {
      what: `NODE_EXTRA_CA_CERTS is ${file}, which has no certificate that can be read`,
      hint: 'name a file of certificates in PEM, or unset it',
    });
  return `${own.join(', ')} and NODE_EXTRA_CA_CERTS=${file} (${count})`;
}
