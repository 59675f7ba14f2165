// The jobs of comfy-api-proxy: it hands each to its ComfyUI, remembers it after ComfyUI's answer, and knows how it is only from there.

import { randomUUID } from 'node:crypto';
import type { Graph } from './node-classes.ts';
import { madeIn, type Entry, type Jobs } from './api-hosted-jobs.ts';
import { Refused, type Progress, type StoredJob } from './api-shapes.ts';
import type { ComfyStandIn } from './stand-in.ts';

type Items = readonly (readonly [number, string])[];

/** How ComfyUI's answers are asked for; a list asks once for all of its jobs. */
type Facts = {
  readonly history: Readonly<Record<string, Entry>>;
  readonly queue: Readonly<Record<'queue_running' | 'queue_pending', Items>>;
};

export class ProxyJobs implements Jobs {
  readonly #gpu: ComfyStandIn;
  #jobs: StoredJob[] = [];

  constructor(gpu: ComfyStandIn) {
    this.#gpu = gpu;
  }

  async create(graph: Graph, metadata: unknown, isForgotten: boolean): Promise<StoredJob | undefined> {
    const id = randomUUID();
    const body = JSON.stringify({ prompt: graph, prompt_id: id, client_id: id });
    const answer = await fetch(`${this.#gpu.url}/prompt`, { method: 'POST', body }).catch(() => undefined);
    if (answer === undefined) throw unreachable();
    if (!answer.ok) {
      const { error, node_errors } = (await answer.json()) as {
        error?: { message: string };
        node_errors?: object;
      };
      throw new Refused(422, 'invalid_workflow', error?.message ?? 'Workflow rejected.', {
        details: { node_errors },
      });
    }
    if (isForgotten) return undefined;
    const job = { id, graph, metadata, createdMs: Date.now() };
    this.#jobs.push(job);
    return job;
  }

  async look(id: string): Promise<readonly [StoredJob, Progress] | undefined> {
    const job = this.#jobs.find((candidate) => candidate.id === id);
    const progress = progressIn(await this.#facts(`/${id}`), id);
    if (job === undefined && progress.status === 'expired') return undefined;
    return [job ?? { id, graph: {}, metadata: undefined, createdMs: Date.now() }, progress];
  }

  async list(): Promise<readonly (readonly [StoredJob, Progress])[]> {
    const facts = this.#jobs.length === 0 ? undefined : await this.#facts();
    return this.#jobs
      .toReversed()
      .flatMap((job) => (facts ? [[job, progressIn(facts, job.id)] as const] : []));
  }

  async cancel(id: string): Promise<void> {
    await this.#post('/queue', { delete: [id] });
    await this.#post('/interrupt', { prompt_id: id });
  }

  forget(): void {
    this.#jobs = [];
  }

  async #facts(below = ''): Promise<Facts> {
    const history = await this.#read<Facts['history']>(`/history${below}`);
    return { history, queue: await this.#read<Facts['queue']>('/queue') };
  }

  async #read<T>(path: string): Promise<T> {
    const answer = await fetch(`${this.#gpu.url}${path}`).catch(() => undefined);
    if (answer === undefined) throw unreachable();
    return (await answer.json()) as T;
  }

  async #post(path: string, body: object): Promise<void> {
    await fetch(`${this.#gpu.url}${path}`, { method: 'POST', body: JSON.stringify(body) }).catch(() => {
      throw unreachable();
    });
  }
}

/** Nobody knows whether ComfyUI has the prompt, so its key stays used. */
const unreachable = (): Refused =>
  new Refused(503, 'upstream_unreachable', 'Could not reach ComfyUI.', { holdsKey: true });

function progressIn({ history, queue }: Facts, id: string): Progress {
  const entry = history[id];
  const isIn = (items: Items): boolean => items.some(([, itemId]) => itemId === id);
  if (entry === undefined) {
    const status = isIn(queue.queue_running) ? 'running' : isIn(queue.queue_pending) ? 'queued' : 'expired';
    return { status, outputs: [] };
  }
  const { messages, status_str } = entry.status;
  const isInterrupted = messages.some(([event]) => event === 'execution_interrupted');
  const ended = status_str === 'success' ? 'succeeded' : 'failed';
  const { outputs, error } = madeIn(entry);
  return { status: isInterrupted ? 'canceled' : ended, outputs, ...(ended === 'failed' && { error }) };
}
