// A stand-in for fal's queue and Platform API, written from its pages and its JavaScript and Python clients. The hosts queue.fal.run,
// api.fal.ai and rest.fal.ai are one address here, because their paths differ.
//
// Without any source: the status of a request that was cancelled in the queue, the text of 429, and that lists have only requests that
// have ended.

import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { modelsOf, shownFault } from './fal-shapes.ts';
import { faultsOf } from './model-inputs.ts';
import { isEnded, Vendor, type VendorAnswer, type VendorRequest, type VendorRun } from './vendor-stand-in.ts';

const HOUR_MS = 3_600_000;
/** Results stay 30 days; without storage an hour, or six minutes if they are large. */
const KEEPS_MS = { stored: 720 * HOUR_MS, small: HOUR_MS, large: HOUR_MS / 10 } as const;
const LARGE_BYTES = 10_240;
const MOST_TRIES = 10;
const CRASH = 'the runner crashed';
// Ten more tries in two hours.
const RETRIES_SECONDS = Array.from({ length: 10 }, () => 720);
const USER = 'user-1';

type FalOptions = {
  readonly isRetried: boolean;
  readonly isStored: boolean;
  readonly keepsMs: number;
  readonly subpath: string;
};

export const openFal = async (): Promise<Fal> => new Fal('fal-ai/painter').open();

class Fal extends Vendor {
  readonly #keys = generateKeyPairSync('ed25519');
  readonly #options = new WeakMap<VendorRun, FalOptions>();

  /** The next n runs lose their runner: the queue executes them again, ten times at most, unless `x-fal-no-retry: 1` was sent. */
  crashNext(times: number): void {
    this.failNext(times, CRASH);
  }

  /** The limit of an account is on requests in progress. The queue takes any number, unless `fal_max_queue_length` was sent. */
  override setLimit(most: number | undefined): void {
    this.setParallel(most ?? Infinity);
  }

  protected override isCreate({ method, path }: VendorRequest): boolean {
    return method === 'POST' && path.startsWith(`/${this.model}`);
  }

  protected override answer(request: VendorRequest): VendorAnswer {
    const { method, path, headers, query } = request;
    if (path.startsWith('/files/')) return this.#fileOf(request);
    if (path === '/.well-known/jwks.json') return { status: 200, body: { keys: [this.#publicKey()] } };
    if (!this.hasKey(headers.authorization, 'Key '))
      return { status: 401, body: { detail: 'Cannot access application. Authentication is required.' } };
    if (path === '/v1/models/requests/by-endpoint') return { status: 200, body: this.#list(query) };
    if (path === '/v1/models') return { status: 200, body: modelsOf(this.model) };
    if (this.isCreate(request)) return this.#create(request);
    const [, id, verb] =
      new RegExp(`^/${this.model}/requests/([^/]+)(?:/(status|cancel))?$`).exec(path) ?? [];
    const run = this.find(id);
    if (run === undefined) return { status: 404, body: { detail: 'Request not found', status: 'NOT_FOUND' } };
    if (verb === 'cancel' && method === 'PUT') return this.#cancel(run);
    return verb === 'status' ? this.#status(run) : this.#result(run);
  }

  #create({ path, body, headers, query }: VendorRequest): VendorAnswer {
    if (!this.hasCredits)
      return { status: 403, body: { detail: 'User is locked. Reason: Exhausted balance.' } };
    const most = Number(query.get('fal_max_queue_length') ?? Infinity);
    if (this.#waiting().length >= most) return { status: 429, body: { detail: 'Queue is too long' } };
    const run = this.add(body, randomUUID(), query.get('fal_webhook'));
    const startSeconds = Number(headers['x-fal-request-timeout'] ?? Infinity);
    const lifecycle = JSON.parse(String(headers['x-fal-object-lifecycle-preference'] ?? '{}')) as {
      readonly expiration_duration_seconds?: number;
    };
    this.#options.set(run, {
      isRetried: !/^(1|true|yes)$/.test(String(headers['x-fal-no-retry'])),
      isStored: headers['x-fal-store-io'] !== '0',
      keepsMs: (lifecycle.expiration_duration_seconds ?? Infinity) * 1_000,
      subpath: path.slice(this.model.length + 1),
    });
    // The model checks inputs when it runs: wrong ones are accepted, and fail.
    if (faultsOf(body).length > 0) run.reason = 'Invalid status code: 422';
    if (startSeconds < Infinity)
      this.at(run.createdMs + startSeconds * 1_000, () => {
        if (run.state !== 'waiting') return;
        run.reason = 'Request timed out';
        this.end(run, 'failed');
      });
    return {
      status: 200,
      body: { ...this.#addresses(run), status: 'IN_QUEUE', queue_position: this.#waiting().indexOf(run) },
    };
  }

  #addresses({ id }: VendorRun): object {
    const response_url = `${this.url}/${this.model}/requests/${id}`;
    return {
      request_id: id,
      gateway_request_id: id,
      response_url,
      status_url: `${response_url}/status`,
      cancel_url: `${response_url}/cancel`,
    };
  }

  #waiting(): readonly VendorRun[] {
    return this.runs.filter(({ state }) => state === 'waiting');
  }

  #status(run: VendorRun): VendorAnswer {
    const addresses = this.#addresses(run);
    if (run.state === 'waiting')
      return {
        status: 202,
        body: { ...addresses, status: 'IN_QUEUE', queue_position: this.#waiting().indexOf(run) },
      };
    if (run.state === 'running')
      return { status: 202, body: { ...addresses, status: 'IN_PROGRESS', logs: [] } };
    const { startedMs, endedMs = 0, reason } = run;
    const metrics = startedMs === undefined ? {} : { inference_time: (endedMs - startedMs) / 1_000 };
    const error = run.state === 'succeeded' ? {} : { error: reason ?? 'Request was cancelled' };
    return { status: 200, body: { ...addresses, status: 'COMPLETED', logs: [], metrics, ...error } };
  }

  #result(run: VendorRun): VendorAnswer {
    const headers = { 'x-fal-request-id': run.id };
    if (!isEnded(run)) return { status: 400, headers, body: { detail: 'Request is still in progress' } };
    const { status, body } = this.#payload(run);
    const size = JSON.stringify(body).length < LARGE_BYTES ? 'small' : 'large';
    const keepsMs = KEEPS_MS[this.#options.get(run)?.isStored === false ? size : 'stored'];
    return this.isOver(run, keepsMs)
      ? { status: 404, headers, body: { detail: 'Request not found' } }
      : { status, headers, body };
  }

  /** The answer of the model: its output, or a refusal. */
  #payload(run: VendorRun): { readonly status: number; readonly body: object } {
    if (run.state === 'succeeded') {
      const image = { url: this.fileOf(run), content_type: 'image/png', width: 8, height: 8 };
      return {
        status: 200,
        body: { images: [image], seed: run.input['seed'] ?? 7, prompt: run.input['prompt'] },
      };
    }
    const faults = faultsOf(run.input);
    if (faults.length > 0) return { status: 422, body: { detail: faults.map(shownFault) } };
    if (run.startedMs === undefined)
      return { status: 504, body: { detail: run.reason ?? 'Request was cancelled' } };
    return { status: 500, body: { detail: run.reason ?? 'Request was cancelled' } };
  }

  /** Removes a request that waits; a running one gets a signal, on which this model stops. */
  #cancel(run: VendorRun): VendorAnswer {
    if (isEnded(run)) return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
    const isWaiting = run.state === 'waiting';
    this.cancel(run);
    return isWaiting
      ? { status: 200, body: { status: 'OK' } }
      : { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
  }

  #fileOf(request: VendorRequest): VendorAnswer {
    const run = this.find(/^\/files\/(.+)\.png$/.exec(request.path)?.[1]);
    const { keepsMs = Infinity } = (run && this.#options.get(run)) ?? {};
    return this.file(request, keepsMs);
  }

  /** Requests by their end, the newest first. */
  #list(query: URLSearchParams): object {
    const startMs = Date.parse(query.get('start') ?? new Date(this.now() - 24 * HOUR_MS).toISOString());
    const endMs = Date.parse(query.get('end') ?? '9999-12-31');
    const [limit, from] = [Number(query.get('limit') ?? 50), Number(atob(query.get('cursor') ?? '') || 0)];
    const ended = this.runs
      .filter(
        ({ createdMs, endedMs, startedMs }) =>
          endedMs !== undefined && startedMs !== undefined && createdMs >= startMs && createdMs < endMs,
      )
      .filter((run) => `${this.model}${this.#options.get(run)?.subpath ?? ''}` === query.get('endpoint_id'))
      .toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0));
    const hasMore = ended.length > from + limit;
    const items = ended
      .slice(from, from + limit)
      .map((run) => this.#listed(run, query.getAll('expand').includes('payloads')));
    return { items, has_more: hasMore, next_cursor: hasMore ? btoa(String(from + limit)) : null };
  }

  #listed(run: VendorRun, isExpanded: boolean): object {
    const { id, createdMs, startedMs = 0, endedMs = 0, input } = run;
    const [sent_at, started_at, ended_at] = [createdMs, startedMs, endedMs].map((ms) =>
      new Date(ms).toISOString(),
    );
    const { status, body } = this.#payload(run);
    const payloads =
      isExpanded && this.#options.get(run)?.isStored ? { json_input: input, json_output: body } : {};
    return {
      request_id: id,
      endpoint_id: this.model,
      sent_at,
      started_at,
      ended_at,
      status_code: status,
      duration: (endedMs - startedMs) / 1_000,
      ...payloads,
    };
  }

  #publicKey(): object {
    return { ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'EdDSA' };
  }

  protected override onChange(run: VendorRun): void {
    const tries = this.executions().filter((execution) => execution === run).length;
    const isCrashed = run.state === 'failed' && run.reason === CRASH;
    if (isCrashed && this.#options.get(run)?.isRetried !== false && tries <= MOST_TRIES)
      return this.again(run);
    if (!isEnded(run) || run.webhook === undefined) return;
    const { body } = this.#payload(run);
    const isOk = run.state === 'succeeded';
    const told = {
      request_id: run.id,
      gateway_request_id: run.id,
      status: isOk ? 'OK' : 'ERROR',
      payload: body,
    };
    void this.notify(run.webhook, RETRIES_SECONDS, () =>
      this.signed(run.id, JSON.stringify(isOk ? told : { ...told, error: run.reason ?? '' })),
    );
  }

  /** A webhook about this request, signed with the key whose public part is in the JWKS. */
  signed(id: string, body: string) {
    const timestamp = String(Math.floor(this.now() / 1_000));
    const digest = createHash('sha256').update(body).digest('hex');
    const signature = sign(
      null,
      Buffer.from([id, USER, timestamp, digest].join('\n')),
      this.#keys.privateKey,
    );
    return {
      body,
      headers: {
        'x-fal-webhook-request-id': id,
        'x-fal-webhook-user-id': USER,
        'x-fal-webhook-timestamp': timestamp,
        'x-fal-webhook-signature': signature.toString('hex'),
      },
    };
  }
}
