// service: the local run service in the foreground, or as a child of the embedded stack.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { EXIT, nearest, problem } from '../errors.ts';
import {
  DEMO_DEPLOYMENTS,
  FAULTS,
  readDeployments,
  startLocalService,
  type BehaviourName,
  type DeploymentSpec,
} from '../local-service/server.ts';
import { openLog } from '../log.ts';
import { voiceOf, type Context } from './context.ts';
import { hearInterrupts } from './interrupt.ts';
import { configOf } from './order.ts';
import { tellStack, untilStackIsGone } from './stack-child.ts';

type Flags = {
  readonly port: number;
  readonly token?: readonly string[];
  readonly speed: number;
  readonly db: string;
  readonly deployments?: string;
  readonly fault?: readonly string[];
  readonly behaviour: BehaviourName;
  readonly only?: 'v1';
  readonly seed: number;
  readonly embedded: boolean;
  readonly output: 'text' | 'json';
};

export default async function service(this: Context, flags: Flags): Promise<number> {
  const voice = voiceOf(this);
  const config = configOf({});
  const log = openLog(config.logLevel, 'service');
  const tokens = flags.token ?? [config.serviceToken ?? randomBytes(16).toString('hex')];
  const running = await startLocalService({
    port: flags.port,
    tokens,
    speed: flags.speed,
    database: flags.db,
    deployments: deploymentsOf(flags.deployments),
    faults: faultsOf(flags.fault),
    behaviour: flags.behaviour,
    only: flags.only,
    seed: flags.seed,
    log: (event, facts) => log.debug(facts, event),
  });
  if (flags.embedded) {
    tellStack({ type: 'ready', url: running.base, port: Number(new URL(running.url).port) });
    await untilStackIsGone();
  } else {
    const interrupts = hearInterrupts(this.process);
    const base = flags.only === 'v1' ? running.legacyBase : running.base;
    const api = flags.only === 'v1' ? ' RUNSHEET_API=v1' : '';
    if (flags.output === 'json') voice.json({ base, tokens });
    else voice.data(`RUNSHEET_API_URL=${base}${api} RUNSHEET_API_KEY=${tokens[0] ?? ''}`);
    voice.say(`the local run service listens at ${running.url}; Ctrl-C ends it`);
    await interrupts.first;
    interrupts.close();
  }
  await running.close();
  return EXIT.ok;
}

function deploymentsOf(file: string | undefined): readonly DeploymentSpec[] {
  if (file === undefined) return DEMO_DEPLOYMENTS;
  if (!existsSync(file)) throw problem('E602', { what: `--deployments ${file}: there is no such file` });
  return readDeployments(readFileSync(file, 'utf8'));
}

function faultsOf(given: readonly string[] = []): Readonly<Record<string, number>> {
  return Object.fromEntries(
    given.map((pair) => {
      const [name = '', rate = ''] = pair.split('=');
      if (!FAULTS.includes(name)) {
        const near = nearest(name, FAULTS);
        throw problem('E602', {
          what: `--fault ${pair}: there is no fault ${name}`,
          hint: `${near ? `did you mean ${near}? ` : ''}faults: ${FAULTS.join(' ')}`,
        });
      }
      const value = Number(rate);
      if (!(value >= 0 && value <= 1) || rate === '')
        throw problem('E602', { what: `--fault ${pair}: the rate is a number from 0 to 1` });
      return [name, value];
    }),
  );
}
