// A stand-in for Comfy Router, written from its reference, its pages about the queue, and comfy-sdk.
//
// Without any source: the answer for a result that is not there yet, and how long the queue keeps results (here a day, as keys).

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { faultsOf } from './model-inputs.ts';
import { openapiOf, shownFault, STATUSES, type ErrorType } from './router-shapes.ts';
import { isEnded, Vendor, type VendorAnswer, type VendorRequest, type VendorRun } from './vendor-stand-in.ts';

const DAY_MS = 86_400_000;
const RETRY_SECONDS = 1;
const USD_OF_A_CREDIT = 0.004_739_336_5;

type Headers = Readonly<Record<string, string>>;
/** The record of an idempotency key: its first request, and the run that answers it. */
type KeyRecord = {
  readonly request: string;
  readonly run: VendorRun;
  readonly createdMs: number;
  readonly isQueued: boolean;
};

export const openRouter = async (): Promise<Router> => new Router('bfl/painter').open();

class Router extends Vendor {
  override readonly key = 'comfyui-key-of-a-test';
  /** How long a synchronous call holds its connection. */
  deadlineMs = 600_000;
  /** The queue is switched on for each workspace. */
  hasQueue = true;
  /** The price of a run; undefined for a model whose price is not reported. */
  usd: number | undefined = 0.04;
  /** USD that may be committed to runs in flight; undefined: the gate is off. */
  mostCommittedUsd: number | undefined;
  readonly #keys = new Map<string, KeyRecord>();
  readonly #consumed = new Set<string>();

  /** From now on the record of a key cannot be replayed, as after a response that was too large. */
  consume(key: string): void {
    this.#consumed.add(key);
  }

  protected override isCreate({ method, path }: VendorRequest): boolean {
    return method === 'POST' && /^\/v2\/models\/[^/]+\/[^/]+(\/requests)?$/.test(path);
  }

  protected override async answer(request: VendorRequest): Promise<VendorAnswer> {
    if (request.path.startsWith('/files/')) return this.file(request, DAY_MS);
    const answer = await this.#route(request);
    return { ...answer, headers: { 'x-comfy-request-id': randomUUID(), ...answer.headers } };
  }

  #route(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { method, path, headers } = request;
    const isKnown = this.hasKey(headers['x-api-key'], '') || this.hasKey(headers.authorization, 'Bearer ');
    if (!isKnown) return failure('unauthorized', 'No usable credential.');
    if (path === '/v2/models') return { status: 200, body: this.#catalogue() };
    const [, model, tail = ''] = /^\/v2\/models\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? [];
    if (model !== this.model) return failure('model_not_found', `No model ${String(model)}.`);
    if (method === 'GET' && tail === '') return { status: 200, body: this.#entry() };
    if (tail === '/openapi.json') return this.#schema(headers['if-none-match']);
    if (this.isCreate(request)) return this.#create(request, tail === '/requests');
    const [, id, verb] = /^\/requests\/([^/]+)(?:\/(status|cancel))?$/.exec(tail) ?? [];
    const run = this.find(id);
    if (run === undefined) return failure('request_not_found', `No request ${String(id)}.`);
    if (verb === 'cancel') return this.#cancel(run);
    return verb === 'status' ? { status: 200, body: this.#status(run) } : this.#result(run);
  }

  #create(
    { method, path, query, body, bytes, headers }: VendorRequest,
    isQueued: boolean,
  ): VendorAnswer | Promise<VendorAnswer> {
    if (isQueued && !this.hasQueue)
      return failure('not_enabled', 'The queue is not enabled for this workspace.');
    const key = headers['idempotency-key'];
    const fingerprint = [method, path, query.toString(), bytes.toString()].join('\n');
    const record = typeof key === 'string' ? this.#recordOf(key) : undefined;
    if (record !== undefined && typeof key === 'string') {
      if (record.request !== fingerprint)
        return failure('invalid_input', 'The key belongs to another request.', 409);
      if (this.#consumed.has(key)) return failure('invalid_input', 'The response cannot be replayed.', 409);
      if (isQueued) return this.#accepted(record.run, { 'idempotent-replayed': 'true' });
      if (!isEnded(record.run)) return stillRunning('concurrency_limit_exceeded', 409);
      return this.#ended(record.run, { 'idempotent-replayed': 'true' });
    }
    const refusal = this.#refusal(body, isQueued);
    if (refusal !== undefined) return refusal;
    const run = this.add(body, randomUUID(), undefined);
    if (typeof key === 'string')
      this.#keys.set(key, { request: fingerprint, run, createdMs: run.createdMs, isQueued });
    return isQueued ? this.#accepted(run) : this.#held(run);
  }

  /** The record of a key for a day. A provider that fails a synchronous call releases the key. */
  #recordOf(key: string): KeyRecord | undefined {
    const record = this.#keys.get(key);
    const isOver = record === undefined || this.now() >= record.createdMs + DAY_MS;
    const isReleased = record?.run.state === 'failed' && !record.isQueued;
    return isOver || isReleased ? undefined : record;
  }

  /** Refuses before the provider is called, so that the key stays unused. */
  #refusal(body: VendorRequest['body'], isQueued: boolean): VendorAnswer | undefined {
    const faults = faultsOf(body);
    if (faults.length > 0)
      return {
        status: 422,
        headers: { 'x-comfy-error-type': 'invalid_input' },
        body: { detail: faults.map(shownFault) },
      };
    if (!this.hasCredits) return failure('insufficient_credits', 'The workspace has not enough credits.');
    const open = this.runs.filter((run) => !isEnded(run));
    const waiting = open.filter(({ state }) => state === 'waiting');
    if (!this.hasRoom((isQueued ? waiting : open).length))
      return failure(
        isQueued ? 'queue_backlog_full' : 'concurrency_limit_exceeded',
        'Too many requests.',
        429,
      );
    const committed = open.length * (this.usd ?? 0);
    if (this.mostCommittedUsd !== undefined && committed + (this.usd ?? 0) > this.mostCommittedUsd)
      return {
        ...failure('concurrency_limit_exceeded', 'The spend is committed.', 429),
        headers: { 'x-comfy-error-type': 'concurrency_limit_exceeded', ...this.#spend(committed) },
      };
    return undefined;
  }

  #spend(committedUsd: number): Headers {
    if (this.mostCommittedUsd === undefined) return {};
    const cents = (usd: number): string => String(Math.max(0, Math.round(usd * 100)));
    return {
      'x-committed-spend-limit': cents(this.mostCommittedUsd),
      'x-committed-spend-current': cents(committedUsd),
      'x-committed-spend-remaining': cents(this.mostCommittedUsd - committedUsd),
    };
  }

  async #held(run: VendorRun): Promise<VendorAnswer> {
    const untilMs = Date.now() + this.deadlineMs;
    while (!isEnded(run) && Date.now() < untilMs) await wait(5);
    if (!isEnded(run)) return stillRunning('deadline_exceeded', 504);
    const committed = this.runs.filter((open) => !isEnded(open)).length * (this.usd ?? 0);
    return this.#ended(run, { ...this.#spend(committed), ...this.#price(run) });
  }

  /** The price comes with the first answer of a synchronous call, and with each collection of a queued result; replays lack it. */
  #price({ state }: VendorRun): Headers {
    if (this.usd === undefined || state !== 'succeeded') return {};
    return {
      'x-comfy-credits-used': (this.usd / USD_OF_A_CREDIT).toFixed(2),
      'x-litellm-response-cost': String(this.usd),
      'x-litellm-total-tokens': '0',
    };
  }

  #ended(run: VendorRun, headers: Headers = {}): VendorAnswer {
    if (run.state === 'cancelled') return failure('cancelled', 'The request was cancelled.', 409);
    if (run.state === 'failed') return failure('provider_error', run.reason ?? '');
    const result = { sample: this.fileOf(run), prompt: run.input['prompt'], seed: run.input['seed'] ?? 7 };
    const body = { id: run.id, status: 'Ready', result };
    return { status: 200, headers: { 'x-content-type-options': 'nosniff', ...headers }, body };
  }

  #accepted(run: VendorRun, headers: Headers = {}): VendorAnswer {
    const response_url = `${this.url}/v2/models/${this.model}/requests/${run.id}`;
    const [status_url, cancel_url] = [`${response_url}/status`, `${response_url}/cancel`];
    return {
      status: 201,
      headers,
      body: { request_id: run.id, status: 'IN_QUEUE', status_url, response_url, cancel_url },
    };
  }

  #status({ id, state, reason }: VendorRun): object {
    const queue_position = this.runs
      .filter((run) => run.state === 'waiting')
      .findIndex((run) => run.id === id);
    if (state === 'waiting') return { request_id: id, status: 'IN_QUEUE', queue_position };
    if (state === 'running') return { request_id: id, status: 'IN_PROGRESS' };
    const failed = { error_type: 'provider_error', detail: reason };
    const cancelled = { error_type: 'cancelled', detail: 'The request was cancelled.' };
    const fault = state === 'failed' ? failed : state === 'cancelled' ? cancelled : {};
    return { request_id: id, status: 'COMPLETED', ...fault };
  }

  #result(run: VendorRun): VendorAnswer {
    if (!isEnded(run)) return failure('invalid_input', 'The request has not completed.', 400);
    return this.isOver(run, DAY_MS)
      ? failure('request_not_found', 'The result has expired.', 410)
      : this.#ended(run, this.#price(run));
  }

  #cancel(run: VendorRun): VendorAnswer {
    if (isEnded(run)) return { status: 409, body: { status: 'ALREADY_COMPLETED' } };
    this.cancel(run);
    return { status: 202, body: { request_id: run.id, status: 'CANCELLATION_REQUESTED' } };
  }

  #entry(): object {
    const [provider, model] = this.model.split('/');
    return { id: this.model, provider, model, billing: { charges_on_policy_rejection: 'unknown' } };
  }

  #catalogue(): object {
    return { data: [this.#entry()], has_more: false, next_cursor: null, limit: 20 };
  }

  #schema(etag: string | undefined): VendorAnswer {
    const body = openapiOf(this.model);
    const current = `"${createHash('sha256').update(JSON.stringify(body)).digest('hex')}"`;
    const headers = { etag: current, 'cache-control': 'private, must-revalidate' };
    return etag === current ? { status: 304, headers } : { status: 200, headers, body };
  }

  /** There are no webhooks. */
  protected override onChange(): void {}
}

function failure(type: ErrorType, detail: string, status: number = STATUSES[type]): VendorAnswer {
  return { status, headers: { 'x-comfy-error-type': type }, body: { detail, error_type: type } };
}

function stillRunning(
  type: 'concurrency_limit_exceeded' | 'deadline_exceeded',
  status: number,
): VendorAnswer {
  const refused = failure(type, 'The call is still running.', status);
  return { ...refused, headers: { ...refused.headers, 'retry-after': String(RETRY_SECONDS) } };
}
