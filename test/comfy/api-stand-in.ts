// A service that speaks the Comfy API v2, for tests: a stand-in for ComfyUI behind it, and the habits of comfy-api-proxy and of
// Comfy Cloud in front. A key is used up by the first request with it; jobs of before a restart of ComfyUI are `expired`.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { serveForTest } from '../stage/serve.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

type Job = { readonly id: string; readonly metadata: string | undefined; readonly createdMs: number };
type Shown = { readonly status: unknown; readonly [more: string]: unknown };
type Facts = {
  readonly history: Readonly<Record<string, Entry>>;
  readonly queue: Readonly<Record<'queue_running' | 'queue_pending', readonly (readonly [number, string])[]>>;
};
type Entry = {
  readonly status: { readonly status_str: string; readonly messages: readonly (readonly [string, object])[] };
  readonly outputs: Readonly<
    Record<string, Readonly<Record<string, readonly { readonly filename: string }[]>>>
  >;
};

/**
 * What happens to the next job: its answer is lost, or its process dies before it remembers it, before ComfyUI has it, or before it has
 * used the key.
 */
export type Loss = 'the answer' | 'its memory' | 'the request' | 'everything';

export class ApiStandIn {
  readonly #gpu: ComfyStandIn;
  readonly #hasLists: boolean;
  readonly #keys = new Set<string>();
  /** The keys of all requests for a job, also of those that were refused. */
  readonly asked: string[] = [];
  #jobs: Job[] = [];
  loses: Loss | undefined;
  /** Where files are instead. */
  store: string | undefined;
  /** Fulfilled when a job was to be cancelled. */
  readonly cancelled = Promise.withResolvers<void>();
  /** Changes what it shows of a job; one that throws is in no list, and asking for it is answered with 503. */
  alters = (job: Shown): Shown => job;
  /** It answers nothing, and counts that. */
  isAway = false;
  unanswered = 0;
  /** When it answers the next job. */
  answersAfter: Promise<void> | undefined;
  /** Refuses jobs: no credits are left, too many at once, or by a gateway. */
  refuses: 402 | 429 | 502 | undefined;

  url = '';

  private constructor(gpu: ComfyStandIn, hasLists: boolean) {
    this.#gpu = gpu;
    this.#hasLists = hasLists;
  }

  /** For the test that runs. */
  static async of(gpu: ComfyStandIn, hasLists = true): Promise<ApiStandIn> {
    const api = new ApiStandIn(gpu, hasLists);
    ({ url: api.url } = await serveForTest((incoming, response) => api.#serve(incoming, response)));
    return api;
  }

  /** Its process was started again without a folder for its state. */
  forget(): void {
    this.#keys.clear();
    this.#jobs = [];
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isAway) this.unanswered += 1;
    if (this.isAway) return void response.destroy();
    const send = (status: number, body: object, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(incoming.url ?? '/', this.url);
    const [, , , kind, id, action] = pathname.split('/');
    try {
      if (kind === 'health') return send(200, { status: 'healthy' });
      if (kind === 'assets' && id === undefined) return send(201, { id: await this.#keep(incoming) });
      if (kind === 'assets' && this.store !== undefined)
        return send(302, {}, { location: `${this.store}?asset=${id}` });
      if (kind === 'assets') return await this.#asset(id ?? '', response);
      if (pathname === '/store') return await this.#asset(searchParams.get('asset') ?? '', response);
      if (kind !== 'jobs') return send(404, errorOf('not_found'));
      if (id !== undefined) {
        const job = this.#jobs.find((one) => one.id === id);
        if (action === 'cancel') await this.#cancel(id);
        const shown = await this.#shown(job ?? { id, metadata: undefined, createdMs: Date.now() });
        return job === undefined && shown.status === 'expired'
          ? send(404, errorOf('not_found'))
          : send(200, shown);
      }
      if (incoming.method === 'POST') return await this.#submit(incoming, response, send);
      if (!this.#hasLists) return send(501, errorOf('not_implemented'));
      const newest = this.#jobs.toReversed().slice(0, Number(searchParams.get('limit')));
      // Asked for once: a list of many jobs must not keep the machine busy.
      const facts = await this.#facts();
      const shown = await Promise.all(newest.map((job) => this.#shown(job, facts).catch(() => [])));
      return send(200, { jobs: shown.flat(), truncated: false });
    } catch {
      send(503, errorOf('upstream_unreachable'));
    }
  }

  async #submit(
    incoming: IncomingMessage,
    response: ServerResponse,
    send: (status: number, body: object, headers?: Record<string, string>) => void,
  ): Promise<void> {
    // Not parsed: a graph keeps the digits of its seeds.
    const body = await text(incoming);
    const key = String(incoming.headers['idempotency-key']);
    const [, metadata] = /"metadata":"([^"]*)"/.exec(body) ?? [];
    this.asked.push(key);
    await this.answersAfter;
    if (metadata === undefined) return send(422, errorOf('invalid_request'));
    if (this.refuses !== undefined)
      return send(this.refuses, errorOf(this.refuses === 402 ? 'insufficient_credits' : 'queue_full'), {
        'retry-after': '1',
      });
    if (this.#keys.has(key)) return send(422, errorOf('idempotency_key_reuse'));
    const { loses } = this;
    this.loses = undefined;
    if (loses === 'everything') return void response.destroy();
    this.#keys.add(key);
    if (loses === 'the request') return void response.destroy();
    const id = randomUUID();
    const [, workflow] = /^\{"workflow":(.*),"metadata":"[^"]*"\}$/s.exec(body) ?? [];
    // Unanswered: the key stays used.
    const prompt = workflow?.replaceAll(/\{"__type":"core\/ASSET","info":\{"id":"([\w-]+)"\}\}/g, nameOf);
    const accepted = await fetch(`${this.#gpu.url}/prompt`, {
      method: 'POST',
      body: `{"prompt":${prompt},"prompt_id":"${id}","client_id":"${id}"}`,
    });
    if (!accepted.ok) {
      this.#keys.delete(key);
      return send(422, errorOf('invalid_workflow'));
    }
    if (loses === 'its memory') return void response.destroy();
    const job = { id, metadata, createdMs: Date.now() };
    this.#jobs.push(job);
    if (loses === 'the answer') return void response.destroy();
    send(201, await this.#shown(job));
  }

  async #cancel(id: string): Promise<void> {
    await this.#post('/queue', { delete: [id] });
    await this.#post('/interrupt', { prompt_id: id });
    this.cancelled.resolve();
  }

  async #post(path: string, body: object): Promise<void> {
    await fetch(`${this.#gpu.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  }

  async #read<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.#gpu.url}${path}`)).json()) as T;
  }

  async #facts(below = ''): Promise<Facts> {
    const history = await this.#read<Facts['history']>(`/history${below}`);
    return { history, queue: await this.#read<Facts['queue']>('/queue') };
  }

  async #shown({ id, metadata, createdMs }: Job, given?: Facts): Promise<Shown> {
    const { history, queue } = given ?? (await this.#facts(`/${id}`));
    const entry = history[id];
    const isIn = (items: readonly (readonly [number, string])[]): boolean =>
      items.some(([, one]) => one === id);
    const status =
      entry === undefined
        ? isIn(queue.queue_running)
          ? 'running'
          : isIn(queue.queue_pending)
            ? 'queued'
            : 'expired'
        : statusOf(entry);
    const error = entry?.status.messages.find(([event]) => event === 'execution_error')?.[1] as
      | Record<string, unknown>
      | undefined;
    return this.alters({
      id,
      status,
      metadata,
      created_at: new Date(createdMs).toISOString(),
      started_at: null,
      completed_at: null,
      error: error && {
        code: 'node_execution_error',
        message: error['exception_message'],
        node_id: error['node_id'],
        class_type: error['node_type'],
      },
      outputs: Object.entries(entry?.outputs ?? {}).flatMap(([node_id, { images = [] }]) =>
        images.map((image) => ({
          node_id,
          name: image.filename,
          type: 'image',
          size_bytes: 0,
          id: Buffer.from(JSON.stringify(image)).toString('base64url'),
        })),
      ),
    });
  }

  /** A file for inputs, whose id is where it is. */
  async #keep(incoming: IncomingMessage): Promise<string> {
    const type = incoming.headers['content-type'] ?? '';
    const form = await new Response(await buffer(incoming), { headers: { 'content-type': type } }).formData();
    const put = new FormData();
    put.set('image', form.get('file'));
    const answer = await fetch(`${this.#gpu.url}/upload/image`, { method: 'POST', body: put });
    return Buffer.from(await answer.text()).toString('base64url');
  }

  async #asset(id: string, response: ServerResponse): Promise<void> {
    const image = JSON.parse(Buffer.from(id, 'base64url').toString()) as Record<string, string>;
    const answer = await fetch(`${this.#gpu.url}/view?${new URLSearchParams(image).toString()}`);
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  }
}

/** A service in front of one. */
export async function openApiScene(
  hasLists: boolean,
  graph = portrait({ seconds: 3_600 }),
  timing: object = {},
) {
  const gpu = await openStandIn();
  const api = await ApiStandIn.of(gpu, hasLists);
  const servers = [{ url: api.url, kind: 'comfy-api' as const }];
  return { gpu, api, own: await OwnService.of(servers, graph, { pollOnlyMs: 20, ...timing }) };
}

/** What a workflow calls the file of an asset, as JSON. */
function nameOf(_reference: string, id: string): string {
  const { name } = JSON.parse(String(Buffer.from(id, 'base64url'))) as { readonly name: string };
  return JSON.stringify(name);
}

const statusOf = ({ status: { messages, status_str } }: Entry): string =>
  messages.some(([event]) => event === 'execution_interrupted')
    ? 'canceled'
    : status_str === 'success'
      ? 'succeeded'
      : 'failed';

const errorOf = (code: string): object => ({ error: { code, message: code, details: null } });
