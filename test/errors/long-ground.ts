// Real commands as processes, with a Temporal server, a worker and a local run service that the cases share.

import { chmodSync, readFileSync } from 'node:fs';
import { dirname, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/host/settings/config.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Stage, type Ended, type Running } from '../stage/stage.ts';
import type { Relay } from '../stage/relay.ts';
import type { Lead, Meanwhile, Run, Said } from './provocation.ts';

const PASTE = fileURLToPath(new URL('paste.mjs', import.meta.url));
type GroundEnvironment = Readonly<Record<string, string>>;

export const BRIEF_ID = '5b8e0a5c-2f6d-4c6e-9f0a-7d3c1b2a4e5f';

const inputTypes = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'seed', type: 'integer' },
  { name: 'runsheet_faults', type: 'string' },
];
const QUICK = {
  coldStartSeconds: 0,
  warmStartSeconds: 0,
  runSeconds: 0.2,
  concurrencyLimit: 8,
  pictureSize: 16,
};
const DEPLOYMENTS = [
  { ...QUICK, name: 'Porträts', inputTypes },
  { ...QUICK, name: 'brief', id: BRIEF_ID, runSeconds: 2.5, concurrencyLimit: 2 },
  { ...QUICK, name: 'slow', runSeconds: 250, concurrencyLimit: 2 },
];

export const ROWS = 'sku,prompt\nA,a fox\nB,an owl\nC,"it\'s $5, ""really"""\n';

export class LongGround {
  readonly stage = new Stage();
  worker: Running | undefined;
  /** The address of another run service. */
  otherBase = '';
  /** The service without its profile. */
  real: Relay | undefined;
  /** Where a service will listen. */
  port = 0;
  /** Servers that several cases use. */
  keeps: Running | undefined;
  /** Processes that a case started. */
  started: Running[] = [];

  /** A folder on the PATH has the program under its name. */
  async open(): Promise<void> {
    const { stage } = this;
    const { cache, environment } = loadConfig();
    const temporal = await temporalBinary({ cache, environment, notice: () => undefined });
    const script = stage.write(
      'bin/runsheet',
      `#!/bin/sh\nexec '${process.execPath}' '${programFile()}' "$@"\n`,
    );
    chmodSync(script, 0o755);
    const path = [dirname(script), dirname(temporal), process.env['PATH']].join(delimiter);
    stage.environment = { ...stage.environment, PATH: path };
  }

  async openCluster(): Promise<void> {
    await this.open();
    await this.stage.temporal();
    await this.openService();
    this.worker = await this.stage.worker();
  }

  openService(): Promise<Running> {
    return this.stage.service([
      '--deployments',
      this.stage.write('deployments.json', JSON.stringify(DEPLOYMENTS)),
    ]);
  }

  sheet(name: string, text = ROWS): string {
    this.stage.write(name, text);
    return name;
  }

  /** Runs a command that must work. */
  async must(...args: readonly string[]): Promise<Said> {
    const said = await this.stage.run(args);
    if (said.code !== 0) throw new Error(`${args.join(' ')}: ${said.code} ${said.stdout} ${said.stderr}`);
    return said;
  }

  /** A batch of three rows that has ended. */
  ended(name: string, ...flags: readonly string[]): Promise<Said> {
    const sheet = this.sheet(`${name} of "today".csv`, ROWS.replaceAll('a', `${name} a`));
    return this.must('run', sheet, '-d', 'Porträts', '--name', name, '--key', 'sku', '--again', ...flags);
  }

  /** A batch that is running. */
  async running(name: string, deployment = 'slow', ...flags: readonly string[]): Promise<void> {
    const sheet = this.sheet(`${name}.csv`, `prompt\n${name} 1\n${name} 2\n${name} 3\n`);
    await this.must('submit', sheet, '-d', deployment, '--name', name, ...flags);
  }

  batchFile(name: string): BatchFile {
    return JSON.parse(readFileSync(this.stage.path('batches', name, 'batch.json'), 'utf8')) as BatchFile;
  }

  async killStarted(): Promise<void> {
    for (const child of this.started.splice(0)) await child.killTree();
  }

  async close(): Promise<void> {
    await this.stage.close();
  }

  /** The functions that cases call. Text behind `bash` is given to bash. */
  run(): Run<LongGround> {
    const { stage } = this;
    const run = async (
      args: readonly string[],
      env: GroundEnvironment,
      meanwhile?: Meanwhile<LongGround>,
    ): Promise<Ended> => {
      const running = args[0] === 'bash' ? stage.start(args.slice(1), env, PASTE) : stage.start(args, env);
      if (meanwhile !== undefined) {
        await running.says(meanwhile.once);
        await meanwhile.does(this);
      }
      return running.ended;
    };
    const paste = async (command: string, lead: Lead, env: GroundEnvironment): Promise<Said> => {
      if (typeof lead !== 'object' || !('prints' in lead)) return stage.run([command], env, PASTE);
      const running = stage.start([command], env, PASTE);
      this.started.push(running);
      await running.says(lead.prints);
      return { code: 0, stdout: running.stdout, stderr: running.stderr };
    };
    return { ground: this, run, paste };
  }
}
