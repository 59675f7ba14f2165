// The user's GPU servers and workflows. They are stored, so that a service that starts again needs no flags
// for them.

import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import QuickLRU from 'quick-lru';
import { isWebAddress } from '../../host/http/web-address.ts';
import { problem } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { openDownloads } from '../../host/http/download.ts';
import type { Database } from '../database.ts';
import type { Deployment } from '../service-deployments.ts';
import { Unreachable, type Backend, type PutFile } from './backend.ts';
import { KnownServers, type TriedServer } from './known-servers.ts';
import { classesAt } from './queueing/able-servers.ts';
import { withAbsentFiles } from './workflow/default-files.ts';
import { givenGpusSchema, type GivenProgram, type GivenWorkflow } from './given-gpus.ts';
import { shownInput, shownServer } from './workflow/shown-inputs.ts';
import { openProgramSeat } from './program/program-seat.ts';
import { programTask } from './program/program-task.ts';
import type { WebhookAddresses } from './vendors/webhook-address.ts';
import { modelTask } from './vendors/model-task.ts';
import { applyVendorWebhook } from './vendors/vendor-webhooks.ts';
import { RunDispatcher } from './driving/run-dispatcher.ts';
import { priceAfter, type Price } from './vendor-price.ts';
import type { ExecutorDeps } from './driving/executor-deps.ts';
import { offeredInputs } from './workflow/filled-workflow.ts';
import { fileValuesIn, isGraph, keptTask, restoredTask, type InputsTask, type Task } from './task.ts';
import { changeIn, doubtsOf, workflowOf, type Workflow } from './workflow/workflow.ts';
import { readGraph, type Nodes } from './workflow/workflow-text.ts';

/** A deployment, and what its user should know about how its file was read. */
type AddedWorkflow = Pick<Deployment, 'id' | 'name'> & {
  readonly notes: readonly string[];
  readonly deployment: Deployment;
};

type OwnGpusWorld = Omit<ExecutorDeps, 'putFiles' | 'isOver' | 'keptUnder' | 'webhookUrl'> & {
  readonly database: Pick<
    Database,
    | 'servers'
    | 'keepServer'
    | 'forgetServer'
    | 'serverNames'
    | 'nameServer'
    | 'workflows'
    | 'keepWorkflow'
    | 'beDurable'
    | 'find'
  >;
  readonly deployments: Map<string, Deployment>;
  readonly uploads: { open(id: string): Promise<Readable | undefined> };
  /** The address of the service itself, whose uploads are read directly. */
  readonly origin: () => string;
  /** The addresses that vendors call at the end of a run; absent: their requests name none. */
  readonly webhookAddresses?: WebhookAddresses | undefined;
  /** The folder in which commands keep the programs that they name. */
  readonly programs: string;
  /** The folder of tries of programs, on the disk of the kept files. */
  readonly seats: string;
  /** The folder of the locks of GPUs that all services of this user share. */
  readonly locks: string | undefined;
};

const MAX_LOOKED = 100;

type AddedGpus = { readonly deployments: readonly AddedWorkflow[]; readonly servers: readonly string[] };

export class OwnGpus {
  readonly #world: OwnGpusWorld;
  readonly executor: RunDispatcher;
  readonly known: KnownServers;
  /** Values that programs need and that are never stored. */
  readonly #secrets = new Map<string, string>();
  /** Workflows of plans, by id. They take no runs. */
  readonly #looked = new QuickLRU<string, Deployment>({ maxSize: MAX_LOOKED });
  /** Prices of models that plans state. No run costs them yet. */
  readonly #plannedPrices = new Map<string, Price>();

  constructor(world: OwnGpusWorld) {
    this.#world = world;
    const secret = (name: string): string | undefined => this.#secrets.get(name);
    this.known = new KnownServers({
      ...world,
      executor: () => this.executor,
      openSeat: (gpu) =>
        openProgramSeat({
          gpu,
          folder: join(world.seats, gpu),
          secret,
          locks: world.locks,
          timing: world.timing,
        }),
    });
    this.executor = new RunDispatcher({
      ...world,
      keptUnder: this.known.keptUnder,
      isOver: (id) => (world.database.find(id)?.endedMs ?? null) !== null,
      putFiles: fileCarrier(world),
      webhookUrl: (task, id, tries) =>
        task.kind === 'model'
          ? world.webhookAddresses?.addressOf({ vendor: task.vendor, id, tries })
          : undefined,
    });
  }

  isVendorWebhook = (path: string): boolean => this.#world.webhookAddresses?.runAt(path) !== undefined;

  /** Takes what a vendor tells at this path. Returns the status of the answer. */
  async takeVendorWebhook(path: string, message: Parameters<typeof applyVendorWebhook>[2]): Promise<number> {
    const { webhookAddresses, database, now, commit, events } = this.#world;
    if (webhookAddresses === undefined) return 404;
    const [task, servers] = [(id: string) => this.executor.task(id), () => this.executor.servers];
    return applyVendorWebhook(
      { addresses: webhookAddresses, find: database.find, task, servers, now, commit, events },
      path,
      message,
    );
  }

  /** Restores stored servers and workflows, whether the servers answer or not. */
  restore(): void {
    const { database } = this.#world;
    this.known.restore();
    for (const text of database.workflows()) this.#serve(restoredTask(text));
    if (this.executor.servers.length > 0) database.beDurable();
  }

  /** A deployment or a planned workflow, for runs that only these servers may execute. */
  described(id: string, named: readonly string[] = []): Deployment | undefined {
    const deployment = this.#world.deployments.get(id);
    const looked = this.#looked.get(id);
    const task = this.executor.task(id);
    if (named.length === 0 || task === undefined) return deployment ?? looked;
    const { servers, unknown } = this.known.named(named);
    return unknown.length > 0 ? (looked ?? deployment) : this.#deployment(task, servers);
  }

  /**
   * Returns the deployments in the order of the workflows, and the addresses under which the servers are
   * stored. Throws E602 for a workflow that cannot run, and E614 if no server answers and at least one is
   * new.
   */
  async add(body: unknown): Promise<AddedGpus> {
    const { servers, workflows, programs, models, keeps } = givenGpusSchema.parse(body);
    const tried: TriedServer[] = [];
    for (const server of servers) tried.push(await this.known.take(server, tried));
    const [fault] = tried.flatMap((server) => server.fault ?? []);
    const isNone = tried.every((server) => server.fault !== undefined);
    // Known servers may be away for a while, because the command may continue a batch.
    if (fault !== undefined && isNone && !tried.every(({ isKnown }) => isKnown)) {
      await Promise.all(tried.map(({ drop }) => drop()));
      throw fault;
    }
    // A server that is away is stored too, and used once it answers.
    if (keeps) for (const { keep } of tried) keep();
    const urls = [...new Set(tried.map(({ url }) => url))];
    const made: { readonly task: Task; readonly notes: readonly string[] }[] = [];
    try {
      for (const file of workflows) {
        const { nodes, notes } = readGraph(file);
        const [workflow, doubts] = await this.#workflow(file, nodes, tried);
        const change = changeIn(nodes, workflow);
        made.push({
          task: { ...workflow, runTimeoutSeconds: file.runTimeoutSeconds },
          notes: [
            ...notes,
            ...[...(change === undefined ? [] : [change]), ...doubts].map(
              (why) => `the workflow ${file.name} ${why}`,
            ),
          ],
        });
      }
      made.push(...programs.map((program) => ({ task: this.#program(program), notes: [] })));
      for (const model of models) {
        const { task, notes } = await modelTask(model, this.#backendsOf(tried, !keeps), this.executor.tasks);
        made.push({ task: this.#asPriced(task), notes });
      }
    } finally {
      if (!keeps) await Promise.all(tried.map(({ drop }) => drop()));
    }
    const deployments = made.map(({ task, notes }) => {
      const deployment = keeps ? this.#serve(task) : this.#look(task, tried);
      return { id: deployment.id, name: deployment.name, notes, deployment };
    });
    return { deployments, servers: urls };
  }

  /**
   * Reads a workflow with the first of these servers that can execute it, and with the options that all of
   * them offer. Without servers, all known ones are used.
   */
  async #workflow(
    { name, inputs }: Pick<GivenWorkflow, 'name' | 'inputs'>,
    nodes: Nodes,
    tried: readonly TriedServer[],
  ): Promise<readonly [workflow: Workflow, doubts: readonly string[]]> {
    const backends = this.#backendsOf(tried);
    const answers = await Promise.allSettled(backends.map((backend) => classesAt(backend, nodes)));
    const stocks = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    let first: unknown = answers.find((answer) => answer.status === 'rejected')?.reason;
    // A server that tells its classes knows more about the inputs.
    for (const classes of stocks.toSorted((a, b) => Number(b !== undefined) - Number(a !== undefined))) {
      try {
        const workflow = workflowOf(name, nodes, classes, inputs);
        const offered = { ...workflow, inputs: offeredInputs(workflow, stocks) };
        return [await withAbsentFiles(offered, backends), doubtsOf(offered)];
      } catch (error) {
        // A fault of the workflow says more than a server that does not answer.
        if (first === undefined || first instanceof Unreachable) first = error;
      }
    }
    const before =
      first instanceof Unreachable && this.executor.task(workflowOf(name, nodes, undefined, inputs).id);
    if (before && isGraph(before)) return [before, []];
    if (first instanceof Unreachable)
      throw problem('E614', { url: [...this.known.backends.keys()].join(', '), reason: first.message });
    throw (
      first ??
      problem('E602', {
        what: `there is no GPU server for the workflow ${name}`,
        hint: 'name one: --comfyui http://127.0.0.1:8188',
      })
    );
  }

  /** The servers of a command, or all known ones if it names none. `isLook`: only the command has the key of a vendor. */
  #backendsOf(tried: readonly TriedServer[], isLook = false): readonly Backend[] {
    const { backends } = this.known;
    const own = tried.map(({ url, backend }) => (isLook ? backend : (backends.get(url) ?? backend)));
    return own.length > 0 ? own : [...backends.values()];
  }

  #program({ id, secrets }: GivenProgram): Task {
    const task = programTask(this.#world.programs, id);
    if (task.kind === 'program')
      for (const name of task.program.secrets) {
        const value = secrets[name];
        if (value !== undefined) this.#secrets.set(name, keepSecret(value));
      }
    return task;
  }

  #asPriced(task: InputsTask): Task {
    const before = this.executor.task(task.id);
    const price = before === undefined || isGraph(before) ? task.price : priceAfter(before.price, task.price);
    return { ...task, ...(price && { price }) };
  }

  /** A deployment with the current options of its servers, because nobody asks them later. */
  #look(task: Task, tried: readonly TriedServer[]): Deployment {
    if (!isGraph(task) && task.price !== undefined) this.#plannedPrices.set(task.id, task.price);
    const stored = this.#world.deployments.get(task.id);
    const isNew = tried.some(({ isKnown }) => !isKnown);
    if (stored !== undefined && !isNew) return stored;
    const own = this.#deployment(task);
    const servers = tried.length > 0 ? tried : this.executor.among('', task);
    const looked = {
      ...own,
      gpu: servers.find(({ gpu }) => gpu)?.gpu ?? own.gpu,
      concurrencyLimit: Math.max(1, servers.length),
      inputTypes: task.inputs?.map(shownInput),
      servers: servers.map(shownServer),
    };
    this.#looked.set(task.id, looked);
    return looked;
  }

  #serve(task: Task): Deployment {
    const { deployments, database } = this.#world;
    this.#plannedPrices.delete(task.id);
    database.keepWorkflow(task.id, keptTask(task));
    this.executor.addTask(task);
    const deployment = this.#deployment(task);
    deployments.delete(task.id);
    deployments.set(task.id, deployment);
    return deployment;
  }

  #deployment(task: Task, named = ''): Deployment {
    const { executor } = this;
    const prices = this.#plannedPrices;
    const servers = () => executor.among(named, task);
    const { id, name, runTimeoutSeconds } = task;
    return {
      id,
      name,
      isReal: true,
      ...(task.kind === 'model' && task.isPaid && { isBilled: true as const }),
      // Getters, because the list of servers may grow.
      get gpu() {
        return servers()[0]?.gpu ?? 'GPU';
      },
      get concurrencyLimit() {
        return Math.max(
          1,
          servers().reduce((sum, { seats }) => sum + seats.atOnce, 0),
        );
      },
      runTimeoutSeconds,
      machineVersion: null,
      machineType: null,
      get servers() {
        return servers().map(shownServer);
      },
      get price() {
        return prices.get(id) ?? (isGraph(task) ? undefined : task.price);
      },
      get inputTypes() {
        return executor.inputsOf(task, servers())?.map(shownInput);
      },
    };
  }
}

/** Only public addresses are read: a row must not reach into the network of the service. */
const PUBLIC = 'http://192.0.2.1';
const MAX_INPUT_BYTES = 1 << 30;
const INPUT_MS = 600_000;

/** Uploads the input files of a run to its server. Each run downloads them again, because the file at an address may have changed. */
function fileCarrier({ uploads, origin, files: kept }: OwnGpusWorld): ExecutorDeps['putFiles'] {
  const download = openDownloads(4);
  const uploadAt = async (address: string): Promise<Readable | undefined> => {
    const path = address.startsWith(`${origin()}/`) ? address.slice(origin().length) : '';
    const [, id] = /^\/files\/uploads\/([^/]+)\//.exec(path) ?? [];
    return id === undefined ? undefined : uploads.open(id);
  };
  const chunksAt = async (address: string): Promise<AsyncIterable<Uint8Array>> => {
    const uploaded = await uploadAt(address);
    if (uploaded !== undefined) return uploaded;
    const signal = AbortSignal.timeout(INPUT_MS);
    return bounded((await download(address, { service: PUBLIC, signal })).chunks);
  };
  return async (task, values, backend) => {
    const put = new Map<string, PutFile>();
    for (const address of new Set(fileValuesIn(task, values).filter(isAddress))) {
      const extension = extname(new URL(address).pathname).slice(0, 8);
      const putFile = await kept.passing(await chunksAt(address), (content, hash) =>
        backend.put({ name: `${hash}${extension}`, content }),
      );
      put.set(address, putFile);
    }
    return put;
  };
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) throw new Error(`a file of more than ${MAX_INPUT_BYTES} bytes`);
    yield chunk;
  }
}

const isAddress = (value: unknown): value is string => typeof value === 'string' && isWebAddress(value);
