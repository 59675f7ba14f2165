// The jobs of a hosted surface, kept whatever happens to the machines: a queue in front of several ComfyUIs, each with one job.
//
//      queued ──a worker is idle──▶ running ──▶ succeeded │ failed │ expired
//         └──────────▶ canceled ◀── canceling ◀──┘

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Executed } from './comfy-process.ts';
import type { Graph } from './node-classes.ts';
import { Refused, type Image, type NodeError, type Progress, type StoredJob } from './api-shapes.ts';
import type { ComfyStandIn } from './stand-in.ts';
import { validate } from './validation.ts';

export type Jobs = {
  /** Throws `Refused`. `isForgotten`: its process dies before it has stored the job. */
  create(graph: Graph, metadata: unknown, isForgotten: boolean): Promise<StoredJob | undefined>;
  /** undefined for a job that it does not have. */
  look(id: string): Promise<readonly [StoredJob, Progress] | undefined>;
  /** The newest first. */
  list(): Promise<readonly (readonly [StoredJob, Progress])[]>;
  cancel(id: string): Promise<void>;
  /** The process starts again and has lost its state. */
  forget(): void;
};

type HostedJob = StoredJob & { progress: Progress };

export type HostedRules = {
  /** How many jobs may wait. */
  depth: number;
  /** The remaining credits; each job costs one. */
  credits: number;
  state: 'ready' | 'not-ready' | 'stopped';
};

export class HostedJobs implements Jobs {
  readonly rules: HostedRules = { depth: 100, credits: Number.POSITIVE_INFINITY, state: 'ready' };
  readonly #workers: readonly ComfyStandIn[];
  readonly #busy = new Map<ComfyStandIn, string>();
  readonly #jobs = new Map<string, HostedJob>();
  readonly #waiting: HostedJob[] = [];

  constructor(workers: readonly ComfyStandIn[]) {
    this.#workers = workers;
    for (const worker of workers)
      worker.on('ended', ({ prompt_id, end }) => {
        // A worker that was killed meanwhile says nothing.
        this.#ended(worker, prompt_id, end).catch(() => undefined);
      });
  }

  // oxlint-disable-next-line require-await -- A refusal is a rejection here, as of jobs that ask ComfyUI.
  async create(graph: Graph, metadata: unknown): Promise<StoredJob> {
    this.#check(graph);
    const job: HostedJob = {
      id: randomUUID(),
      graph,
      metadata,
      createdMs: Date.now(),
      progress: { status: 'queued', outputs: [] },
    };
    this.rules.credits -= 1;
    this.#jobs.set(job.id, job);
    this.#waiting.push(job);
    this.#dispatch();
    return job;
  }

  async look(id: string): Promise<readonly [StoredJob, Progress] | undefined> {
    const job = this.#jobs.get(id);
    return job && [job, job.progress];
  }

  async list(): Promise<readonly (readonly [StoredJob, Progress])[]> {
    return [...this.#jobs.values()].toReversed().map((job) => [job, job.progress] as const);
  }

  async cancel(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    const [worker] = [...this.#busy].find(([, running]) => running === id) ?? [];
    if (worker !== undefined && job?.progress.status === 'running') {
      job.progress = { ...job.progress, status: 'canceling' };
      void this.#interrupt(worker, job);
    } else if (job?.progress.status === 'queued') {
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      job.progress = { ...job.progress, status: 'canceled', completedMs: Date.now() };
    }
  }

  /** Repeats the interrupt, because a worker that has not taken the prompt yet ignores it. */
  async #interrupt({ url }: ComfyStandIn, job: HostedJob): Promise<void> {
    const body = JSON.stringify({ prompt_id: job.id });
    while (job.progress.status === 'canceling') {
      const answer = await fetch(`${url}/interrupt`, { method: 'POST', body }).catch(() => undefined);
      if (answer === undefined) return;
      await wait(20);
    }
  }

  /** A job that is stored stays, whatever process dies. */
  forget(): void {}

  /** The platform gives a job up, whether it has run or not. */
  expire(id: string): void {
    const job = this.#jobs.get(id);
    if (job !== undefined) job.progress = { ...job.progress, status: 'expired' };
  }

  /** The time for which a job is kept has passed. */
  purge(id: string): void {
    this.#jobs.delete(id);
  }

  /** How many it executes now. */
  get running(): number {
    return this.#busy.size;
  }

  #check(graph: Graph): void {
    const { depth, credits, state } = this.rules;
    const [worker] = this.#workers;
    if (worker === undefined) throw new Error('there is no worker');
    if (state === 'stopped') throw new Refused(422, 'deployment_stopped', 'the deployment is stopped');
    if (state === 'not-ready')
      throw new Refused(429, 'deployment_not_ready', 'the deployment is starting', { retryAfter: 1 });
    // A check converts the values of the graph itself.
    const { error, node_errors } = validate(structuredCloneOf(graph), worker.classes, worker);
    if (error !== undefined)
      throw new Refused(422, 'invalid_workflow', error.message, { details: { node_errors } });
    if (credits < 1) throw new Refused(402, 'insufficient_credits', 'no credits are left');
    if (this.#waiting.length >= depth)
      throw new Refused(429, 'queue_full', 'the queue is full', { retryAfter: 1 });
  }

  #dispatch(): void {
    for (const worker of this.#workers) {
      if (this.#busy.has(worker)) continue;
      const job = this.#waiting.shift();
      if (job === undefined) return;
      this.#busy.set(worker, job.id);
      job.progress = { ...job.progress, status: 'running', startedMs: Date.now() };
      fetch(`${worker.url}/prompt`, {
        method: 'POST',
        body: JSON.stringify({ prompt: job.graph, prompt_id: job.id, client_id: job.id }),
      }).catch(() => undefined);
    }
  }

  async #ended(worker: ComfyStandIn, id: string, end: Executed['end']): Promise<void> {
    const job = this.#jobs.get(id);
    const { outputs, error } = await madeAt(worker, id);
    this.#busy.delete(worker);
    if (job !== undefined && ['running', 'canceling'].includes(job.progress.status)) {
      const status = end === 'success' ? 'succeeded' : end === 'interrupted' ? 'canceled' : 'failed';
      job.progress = { ...job.progress, status, completedMs: Date.now(), outputs, error };
    }
    this.#dispatch();
  }
}

const structuredCloneOf = (graph: Graph): Graph =>
  Object.fromEntries(
    Object.entries(graph).map(([id, node]) => [id, { ...node, inputs: { ...node.inputs } }]),
  );

export type Entry = {
  readonly status: { readonly status_str: string; readonly messages: readonly (readonly [string, object])[] };
  readonly outputs: Readonly<Record<string, Readonly<Record<string, readonly Image[]>>>>;
};

/** The outputs and the error that ComfyUI's history has of a prompt. */
export function madeIn(entry: Entry): Pick<Progress, 'outputs' | 'error'> {
  const [, failure] = entry.status.messages.find(([event]) => event === 'execution_error') ?? [];
  const { exception_message, node_id, node_type } = (failure ?? {}) as Record<string, string | undefined>;
  const error: NodeError | undefined = failure && {
    message: exception_message ?? '',
    node_id: node_id ?? null,
    class_type: node_type ?? null,
  };
  const outputs = Object.entries(entry.outputs).flatMap(([node, made]) =>
    Object.entries(made).flatMap(([key, images]) => images.map((image) => ({ node, key, image }))),
  );
  return { outputs, error };
}

async function madeAt({ url }: ComfyStandIn, id: string): Promise<Pick<Progress, 'outputs' | 'error'>> {
  const history = (await (await fetch(`${url}/history/${id}`)).json()) as Readonly<Record<string, Entry>>;
  return madeIn(history[id] ?? { status: { status_str: 'error', messages: [] }, outputs: {} });
}
