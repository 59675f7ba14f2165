// Runs one batch with all of its processes, each restarted whenever it ends: a run service with faults, a gateway that
// detects requests in flight, and either a Temporal server, two workers, a receiver and a command, or a command with
// its embedded servers.

import { cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { loadConfig } from '../../../src/host/settings/config.ts';
import { errorMessage } from '../../../src/errors/error.ts';
import type { Run } from '../../../src/service-client/contract/run.ts';
import { connectClient } from '../../../src/temporal/connect.ts';
import { livingRecord } from '../../../src/temporal/embedded/stack-file.ts';
import { clientConverter } from '../../../src/temporal/encryption/converter.ts';
import { payloadKeys } from '../../../src/temporal/encryption/payload-keys.ts';
import { workflowIdOf, type BatchName } from '../../../src/batch/workflow-ids.ts';
import { openGateway, type Gateway, type QueueRunCall } from '../../stage/gateway.ts';
import { familyOf, isAlive, killQuietly } from '../../stage/processes.ts';
import { Stage, type Running } from '../../stage/stage.ts';
import { freeAddress } from '../../stage/free-port.ts';
import { Kept, type Life } from './kept.ts';
import { FAULTS } from './service.ts';
import type { Victim } from './victims.ts';

export type Mode = 'cluster' | 'embedded';
export type RigParams = {
  readonly mode: Mode;
  readonly rows: number;
  readonly concurrency: number;
  readonly seed: number;
};

const HOLD_MS = 150;
/** Slots of the deployment for runs of others. */
const SLOTS_OF_OTHERS = 20;
const DONE_CODES: ReadonlySet<number | null> = new Set([0, 3]);

/** Rigs with running processes. */
const open = new Set<Rig>();

/** Ends every process of every rig. */
export const closeAll = async (): Promise<void> => {
  await Promise.all([...open].map((rig) => rig.close()));
};

export class Rig {
  readonly stage = new Stage();
  readonly params: RigParams;
  /** The Queue Run calls of closed gateways. */
  readonly calls: QueueRunCall[] = [];
  /** The output of all starts of the command, for the evidence. */
  readonly outputs: string[] = [];
  #base = '';
  #gateway: Gateway | undefined;
  #services = 0;
  #client:
    | { readonly address: string; readonly client: Client; readonly close: () => Promise<void> }
    | undefined;
  #isOver = false;
  #command: Running | undefined;
  readonly #kept: Partial<
    Record<'service' | 'temporal' | 'worker' | 'other' | 'receiver' | 'command', Kept>
  > = {};

  private constructor(params: RigParams) {
    this.params = params;
  }

  /** Starts everything except the command. */
  static async open(params: RigParams): Promise<Rig> {
    const rig = new Rig(params);
    open.add(rig);
    try {
      rig.stage.sheet(params.rows);
      rig.#kept.service = new Kept(() => rig.#serve());
      await rig.#kept.service.open();
      if (params.mode === 'cluster') await rig.#openCluster();
      return rig;
    } catch (error) {
      await rig.close();
      throw error;
    }
  }

  get base(): string {
    return this.#base;
  }
  /** undefined while it is down together with the service. */
  get gateway(): Gateway | undefined {
    return this.#gateway;
  }

  /** Starts the command for the first time. */
  async startCommand(): Promise<void> {
    this.#kept.command = new Kept(
      async () => this.#runCommand(),
      () => this.#isOver,
    );
    await this.#kept.command.open();
  }

  /** Whether the batch has ended and the command has reported that. */
  isOver(): boolean {
    return this.#isOver;
  }

  /** The batch's folder and name; undefined until the batch exists. */
  folder(): string | undefined {
    try {
      const folder = this.stage.batch();
      return existsSync(join(folder, 'batch.json')) ? folder : undefined;
    } catch {
      return undefined;
    }
  }
  name(): BatchName | undefined {
    return this.folder() === undefined ? undefined : this.stage.batchFile();
  }

  truth(): Promise<readonly Run[]> {
    return this.stage.truth(this.#base);
  }

  /** Sends SIGKILL synchronously to all processes of the victim, and returns how many there were. */
  kill(victim: Victim): number {
    const pids = [...new Set(this.#pidsOf(victim))].filter((pid) => isAlive(pid));
    for (const pid of pids) killQuietly(pid);
    if (victim === 'run service' && this.#services % 2 === 0) void this.#closeGateway();
    return pids.length;
  }

  /** Whether all processes are up. */
  isWhole(): boolean {
    return Object.values(this.#kept).every((process) => process.isUp()) && this.isServed();
  }

  /** Whether the run service is reachable through the gateway. */
  isServed(): boolean {
    return this.#gateway !== undefined && this.#kept.service?.isUp() === true;
  }

  async client(): Promise<Client> {
    const record = livingRecord(this.stage.path('.runsheet'))?.temporal;
    const { TEMPORAL_ADDRESS: address = record?.address, TEMPORAL_NAMESPACE: namespace = record?.namespace } =
      this.stage.environment;
    if (address === undefined || namespace === undefined) throw new Error('there is no Temporal server');
    const converter =
      this.params.mode === 'cluster'
        ? undefined
        : clientConverter(payloadKeys({ ...loadConfig({}), home: this.stage.path('.runsheet') }, 'embedded'));
    if (this.#client?.address !== address) {
      await this.#client?.close().catch(() => undefined);
      const to = { address, namespace, from: 'the chaos', options: {} };
      this.#client = { address, ...(await connectClient(to, converter)) };
    }
    return this.#client.client;
  }

  /** Copies everything that helps to find the cause of a finding to a permanent folder. */
  async keepEvidence(): Promise<string> {
    const kept = mkdtempSync(join(tmpdir(), 'runsheet-chaos-'));
    cpSync(this.stage.folder, join(kept, 'stage'), { recursive: true });
    writeFileSync(join(kept, 'output.txt'), [...this.outputs, this.#command?.stderr ?? ''].join('\n=====\n'));
    try {
      writeFileSync(join(kept, 'runs.json'), JSON.stringify(await this.truth()));
      const name = this.name() ?? { batch: '', mark: '' };
      const history = await (await this.client()).workflow.getHandle(workflowIdOf(name)).fetchHistory();
      writeFileSync(join(kept, 'history.json'), JSON.stringify(historyToJSON(history)));
    } catch (error) {
      writeFileSync(join(kept, 'no-history.txt'), errorMessage(error));
    }
    return kept;
  }

  async close(): Promise<void> {
    const closings = Object.values(this.#kept).map((kept) => kept.close());
    await Promise.all(closings);
    await this.#client?.close().catch(() => undefined);
    await this.stage.close();
    await this.#closeGateway();
    open.delete(this);
  }

  async #serve(): Promise<Life> {
    const { concurrency, seed } = this.params;
    const deployment = {
      name: 'portraits',
      concurrencyLimit: concurrency + SLOTS_OF_OTHERS,
      coldStartSeconds: 0.1,
      runSeconds: 1.5,
      runSpread: 0.6,
      runTimeoutSeconds: 8,
      pictureSize: 32,
    };
    const deployments = this.stage.write('deployments.json', JSON.stringify([deployment]));
    const faults = Object.entries(FAULTS).flatMap(([name, rate]) => ['--fault', `${name}=${rate}`]);
    const port = this.#base === '' ? 0 : Number(new URL(this.#base).port);
    this.#services += 1;
    // A different seed after each start, so that a fault does not hit the same row every time.
    const args = ['--deployments', deployments, '--seed', String(seed + 1_000 * this.#services), ...faults];
    const service = await this.stage.service(args, port);
    this.#base = service.base;
    const gatewayPort = this.#gatewayPort;
    if (this.#gateway === undefined) this.#gateway = await openGateway(service.base, HOLD_MS, gatewayPort);
    this.#gatewayPort = this.#gateway.port;
    this.stage.environment = { ...this.stage.environment, RUNSHEET_API_URL: this.#gateway.base };
    return lifeOf(service);
  }
  #gatewayPort = 0;

  async #closeGateway(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    if (gateway === undefined) return;
    this.calls.push(...gateway.calls);
    await gateway.close();
  }

  /** The calls so far, including those of the open gateway. */
  allCalls(): readonly QueueRunCall[] {
    return [...this.calls, ...(this.#gateway?.calls ?? [])];
  }

  async #openCluster(): Promise<void> {
    const temporal = await this.stage.temporal();
    let isFirst = true;
    this.#kept.temporal = new Kept(async () => {
      if (!isFirst) await temporal.restart();
      isFirst = false;
      return { pids: () => [temporal.pid()], ended: temporal.ended() };
    });
    const listen = await freeAddress();
    const webhook = { RUNSHEET_WEBHOOK_LISTEN: listen, RUNSHEET_WEBHOOK_URL: `http://${listen}` };
    const worker = (flag: string) =>
      new Kept(async () => {
        const running = this.stage.start(['worker', flag], webhook);
        await running.says(/webhooks at|no receiver/);
        return lifeOf(running);
      });
    this.#kept.worker = worker('--no-receiver');
    this.#kept.other = worker('--no-receiver');
    this.#kept.receiver = worker('--receiver-only');
    await this.#kept.temporal.open();
    await Promise.all([this.#kept.worker.open(), this.#kept.other.open(), this.#kept.receiver.open()]);
  }

  #runCommand(): Life {
    const { concurrency } = this.params;
    const args = ['run', this.stage.path('sheet.csv'), '-d', 'portraits', '-c', String(concurrency)];
    const limits = ['--retries', '5', '--queue-timeout', '20s', '--run-timeout', '20s'];
    const command = this.stage.start([...args, ...limits]);
    this.#command = command;
    const ended = command.ended.then(({ code, stderr }) => {
      this.outputs.push(`${code}: ${stderr.slice(-3_000)}`);
      const folder = this.folder();
      const isDone = folder !== undefined && existsSync(join(folder, 'summary.json'));
      this.#isOver ||= DONE_CODES.has(code) && isDone;
    });
    return { pids: () => [command.child.pid ?? 0], ended };
  }

  #pidsOf(victim: Victim): readonly number[] {
    const { service, temporal, worker, other: otherWorker, receiver, command } = this.#kept;
    const embedded = this.params.mode === 'embedded' ? livingRecord(this.stage.path('.runsheet')) : undefined;
    const of = (...kept: readonly (Kept | undefined)[]): readonly number[] =>
      kept.flatMap((process) => process?.pids() ?? []);
    const definedPids = (...pids: readonly (number | undefined)[]): readonly number[] =>
      pids.filter((pid) => pid !== undefined);
    switch (victim) {
      case 'worker':
        return embedded ? definedPids(embedded.worker?.pid) : of(Math.random() < 0.5 ? worker : otherWorker);
      case 'workers':
        return embedded ? definedPids(embedded.worker?.pid) : of(worker, otherWorker);
      case 'receiver':
        return of(receiver);
      case 'Temporal':
        return embedded ? definedPids(embedded.temporal?.pid) : of(temporal);
      case 'servers':
        return definedPids(embedded?.pid);
      case 'command':
        return of(command);
      case 'machine': {
        const roots = [
          ...of(temporal, worker, otherWorker, receiver, command),
          ...definedPids(embedded?.pid),
        ];
        return roots.flatMap((pid) => familyOf(pid));
      }
      case 'run service':
        return of(service);
    }
  }
}

const lifeOf = ({ child, ended }: Running): Life => ({ pids: () => [child.pid ?? 0], ended });
