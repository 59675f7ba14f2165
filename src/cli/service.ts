// service: the local run service in the foreground, or as a child of the embedded stack.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EXIT, problem } from '../errors.ts';
import { fileFault } from '../file-fault.ts';
import {
  DEMO_DEPLOYMENTS,
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
  readonly webhooksAnywhere: boolean;
  readonly seed: number;
  readonly embedded: boolean;
  readonly output: 'text' | 'json';
};

export default async function service(this: Context, flags: Flags): Promise<number> {
  const voice = voiceOf(this);
  const config = configOf({});
  const log = openLog(config.logLevel, 'service');
  const broken = Promise.withResolvers<never>();
  // Those of the environment are the caller's own; the others may be said.
  const drawn = config.serviceTokens.length > 0 ? [] : [randomBytes(16).toString('hex')];
  const said = flags.token ?? drawn;
  const tokens = [...said, ...config.serviceTokens];
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
  if (flags.embedded) {
    tellStack({ type: 'ready', url: running.base, port: Number(new URL(running.url).port) });
    await Promise.race([untilStackIsGone(), broken.promise]);
  } else {
    const interrupts = hearInterrupts(this.process);
    const base = flags.only === 'v1' ? running.legacyBase : running.base;
    const api = flags.only === 'v1' ? ' RUNSHEET_API=v1' : '';
    if (flags.output === 'json') voice.json({ base, tokens: said });
    else voice.data(`RUNSHEET_API_URL=${base}${api}${said[0] ? ` RUNSHEET_API_KEY=${said[0]}` : ''}`);
    voice.say(`the local run service listens at ${running.url}; Ctrl-C ends it`);
    await Promise.race([interrupts.first, broken.promise]);
    interrupts.close();
  }
  await running.close();
  return EXIT.ok;
}

function deploymentsOf(file: string | undefined): readonly DeploymentSpec[] {
  if (file === undefined) return DEMO_DEPLOYMENTS;
  try {
    return readDeployments(readFileSync(file, 'utf8'));
  } catch (error) {
    throw fileFault(error, { path: file, hint: '--deployments names a JSON file of deployments' }) ?? error;
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
