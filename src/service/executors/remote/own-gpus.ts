// A user's own GPU servers and workflows, as they are given and kept: a service that starts again needs no flags for them.

import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import QuickLRU from 'quick-lru';
import { z } from 'zod';
import { definedOnly } from '../../../options/defined-only.ts';
import { isWebAddress, withScheme } from '../../../host/web-address.ts';
import { errorMessage, problem, type RunsheetError } from '../../../errors/error.ts';
import { openDownloads } from '../../../run-service/download.ts';
import type { Database, ServerRow } from '../../database.ts';
import type { Deployment } from '../../deployments.ts';
import { Unreachable, type Backend, type PutFile } from './backend.ts';
import { addressOf, openServer, type Settings } from './server-address.ts';
import { classesAt } from './able-servers.ts';
import { pathOf } from './naming/values.ts';
import { Remote, type RemoteWorld } from './remote.ts';
import { offeredInputs } from './filled-workflow.ts';
import {
  keptWorkflow,
  restoredWorkflow,
  RUN_TIMEOUT_SECONDS,
  workflowOf,
  type InputType,
  type Workflow,
} from './workflow.ts';
import { readGraph, type Nodes } from './workflow-text.ts';

const givenGpusSchema = z.strictObject({
  servers: z
    .array(
      z.strictObject({
        url: z.string().transform(withScheme).refine(isWebAddress, 'it is no http address'),
        kind: z.enum(['comfyui', 'comfy-api']).default('comfyui'),
        /** What its GPU is called (default: what the server says). */
        gpu: z.string().min(1).max(60).optional(),
        headersFile: z.string().optional(),
        /** How many runs it executes at the same time (default: what its kind says). */
        seats: z.int().min(1).max(1_000).optional(),
      }),
    )
    .default([]),
  workflows: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(100),
        /** A file that holds the workflow as ComfyUI exports it for its API. */
        text: z.string(),
        /** Which graph of the file, if it has several: `$.workflows[1]`. */
        at: z.string().optional(),
        /** What the file is called, for messages. */
        file: z.string().optional(),
        /** Names for inputs: `{ prompt: ['6.text'] }`. */
        inputs: z.record(z.string(), z.array(z.string()).min(1)).default({}),
        runTimeoutSeconds: z.number().positive().default(RUN_TIMEOUT_SECONDS),
      }),
    )
    .default([]),
  /** false: they are looked at for a plan, and nothing of them is kept. */
  keeps: z.boolean().default(true),
});

/** A deployment, and what its user should know of how its file was read. */
export type AddedWorkflow = Pick<Deployment, 'id' | 'name'> & {
  readonly notes: readonly string[];
  readonly deployment: Deployment;
};

type GivenWorkflow = z.output<typeof givenGpusSchema>['workflows'][number];
type GivenServer = z.output<typeof givenGpusSchema>['servers'][number];

/** A server that was asked: `fault` says why it cannot be used now. */
type Tried = {
  readonly backend: Backend;
  readonly gpu: string | null;
  readonly keep: () => void;
  readonly drop: () => Promise<void>;
  readonly isKnown: boolean;
  readonly fault?: RunsheetError;
};

type World = Omit<RemoteWorld, 'putFiles' | 'isOver'> & {
  readonly database: Pick<
    Database,
    'servers' | 'keepServer' | 'workflows' | 'keepWorkflow' | 'beDurable' | 'find'
  >;
  readonly deployments: Map<string, Deployment>;
  readonly uploads: { open(id: string): Promise<Readable | undefined> };
  /** The address of the service itself, whose uploads it reads directly. */
  readonly origin: () => string;
};

const LOOKED_MOST = 100;

export class OwnGpus {
  readonly #world: World;
  readonly executor: Remote;
  readonly #backends = new Map<string, Backend>();
  readonly #settings = new Map<string, Settings>();
  /** Workflows of plans, by id: they take no run. */
  readonly #looked = new QuickLRU<string, Deployment>({ maxSize: LOOKED_MOST });

  constructor(world: World) {
    this.#world = world;
    this.executor = new Remote({
      ...world,
      isOver: (id) => (world.database.find(id)?.endedMs ?? null) !== null,
      putFiles: fileCarrier(world),
    });
  }

  /** Those of before, whether their servers answer or not. */
  restore(): void {
    const { database } = this.#world;
    for (const row of database.servers()) this.#restored(row);
    for (const text of database.workflows()) this.#serve(restoredWorkflow(text));
    if (this.executor.servers.length > 0) database.beDurable();
  }

  /** A workflow of a plan. */
  looked(id: string): Deployment | undefined {
    return this.#looked.get(id);
  }

  /** Returns the deployments, in the order of the workflows. Throws E602 for what cannot run, and E614 if no server answers and one was never used. */
  async add(given: unknown): Promise<readonly AddedWorkflow[]> {
    const { servers, workflows, keeps } = givenGpusSchema.parse(given);
    const tried: Tried[] = [];
    for (const server of servers) tried.push(await this.#take(server));
    const [fault] = tried.flatMap((one) => one.fault ?? []);
    const isNone = tried.every((one) => one.fault !== undefined);
    // Servers that are known may be away for a while: the command may be one that goes on.
    if (fault !== undefined && isNone && !tried.every(({ isKnown }) => isKnown)) {
      await Promise.all(tried.map(({ drop }) => drop()));
      throw fault;
    }
    // One of several may be away; it is kept, and used once it answers.
    if (keeps) for (const { keep } of tried) keep();
    const others = keeps ? [] : tried.filter(({ isKnown }) => !isKnown).map(({ backend }) => backend);
    const made: { readonly workflow: Workflow; readonly notes: readonly string[] }[] = [];
    try {
      for (const one of workflows) {
        const { nodes, notes } = readGraph(one);
        const workflow = await this.#workflow(one, nodes, others);
        made.push({ workflow: { ...workflow, runTimeoutSeconds: one.runTimeoutSeconds }, notes });
      }
    } finally {
      if (!keeps) await Promise.all(tried.map(({ drop }) => drop()));
    }
    const gpu = tried.find((one) => one.gpu !== null)?.gpu ?? undefined;
    return made.map(({ workflow, notes }) => {
      const deployment = keeps ? this.#serve(workflow) : this.#look(workflow, others.length, gpu);
      return { id: deployment.id, name: deployment.name, notes, deployment };
    });
  }

  async #take(given: GivenServer): Promise<Tried> {
    const { database } = this.#world;
    const url = addressOf(given.url);
    const before = database.servers().find((row) => row.url === url);
    const row: ServerRow = {
      url,
      kind: given.kind,
      gpu: given.gpu ?? before?.gpu ?? null,
      headersFile: given.headersFile ?? before?.headersFile ?? null,
      seats: given.seats ?? before?.seats ?? null,
    };
    const isKnown = before !== undefined;
    const opened = openServer(row);
    const { backend } = opened;
    const drop = (): Promise<void> => backend.close();
    const keep = (gpu: string | null) => (): void => {
      database.keepServer({ ...row, gpu });
      const known = this.#settings.get(url);
      if (known === undefined) return this.#open(row, opened);
      Object.assign(known.headers, opened.settings.headers);
      known.seats = opened.settings.seats;
      void drop();
    };
    try {
      const described = await backend.describe();
      const gpu = row.gpu ?? described.gpu;
      return { backend, gpu, keep: keep(gpu), drop, isKnown };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return {
        backend,
        gpu: row.gpu,
        keep: keep(row.gpu),
        drop,
        isKnown,
        fault: problem('E614', { url, reason: errorMessage(error) }),
      };
    }
  }

  /** Under its host, or its whole address if another one has that. */
  #open(
    { url, gpu }: ServerRow,
    { backend, settings }: Pick<ReturnType<typeof openServer>, 'backend' | 'settings'>,
  ): void {
    const { host } = new URL(url);
    const isTaken = this.executor.servers.some(({ name }) => name === host);
    this.#backends.set(url, backend);
    this.#settings.set(url, settings);
    this.executor.addServer(isTaken ? url : host, gpu ?? undefined, backend);
    this.#world.database.beDurable();
  }

  /** A file that is gone must not keep the service from starting: its server is away, and says why. */
  #restored(row: ServerRow): void {
    try {
      this.#open(row, openServer(row));
    } catch (error) {
      this.#world.say('server-without-headers', { server: row.url, reason: errorMessage(error) });
      this.#open(row, openServer({ ...row, headersFile: null }));
    }
  }

  /** Of the first server that can run it, with what all of them offer. */
  async #workflow(
    { name, inputs }: Pick<GivenWorkflow, 'name' | 'inputs'>,
    nodes: Nodes,
    others: readonly Backend[],
  ): Promise<Workflow> {
    const backends = [...this.#backends.values(), ...others];
    const asked = await Promise.allSettled(backends.map((backend) => classesAt(backend, nodes)));
    const stocks = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    let first: unknown = asked.find((one) => one.status === 'rejected')?.reason;
    // One that tells its classes knows more of the inputs.
    for (const classes of stocks.toSorted((a, b) => Number(b !== undefined) - Number(a !== undefined))) {
      try {
        const workflow = workflowOf(name, nodes, classes, inputs);
        return { ...workflow, inputs: offeredInputs(workflow, stocks) };
      } catch (error) {
        // What is wrong with the workflow says more than a server that does not answer.
        if (first === undefined || first instanceof Unreachable) first = error;
      }
    }
    const known =
      first instanceof Unreachable && this.executor.workflow(workflowOf(name, nodes, undefined, inputs).id);
    if (known) return known;
    if (first instanceof Unreachable)
      throw problem('E614', { url: [...this.#backends.keys()].join(', '), reason: first.message });
    throw (
      first ??
      problem('E602', {
        what: `there is no GPU server for the workflow ${name}`,
        hint: 'name one: --comfyui http://127.0.0.1:8188',
      })
    );
  }

  /** With what its servers say now: afterwards nobody asks them. */
  #look(workflow: Workflow, others: number, gpu: string | undefined): Deployment {
    const known = this.#world.deployments.get(workflow.id);
    if (known !== undefined) return known;
    const own = this.#deployment(workflow);
    const looked = {
      ...own,
      gpu: this.executor.servers[0]?.gpu ?? gpu ?? own.gpu,
      concurrencyLimit: Math.max(1, this.executor.servers.length + others),
      inputTypes: workflow.inputs.map(shownInput),
    };
    this.#looked.set(workflow.id, looked);
    return looked;
  }

  #serve(workflow: Workflow): Deployment {
    const { deployments, database } = this.#world;
    database.keepWorkflow(workflow.id, keptWorkflow(workflow));
    this.executor.addWorkflow(workflow);
    const deployment = this.#deployment(workflow);
    deployments.delete(workflow.id);
    deployments.set(workflow.id, deployment);
    return deployment;
  }

  #deployment(workflow: Workflow): Deployment {
    const { executor } = this;
    const { id, name, runTimeoutSeconds } = workflow;
    return {
      id,
      name,
      isReal: true,
      // They follow the servers, of which more may come.
      get gpu() {
        return executor.servers[0]?.gpu ?? 'GPU';
      },
      get concurrencyLimit() {
        return Math.max(
          1,
          executor.servers.reduce((sum, { seats }) => sum + seats.atOnce, 0),
        );
      },
      runTimeoutSeconds,
      machineVersion: null,
      machineType: null,
      get inputTypes() {
        return executor.inputsOf(workflow).map(shownInput);
      },
    };
  }
}

const shownInput = ({ name, type, default: usual, min, max, options, fields, ...more }: InputType) => ({
  name,
  type,
  required: false,
  default: usual,
  ...definedOnly({ min: shownBound(min), max: shownBound(max) }),
  ...(options === undefined ? {} : { options: [...options] }),
  fields: fields.map((field) => `${pathOf(field)}${field.part ?? ''}`),
  ...definedOnly({
    also: more.also && [...more.also],
    ask: more.ask,
    word: more.word,
    isIdle: more.isIdle,
    node: more.node && definedOnly(more.node),
  }),
});

/** Of a bound beyond 2^53, clients would read other digits; what lies beyond it is refused. */
function shownBound(bound: string | undefined): number | undefined {
  const number = Number(bound);
  return bound === undefined || (Number.isInteger(number) && !Number.isSafeInteger(number))
    ? undefined
    : number;
}

/** Only public addresses: a row must not reach into the network of the service. */
const PUBLIC = 'http://192.0.2.1';
const INPUT_BYTES_MOST = 1 << 30;
const INPUT_MS = 600_000;

/** Carries the files of a run to the server that executes it. Each run asks for them: what an address names may be another file by now. */
function fileCarrier({ uploads, origin, files: kept }: World): RemoteWorld['putFiles'] {
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
  return async ({ inputs }, given, backend) => {
    const put = new Map<string, PutFile>();
    const named = inputs.filter(({ fields }) => fields.some(({ isFile }) => isFile));
    for (const address of new Set(named.map(({ name }) => given[name]).filter(isAddress))) {
      const extension = extname(new URL(address).pathname).slice(0, 8);
      const there = await kept.passing(await chunksAt(address), (content, hash) =>
        backend.put({ name: `${hash}${extension}`, content }),
      );
      put.set(address, there);
    }
    return put;
  };
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > INPUT_BYTES_MOST) throw new Error(`a file of more than ${INPUT_BYTES_MOST} bytes`);
    yield chunk;
  }
}

const isAddress = (value: unknown): value is string => typeof value === 'string' && isWebAddress(value);
