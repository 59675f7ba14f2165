// A service that speaks the Comfy API v2, for tests, written from its published contract: a deployment, Comfy Cloud, or comfy-api-proxy,
// in front of stand-ins for ComfyUI, which count what was executed. Answers are lost, changed or replaced on demand.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parseExactly } from '../../src/host/formats/exact-json.ts';
import { serveForTest } from '../stage/serve.ts';
import { HostedJobs } from './api-hosted-jobs.ts';
import { ProxyJobs } from './api-proxy-jobs.ts';
import {
  assetShown,
  imageIn,
  jobShown,
  Refused,
  type Image,
  type Progress,
  type StoredJob,
} from './api-shapes.ts';
import { proxyJob, SURFACES, type Mode, type Surface } from './api-surfaces.ts';
import type { Executed } from './comfy-process.ts';
import type { Graph } from './node-classes.ts';
import type { ComfyStandIn } from './stand-in.ts';

type ShownJob = Readonly<Record<string, unknown>>;
type ApiAnswer = {
  readonly status: number;
  readonly body: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * The loss that the next job suffers: its answer is lost, or the process dies before it remembers the job, before ComfyUI has it,
 * or before the key is used.
 */
export type Loss = 'the answer' | 'its memory' | 'the request' | 'everything';

/** A request of a client, without its body. */
export type Asked = { readonly method: string; readonly path: string; readonly query: URLSearchParams };

const KEY_LIVES_MS = 24 * 3_600_000;

export class ApiStandIn {
  readonly jobs: HostedJobs | ProxyJobs;
  readonly #gpus: readonly ComfyStandIn[];
  readonly #surface: Surface;
  readonly #mode: Mode;
  readonly #keys = new Map<string, number>();
  /** The keys of all requests for a job, also of those that were refused. */
  readonly asked: string[] = [];
  /** The keys of jobs whose answer nobody got, although the key is used. */
  readonly unheard = new Set<string>();
  /** The requests. */
  readonly requests: Asked[] = [];
  loses: Loss | undefined;
  /** Decides for each request whether it, or its answer, is lost. */
  drops: (asked: Asked) => Loss | undefined = () => undefined;
  /** Answers instead, before anything happens. */
  answersInstead: (asked: Asked) => ApiAnswer | undefined = () => undefined;
  /** Where files are instead. */
  store: string | undefined;
  /** Fulfilled when a job was to be cancelled. */
  readonly cancelled = Promise.withResolvers<void>();
  /** Changes what it shows of a job; one that throws is in no list, and asking for it is answered with 503. */
  alters = (job: ShownJob): ShownJob => job;
  /** Changes any JSON that it answers. */
  altersBody = (body: object, _asked: Asked): object => body;
  /** While away, the stand-in answers nothing and counts the requests. */
  isAway = false;
  unanswered = 0;
  /** When it answers the next job. */
  answersAfter: Promise<void> | undefined;
  /** Refuses jobs: no credits are left, too many at once, or by a gateway. */
  refuses: 402 | 429 | 502 | undefined;
  /** Requests without it are refused. */
  key: string | undefined;
  /** The address below which it is; a gateway may add a path. */
  url = '';

  private constructor(mode: Mode, gpus: readonly ComfyStandIn[]) {
    this.#mode = mode;
    this.#gpus = gpus;
    this.#surface = SURFACES[mode];
    const [first] = gpus;
    if (first === undefined) throw new Error('there is no ComfyUI');
    this.jobs = mode === 'proxy' ? new ProxyJobs(first) : new HostedJobs(gpus);
  }

  /** For the test that runs. */
  static async of(mode: Mode, gpus: readonly ComfyStandIn[]): Promise<ApiStandIn> {
    const api = new ApiStandIn(mode, gpus);
    ({ url: api.url } = await serveForTest((incoming, response) => api.#serve(incoming, response)));
    return api;
  }

  /** Everything that any of its ComfyUIs has ever begun to execute. */
  get executions(): readonly Executed[] {
    return this.#gpus.flatMap(({ executions }) => executions);
  }

  get hosted(): HostedJobs {
    if (this.jobs instanceof HostedJobs) return this.jobs;
    throw new Error('a proxy is not hosted');
  }

  /** Simulates a restart of the process without a folder for its state. */
  forget(): void {
    this.#keys.clear();
    this.jobs.forget();
  }

  /** The keys are as old as this. */
  ageKeys(ms: number): void {
    for (const [key, atMs] of this.#keys) this.#keys.set(key, atMs - ms);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isAway) this.unanswered += 1;
    if (this.isAway) return void response.destroy();
    const { pathname, searchParams: query } = new URL(incoming.url ?? '/', this.url);
    const request = { method: incoming.method ?? 'GET', path: pathname, query };
    this.requests.push(request);
    const loss = this.drops(request);
    if (loss === 'everything') return void response.destroy();
    const isSubmission = request.method === 'POST' && pathname.endsWith('/jobs');
    if (isSubmission && loss !== undefined) this.loses = loss;
    const answer = await this.#answer(incoming, request).catch((error: unknown) => {
      if (error instanceof Refused) return refusal(error);
      if (error instanceof Lost) return undefined;
      return { status: 503, body: new Refused(503, 'upstream_unreachable').body };
    });
    if (answer === undefined || (loss !== undefined && !isSubmission)) return void response.destroy();
    const { status, body, headers = {} } = answer;
    if (Buffer.isBuffer(body)) return void response.writeHead(status, headers).end(body);
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(this.altersBody(body, request)));
  }

  async #answer(incoming: IncomingMessage, request: Asked): Promise<ApiAnswer> {
    const { method, path, query } = request;
    const instead = this.answersInstead(request);
    if (instead !== undefined) return instead;
    if (path === '/store') return this.#content(query.get('asset') ?? '');
    const [, , , kind, id, action] = path.split('/');
    if (kind === 'health' && this.#surface.hasHealth)
      return { status: 200, body: { status: 'healthy', upstream: this.#gpus[0]?.url } };
    if (this.key !== undefined && incoming.headers.authorization !== `Bearer ${this.key}`)
      throw new Refused(401, 'unauthorized');
    if (kind === 'assets') return this.#asset(incoming, method, id, action);
    if (kind !== 'jobs') throw new Refused(404, 'not_found');
    if (id === undefined && method === 'POST') return this.#submit(incoming);
    if (id === undefined) return { status: 200, body: await this.#list(query) };
    return this.#job(id, action);
  }

  async #list(query: URLSearchParams): Promise<object> {
    const listed = this.#surface.list(this.url, await this.jobs.list(), query) as { jobs: ShownJob[] };
    const jobs = listed.jobs.flatMap((job) => {
      try {
        return [this.alters(job)];
      } catch {
        return [];
      }
    });
    return { ...listed, jobs };
  }

  async #job(id: string, action: string | undefined): Promise<ApiAnswer> {
    const stored = await this.jobs.look(id);
    if (stored === undefined) throw new Refused(404, 'not_found', `No job ${id}.`);
    if (action === 'events') throw new Refused(501, 'not_implemented');
    if (action === 'workflow') return { status: 200, body: { workflow: stored[0].graph, format: 'api' } };
    if (action === 'cancel') {
      await this.jobs.cancel(id);
      this.cancelled.resolve();
    }
    return { status: 200, body: this.#shown(...((await this.jobs.look(id)) ?? stored)) };
  }

  #shown(job: StoredJob, progress: Progress): ShownJob {
    return this.alters((this.#mode === 'proxy' ? proxyJob : jobShown)(this.url, job, progress));
  }

  async #submit(incoming: IncomingMessage): Promise<ApiAnswer> {
    const text = String(await buffer(incoming));
    const key = incoming.headers['idempotency-key'] as string | undefined;
    this.asked.push(key ?? '');
    await this.answersAfter;
    if (this.refuses !== undefined) throw REFUSALS[this.refuses];
    const { workflow, metadata } = submissionIn(text);
    const kept = this.#surface.kept(metadata);
    const graph = this.#withNames(workflow);
    if (key !== undefined && this.#isUsed(key))
      throw new Refused(422, 'idempotency_key_reuse', 'This Idempotency-Key has already been used.');
    const { loses } = this;
    this.loses = undefined;
    if (loses === 'everything') throw new Lost();
    if (key !== undefined) this.#keys.set(key, Date.now());
    if (key !== undefined && loses !== undefined) this.unheard.add(key);
    if (loses === 'the request') throw new Lost();
    const job = await this.jobs.create(graph, kept, loses === 'its memory').catch((error: unknown) => {
      const isReleased = error instanceof Refused && !error.holdsKey;
      if (isReleased && key !== undefined) this.#keys.delete(key);
      throw error;
    });
    if (job === undefined || loses === 'the answer') throw new Lost();
    const stored = await this.jobs.look(job.id);
    return { status: 201, body: this.#shown(job, stored?.[1] ?? { status: 'queued', outputs: [] }) };
  }

  #isUsed(key: string): boolean {
    const usedMs = this.#keys.get(key);
    return usedMs !== undefined && Date.now() - usedMs < KEY_LIVES_MS;
  }

  /** ComfyUI gets the name of a file where the workflow has a reference. Throws `missing_asset`. */
  #withNames(value: Graph): Graph {
    const named = (part: unknown): unknown => {
      if (typeof part !== 'object' || part === null) return part;
      if (Array.isArray(part)) return part.map(named);
      const { __type, info } = part as { __type?: string; info?: { id?: string } };
      if (__type !== 'core/ASSET') return isPlain(part) ? mapped(part, named) : part;
      const image = imageIn(info?.id ?? '');
      if (image === undefined) throw new Refused(422, 'missing_asset');
      return image.subfolder === '' ? image.filename : `${image.subfolder}/${image.filename}`;
    };
    return named(value) as Graph;
  }

  async #asset(
    incoming: IncomingMessage,
    method: string,
    id: string | undefined,
    action: string | undefined,
  ): Promise<ApiAnswer> {
    if (id === undefined) return this.#keep(incoming);
    // Hashes are computed later, so nothing is found by one.
    if (id === 'from-hash' || id === 'by-hash') throw new Refused(404, 'blob_not_found');
    const image = imageIn(id);
    if (image === undefined || method === 'DELETE') throw new Refused(404, 'not_found');
    if (action !== 'content') return { status: 200, body: assetShown(this.url, image, 0) };
    const store = this.store ?? (this.#surface.redirects ? `${this.url}/store` : undefined);
    return store === undefined
      ? this.#content(id)
      : { status: 302, body: {}, headers: { location: `${store}?asset=${id}` } };
  }

  /** Every worker gets a file, because any may execute the job that names it. */
  async #keep(incoming: IncomingMessage): Promise<ApiAnswer> {
    const type = incoming.headers['content-type'] ?? '';
    const form = await new Response(await buffer(incoming), { headers: { 'content-type': type } }).formData();
    const { needsContentType } = this.#surface;
    const file = form.get('file');
    const isWhole = form.has('file_path') && (form.has('content_type') || !needsContentType);
    if (!(file instanceof File) || !isWhole) throw new Refused(422, 'invalid_request', 'a field is missing');
    const images = await Promise.all(this.#gpus.map((gpu) => uploaded(gpu, file)));
    return { status: 201, body: assetShown(this.url, images[0] as Image, file.size) };
  }

  /** From the worker that has it. */
  async #content(id: string): Promise<ApiAnswer> {
    const query = new URLSearchParams(imageIn(id)).toString();
    for (const { url } of this.#gpus) {
      const answer = await fetch(`${url}/view?${query}`);
      if (answer.ok) return { status: 200, body: Buffer.from(await answer.arrayBuffer()) };
      await answer.body?.cancel();
    }
    throw new Refused(404, 'not_found');
  }
}

/** No answer is sent. */
class Lost extends Error {}

const REFUSALS = {
  402: new Refused(402, 'insufficient_credits', 'insufficient_credits', { retryAfter: 1 }),
  429: new Refused(429, 'queue_full', 'queue_full', { retryAfter: 1 }),
  502: new Refused(502, 'upstream_error'),
} as const;

const refusal = (refused: Refused): ApiAnswer => ({
  status: refused.status,
  body: refused.body,
  ...(refused.retryAfter !== undefined && { headers: { 'retry-after': String(refused.retryAfter) } }),
});

function submissionIn(text: string): { readonly workflow: Graph; readonly metadata: unknown } {
  let body;
  try {
    body = parseExactly(text) as Record<string, unknown>;
  } catch {
    throw new Refused(400, 'invalid_request', 'Body must be JSON.');
  }
  const { workflow, metadata, webhook_url, inputs } = body;
  if (webhook_url !== undefined || inputs !== undefined)
    throw new Refused(422, 'invalid_workflow', "'webhook_url' and 'inputs' are reserved and not accepted.");
  if (typeof workflow !== 'object' || workflow === null) throw new Refused(422, 'invalid_workflow');
  if ('nodes' in workflow && 'links' in workflow) throw new Refused(422, 'workflow_format_ui');
  return { workflow: workflow as Graph, metadata };
}

/** A number that kept its digits is an object of its own. */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

const mapped = (value: object, to: (part: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(value).map(([name, part]) => [name, to(part)]));

async function uploaded({ url }: ComfyStandIn, file: File): Promise<Image> {
  const form = new FormData();
  form.set('image', file);
  const kept = await fetch(`${url}/upload/image`, { method: 'POST', body: form });
  const { name, subfolder, type } = (await kept.json()) as { name: string; subfolder: string; type: string };
  return { filename: name, subfolder, type };
}
