// service: runs the local run service in the foreground, or as a child of the embedded stack.

import type { FlagsOf } from '../flags/flags.ts';
import type { serviceFlags } from './server-flags.ts';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EXIT, problem, errorMessage } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import {
  DEMO_DEPLOYMENTS,
  readDeployments,
  startLocalService,
  type DeploymentSpec,
} from '../../service/server.ts';
import { openLog } from '../../host/log.ts';
import { keepSecret } from '../../errors/redact.ts';
import { onTerminal, printerFor, type Context } from '../context.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { configOf } from '../flags/batch-options.ts';
import { gpusOf } from '../flags/own-gpus.ts';
import { serviceSchema } from '../json/servers.ts';
import { shaped } from '../json/shape.ts';
import { tellStack, untilStackIsGone } from '../../temporal/embedded/processes.ts';

type Flags = FlagsOf<typeof serviceFlags>;

export default async function service(this: Context, flags: Flags): Promise<number> {
  const printer = printerFor(this);
  const config = configOf({});
  const log = openLog(config.logLevel, 'service');
  const broken = Promise.withResolvers<never>();
  const configured = [...config.serviceTokens, ...tokensOf(flags)];
  // Only a generated key is printed.
  const generated = configured.length > 0 ? [] : [randomBytes(16).toString('hex')];
  const tokens = [...configured, ...generated];
  const running = await startLocalService({
    port: flags.port,
    tokens,
    speed: flags.speed,
    database: flags.db,
    deployments: deploymentsOf(flags.deployments),
    faults: faultsOf(flags.fault),
    behaviour: flags.behaviour,
    only: flags.only,
    webhooksAnywhere: flags.webhooksAnywhere,
    seed: flags.seed,
    log(event, facts) {
      log.debug(facts, event);
      if (event === 'broken')
        broken.reject(problem('E603', { database: flags.db, reason: String(facts['reason']) }));
    },
  });
  await running.addGpus(gpusOf(flags));
  if (flags.embedded) {
    const port = Number(new URL(running.url).port);
    tellStack({ type: 'ready', url: running.base, port, page: running.dashboardPage });
    await Promise.race([untilStackIsGone(), broken.promise]);
  } else {
    const interrupts = hearInterrupts(this.process);
    const base = flags.only === 'v1' ? running.legacyBase : running.base;
    const api = flags.only === 'v1' ? ' RUNSHEET_API=v1' : '';
    const { dashboardPage } = running;
    if (flags.output === 'json')
      printer.json(shaped(serviceSchema, { base, tokens: generated, live_page: dashboardPage }));
    else {
      printer.data(
        `RUNSHEET_API_URL=${base}${api}${generated[0] ? ` RUNSHEET_API_KEY=${generated[0]}` : ''}`,
      );
      printer.data(`live page: ${onTerminal(this, dashboardPage)}`);
    }
    printer.notice(`the local run service listens at ${running.url}; Ctrl-C stops it`);
    await Promise.race([interrupts.first, broken.promise]);
    interrupts.close();
  }
  await running.close();
  return EXIT.ok;
}

function tokensOf({ token, tokenFile }: Flags): readonly string[] {
  if (token !== undefined) throw problem('E610', {});
  if (tokenFile === undefined) return [];
  const tokens = textOf(tokenFile)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (tokens.length === 0) throw problem('E611', { file: tokenFile, why: 'contains no key' });
  return tokens.map(keepSecret);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw problem('E611', { file, why: `cannot be read: ${errorMessage(error)}` }, { cause: error });
  }
}

function deploymentsOf(file: string | undefined): readonly DeploymentSpec[] {
  if (file === undefined) return DEMO_DEPLOYMENTS;
  try {
    return readDeployments(readFileSync(file, 'utf8'));
  } catch (error) {
    throw fileFault(error, { path: file, hint: '--deployments needs a JSON file of deployments' }) ?? error;
  }
}

function faultsOf(given: readonly string[] = []): Readonly<Record<string, number>> {
  return Object.fromEntries(
    given.map((pair) => {
      const [name = '', rate = ''] = pair.split('=');
      return [name, rate === '' ? Number.NaN : Number(rate)];
    }),
  );
}
