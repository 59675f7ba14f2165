// service: runs the local run service in the foreground, or as a child of the embedded servers.

import type { FlagsOf } from '../flags/flags.ts';
import type { serviceFlags } from './server-flags.ts';
import { deploymentsIn, type OwnDeployments } from './deployments-file.ts';
import { databaseOf } from './service-database.ts';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { problem, errorMessage } from '../../errors/error.ts';
import { DEMO_DEPLOYMENTS, startLocalService, type LocalService } from '../../run-service/server.ts';
import { GIB } from '../../run-service/service-settings.ts';
import { OWN_KEYS, sharedToken } from '../../run-service/auth.ts';
import { loadConfigWith, type Config } from '../../host/settings/config.ts';
import { openLog } from '../../host/log.ts';
import { notesFolder } from '../../host/user-folders.ts';
import { programsIn } from '../../host/settings/named-program.ts';
import { readOrCreateSecret } from '../../host/state-folder.ts';
import { isLoopback } from '../../options/loopback.ts';
import { keepSecret } from '../../errors/redact.ts';
import { onTerminal, printerFor, type Context, type Printer } from '../context.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { configOf } from '../flags/batch-options.ts';
import { gpusOf, namesGpus } from '../flags/gpu-flags.ts';
import { withNamedPrograms, type GivenGpus } from '../../library/register-own-gpus.ts';
import { serviceSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import {
  begun,
  ORPHAN_DRAIN_MS,
  tellStack,
  untilStackIsGone,
} from '../../temporal/embedded/stack-channel.ts';

type ServiceFlags = FlagsOf<typeof serviceFlags>;

/** Events for the operator: faults of the service itself, and problems that only a person can fix. */
const LEVELS: Readonly<Record<string, 'error' | 'warn'>> = {
  error: 'error',
  broken: 'error',
  'server-fault': 'error',
  'server-without-headers': 'warn',
  'runs-without-deployment': 'warn',
};

export default async function service(this: Context, flags: ServiceFlags): Promise<void> {
  const printer = printerFor(this);
  const begin = flags.embedded ? await begun() : undefined;
  const config = begin ? loadConfigWith(begin.environment) : configOf({});
  const log = openLog(config.logLevel, 'service');
  const broken = Promise.withResolvers<never>();
  const configured = [...config.serviceTokens, ...tokensOf(flags)];
  refuseOpenDoors(flags, configured.length > 0);
  refuseFaultsOfGpus(flags);
  const { simulated = simulatedFor(flags), ...own } = deploymentsIn(flags.deployments, config.environment);
  // Only a generated key is printed.
  const generated = configured.length > 0 ? [] : [randomBytes(16).toString('hex')];
  const tokens = [...configured, ...generated];
  const database = databaseOf({
    db: flags.db,
    home: config.home,
    hasGpus: namesGpus(flags) || own.workflows.length + own.programs.length + own.models.length > 0,
  });
  const running = await startLocalService({
    port: begin?.port ?? flags.port,
    host: flags.host,
    ...(flags.publicUrl && { publicUrl: flags.publicUrl }),
    tokens,
    speed: flags.speed,
    database,
    ...partsOf(config),
    deployments: simulated,
    faults: faultsOf(flags.fault),
    behaviour: flags.behaviour,
    only: flags.only,
    webhooksAnywhere: flags.webhooksAnywhere,
    keepFilesMs: flags.keepFiles,
    ...(flags.ownerUploads !== undefined && { ownerUploadBytes: flags.ownerUploads * GIB }),
    seed: flags.seed,
    log(event, facts) {
      log[LEVELS[event] ?? 'debug'](facts, event);
      if (event === 'broken') broken.reject(problem('E603', { database, reason: String(facts['reason']) }));
    },
  });
  try {
    await addGiven(running, withOwn(gpusOf(flags), own), config, printer);
  } catch (error) {
    await running.close();
    throw error;
  }
  if (flags.embedded) {
    const port = Number(new URL(running.url).port);
    tellStack({ type: 'ready', url: running.base, port, page: running.dashboardPage });
    await Promise.race([untilStackIsGone(), broken.promise]);
    // Nobody would end an orphan after the embedded servers are killed.
    return void (await Promise.race([running.close(), wait(ORPHAN_DRAIN_MS, undefined, { ref: false })]));
  } else {
    using interrupts = hearInterrupts(this.process);
    const base = flags.only === 'v1' ? running.legacyBase : running.base;
    const api = flags.only === 'v1' ? ' RUNSHEET_API=v1' : '';
    // No page for other machines; behind a proxy, the service cannot tell which machine asks.
    const page = isShared(flags) ? null : running.dashboardPage;
    if (flags.output === 'json')
      printer.json(shaped(serviceSchema, { base, tokens: generated, live_page: page }));
    else {
      printer.data(
        `RUNSHEET_API_URL=${base}${api}${generated[0] ? ` RUNSHEET_API_KEY=${generated[0]}` : ''}`,
      );
      if (page !== null) printer.data(`live page: ${onTerminal(this, page)}`);
    }
    printer.notice(`the local run service listens at ${running.url}; Ctrl-C stops it`);
    await Promise.race([interrupts.first, broken.promise]);
  }
  await running.close();
}

/** The folders of programs, and the address at which vendors tell about runs. */
const partsOf = ({ home, environment, webhook }: Config) => ({
  programs: programsIn(home),
  locks: join(notesFolder(environment), 'seats'),
  // A service that nobody outside can reach makes no state folder.
  ...(webhook.url !== undefined && {
    webhookAddresses: { url: webhook.url, secret: keepSecret(readOrCreateSecret(join(home, 'told-secret'))) },
  }),
});

/** Adds the workflows, and prints notes about their files on stderr, such as where a graph was found. */
async function addGiven(
  running: LocalService,
  own: GivenGpus,
  config: Config,
  printer: Printer,
): Promise<void> {
  const { deployments } = await running.addGpus(await withNamedPrograms(own, config));
  for (const note of deployments.flatMap(({ notes }) => notes)) printer.notice(note);
}

/** The GPU servers and tasks of the flags and of the deployments file. */
const withOwn = (flags: GivenGpus, own: OwnDeployments): GivenGpus => ({
  ...flags,
  ...(own.gpus && { gpus: [...new Set([...own.gpus, ...(flags.gpus ?? [])])] }),
  workflows: [...own.workflows, ...flags.workflows],
  programs: [...own.programs, ...(flags.programs ?? [])],
  models: [...own.models, ...(flags.models ?? [])],
});

/** Demo deployments are only for a single user without GPUs: nobody may mistake them for real ones. */
const simulatedFor = (flags: ServiceFlags) => (namesGpus(flags) || isShared(flags) ? [] : DEMO_DEPLOYMENTS);

function tokensOf({ token, tokenFile }: ServiceFlags): readonly string[] {
  if (token !== undefined) throw problem('E610', {});
  if (tokenFile === undefined) return [];
  const tokens = textOf(tokenFile)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (tokens.length === 0) throw problem('E611', { file: tokenFile, why: 'contains no key' });
  const shared = sharedToken(tokens);
  if (shared !== undefined)
    throw problem('E611', { file: tokenFile, why: `is refused: ${shared}`, hint: OWN_KEYS });
  return tokens.map(keepSecret);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw problem('E611', { file, why: `cannot be read: ${errorMessage(error)}` }, { cause: error });
  }
}

const isShared = ({ host, publicUrl }: ServiceFlags): boolean => publicUrl !== undefined || !isLoopback(host);

/** Throws E602 if others could connect without a key, or would get unreachable addresses. */
function refuseOpenDoors(flags: ServiceFlags, hasKeys: boolean): void {
  if (!isShared(flags)) return;
  const { host, publicUrl } = flags;
  const flag = isLoopback(host) ? '--public-url' : `--host ${host}`;
  if (!hasKeys)
    throw problem('E602', {
      what: `${flag} lets other machines use the service, so it needs keys`,
      hint: 'put them into a file, one <owner>:<key> per line, and add --token-file <file>; or set RUNSHEET_SERVICE_TOKEN',
    });
  if (publicUrl === undefined && ['0.0.0.0', '::'].includes(host))
    throw problem('E602', {
      what: `${flag} is no address that other machines could use`,
      hint: 'add the one by which they reach the service, such as --public-url https://runs.studio.example',
    });
}

function refuseFaultsOfGpus(flags: ServiceFlags): void {
  if ((flags.fault ?? []).length === 0 || !namesGpus(flags)) return;
  throw problem('E602', {
    what: '--fault is for rehearsals, and runs on real GPUs have no faults',
    hint: 'leave out --fault, or --comfyui and --comfy-api',
  });
}

function faultsOf(rates: readonly string[] = []): Readonly<Record<string, number>> {
  return Object.fromEntries(
    rates.map((pair) => {
      const [name = '', rate = ''] = pair.split('=');
      return [name, rate === '' ? Number.NaN : Number(rate)];
    }),
  );
}
