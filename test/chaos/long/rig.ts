// One batch with all that it needs, each a process of its own: the command with its embedded servers, a run service that
// does wrong, and a gateway between them that tells when an order is on its way.

import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { z } from 'zod';
import { workflowIdOf } from '../../../src/batch/ids.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Run } from '../../../src/run-service/contract/run.ts';
import { errorMessage } from '../../../src/errors.ts';
import { openBatches } from '../../../src/temporal/batches.ts';
import { connectClient } from '../../../src/temporal/connect.ts';
import { readRecord } from '../../../src/temporal/embedded/record.ts';
import { clientConverter } from '../../../src/temporal/encryption/converter.ts';
import { payloadKeys, type PayloadKeys } from '../../../src/temporal/encryption/keys.ts';
import { openGateway, type Gateway } from '../../stage/gateway.ts';
import { KEY, Stage, type Running } from '../../stage/stage.ts';

export type RigOrder = {
  readonly rows: number;
  readonly cap: number;
  readonly seed: number;
  /** Rates by name, as the run service takes them. */
  readonly faults: Readonly<Record<string, number>>;
};

/** A rough day: the shares of calls that each of it strikes. */
export const FAULTS = {
  'lose-webhook': 0.1,
  'repeat-webhook': 0.1,
  'drop-answer': 0.02,
  'drop-request': 0.02,
  'error-answer': 0.01,
  busy: 0.03,
};

const HOLD_MS = 150;
const RUN_SECONDS = 1;

const ledgerSchema = z.object({ runs: z.record(z.string(), z.number()) });

/** Those that have processes of their own at this moment. */
const open = new Set<Rig>();

/** Ends every process of every rig. */
export const closeAll = async (): Promise<void> => {
  await Promise.all([...open].map((rig) => rig.close()));
};

export class Rig {
  readonly stage = new Stage();
  readonly order: RigOrder;
  #service: (Running & { readonly base: string }) | undefined;
  #gateway: Gateway | undefined;
  #command: Running | undefined;
  #client: Client | undefined;

  private constructor(order: RigOrder) {
    this.order = order;
  }

  /** Starts all of it; the command is typed for the first time. */
  static async open(order: RigOrder): Promise<Rig> {
    const rig = new Rig(order);
    open.add(rig);
    try {
      await rig.serve();
      rig.type();
      return rig;
    } catch (error) {
      await rig.close();
      throw error;
    }
  }

  get service(): Running {
    return there(this.#service);
  }
  get gateway(): Gateway {
    return there(this.#gateway);
  }
  get command(): Running {
    return there(this.#command);
  }

  /** Starts the run service and the gateway, where they were before. */
  async serve(): Promise<void> {
    const { cap, seed, faults } = this.order;
    const deployment = {
      name: 'portraits',
      concurrencyLimit: cap,
      coldStartSeconds: 0,
      runSeconds: RUN_SECONDS,
      runSpread: 0.3,
      pictureSize: 32,
    };
    const deployments = this.stage.write('deployments.json', JSON.stringify([deployment]));
    const wrong = Object.entries(faults).flatMap(([name, rate]) => ['--fault', `${name}=${rate}`]);
    const port = this.#service === undefined ? 0 : Number(new URL(this.#service.base).port);
    const words = ['--deployments', deployments, '--seed', String(seed), ...wrong];
    this.#service = await this.stage.service(words, port);
    this.#gateway = await openGateway(this.#service.base, HOLD_MS, this.#gateway?.port);
    this.stage.environment = { ...this.stage.environment, RUNSHEET_API_URL: this.#gateway.base };
  }

  /** Types the command, the same every time. */
  type(): void {
    const { rows, cap } = this.order;
    this.#command = this.stage.start(['run', this.stage.sheet(rows), '-d', 'portraits', '-c', String(cap)]);
  }

  /** Whether the command has come to an end that nobody forced on it. */
  hasEnded(): boolean {
    return this.command.child.exitCode !== null;
  }

  /** Attempts that the batch says are uncertain; 0 while nobody answers. */
  async uncertain(): Promise<number> {
    try {
      const client = await this.#connect();
      const { view } = await openBatches(() => client).standing(basename(this.stage.batch()));
      return view?.uncertain ?? 0;
    } catch {
      return 0;
    }
  }

  #keys(): PayloadKeys {
    return payloadKeys({ ...loadConfig({}), home: this.stage.path('.runsheet') }, 'embedded');
  }

  /** A connection outlives the server, which keeps its port; one that is closed while a call is tried again throws. */
  async #connect(): Promise<Client> {
    const server = readRecord(this.stage.path('.runsheet'))?.temporal;
    if (this.#client === undefined && server !== undefined)
      this.#client = (
        await connectClient({ ...server, from: 'the chaos', options: {} }, clientConverter(this.#keys()))
      ).client;
    return there(this.#client);
  }

  /** All runs that the service has. */
  truth(): Promise<readonly Run[]> {
    return this.stage.truth(there(this.#service).base);
  }

  /** How many runs the service has by status; undefined while it is away. */
  async runs(): Promise<Readonly<Record<string, number>> | undefined> {
    const { origin } = new URL(there(this.#service).base);
    try {
      const headers = { authorization: `Bearer ${KEY}` };
      const answer = await fetch(`${origin}/control/ledger`, { headers, signal: AbortSignal.timeout(2_000) });
      return ledgerSchema.parse(await answer.json()).runs;
    } catch {
      // It was killed, or is being started; its runs are in its database.
      return undefined;
    }
  }

  /** Copies what tells how a batch came to this to where it stays: logs, and the history as far as anybody has it. */
  async keepEvidence(): Promise<string> {
    const kept = mkdtempSync(join(tmpdir(), 'runsheet-chaos-'));
    cpSync(this.stage.path('.runsheet', 'logs'), kept, { recursive: true });
    try {
      const handle = (await this.#connect()).workflow.getHandle(workflowIdOf(basename(this.stage.batch())));
      writeFileSync(join(kept, 'history.json'), JSON.stringify(historyToJSON(await handle.fetchHistory())));
    } catch (error) {
      writeFileSync(join(kept, 'no-history.txt'), errorMessage(error));
    }
    return kept;
  }

  async close(): Promise<void> {
    await this.stage.close();
    await this.#gateway?.close();
    open.delete(this);
  }
}

function there<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the rig is not open');
  return part;
}
