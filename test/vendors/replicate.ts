// A stand-in for Replicate, written from its OpenAPI document and its JavaScript and Python clients.
//
// Not in the document, but in the client's types or seen in answers: `webhook` in a prediction, and the shapes of 401, 402, 422 and 429.

import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { faultsOf, INPUT_SCHEMA, type ModelInputs } from './model-inputs.ts';
import { durationOf, problem, shownFault } from './replicate-shapes.ts';
import {
  isEnded,
  type SentWebhook,
  Vendor,
  type VendorAnswer,
  type VendorRequest,
  type VendorRun,
} from './vendor-stand-in.ts';

const PAGE = 100;
const KEEPS_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LEAST_CANCEL_AFTER_MS = 5_000;
const VERSION = '5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa';
const RETRIES_SECONDS = [1, 2, 4, 8];
const EVENTS = ['start', 'output', 'logs', 'completed'] as const;
type WebhookEvent = (typeof EVENTS)[number];

/** The part of a prediction that only Replicate has. */
type PredictionOptions = {
  readonly events: readonly WebhookEvent[];
  readonly deadlineMs: number | undefined;
};

const STATES = {
  waiting: 'starting',
  running: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'canceled',
} as const;

export const openReplicate = async (): Promise<Replicate> => new Replicate('someone/painter').open();

class Replicate extends Vendor {
  /** The secret that signs webhooks; the API tells it. */
  readonly secret = `whsec_${randomBytes(24).toString('base64')}`;
  /** Whether a prediction shows its webhook, as the client's types say and the OpenAPI document does not. */
  showsWebhooks = true;
  readonly #options = new WeakMap<VendorRun, PredictionOptions>();
  readonly #uploads = new Map<string, Buffer>();

  protected override isCreate({ method, path }: VendorRequest): boolean {
    return (
      method === 'POST' &&
      /^\/v1\/(models\/[^/]+\/[^/]+\/|deployments\/[^/]+\/[^/]+\/)?predictions$/.test(path)
    );
  }

  protected override answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { method, path, headers } = request;
    if (path.startsWith('/files/')) return this.file(request, KEEPS_MS);
    if (!this.hasKey(headers.authorization, 'Bearer '))
      return problem(401, 'You did not pass a valid authentication token', 'Unauthenticated');
    if (this.isCreate(request)) return this.#create(request);
    if (path === '/v1/predictions') return { status: 200, body: this.#page(request.query) };
    if (path === `/v1/models/${this.model}`) return { status: 200, body: this.#shownModel() };
    if (path === `/v1/models/${this.model}/versions/${VERSION}`) return { status: 200, body: shownVersion };
    if (path === '/v1/webhooks/default/secret') return { status: 200, body: { key: this.secret } };
    if (method === 'POST' && path === '/v1/files') return this.#upload(request);
    const [, id, verb] = /^\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const run = this.find(id);
    if (run === undefined) return problem(404, 'Not found.');
    if (verb !== undefined) this.cancel(run);
    return { status: 200, body: this.#shown(run) };
  }

  async #create({ path, body, headers }: VendorRequest): Promise<VendorAnswer> {
    const [, model] = /^\/v1\/models\/([^/]+\/[^/]+)\//.exec(path) ?? [];
    if (model !== undefined && model !== this.model)
      return problem(404, 'The requested resource could not be found.');
    const cancelAfterMs = durationOf(headers['cancel-after']);
    if (cancelAfterMs !== undefined && cancelAfterMs < LEAST_CANCEL_AFTER_MS)
      return problem(422, 'Cancel-After must be at least 5 seconds');
    const input = (body['input'] ?? {}) as ModelInputs;
    const faults = faultsOf(input).map(shownFault);
    if (faults.length > 0) {
      const detail = faults.map(({ field, description }) => `- ${field}: ${description}\n`).join('');
      return problem(422, detail, 'Input validation failed', { invalid_fields: faults });
    }
    if (!this.hasCredits)
      return problem(402, 'You have insufficient credit to run this model.', 'Insufficient credit');
    const sinceMs = this.now() - MINUTE_MS;
    if (!this.hasRoom(this.runs.filter(({ createdMs }) => createdMs > sinceMs).length))
      return problem(429, 'Request was throttled. Your rate limit resets in ~1s.', undefined, {
        retry_after: 1,
      });
    const run = this.add(input, randomId(), body['webhook']);
    this.#options.set(run, {
      events: (body['webhook_events_filter'] as readonly WebhookEvent[] | undefined) ?? EVENTS,
      deadlineMs: cancelAfterMs === undefined ? undefined : run.createdMs + cancelAfterMs,
    });
    if (cancelAfterMs !== undefined) this.at(run.createdMs + cancelAfterMs, () => this.cancel(run));
    await this.#held(run, headers['prefer']);
    return { status: isEnded(run) ? 201 : 202, body: this.#shown(run) };
  }

  /** Holds the answer of `Prefer: wait` until the prediction ends, at most 60 s. */
  async #held(run: VendorRun, prefer: string | string[] | undefined): Promise<void> {
    const [, seconds = '60'] = /^wait(?:=(\d+))?$/.exec(String(prefer)) ?? ['', '0'];
    const untilMs = Date.now() + Number(seconds) * 1_000;
    while (!isEnded(run) && Date.now() < untilMs) await wait(5);
  }

  async #upload({ bytes, headers }: VendorRequest): Promise<VendorAnswer> {
    const type = String(headers['content-type']);
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    const content = form.get('content');
    if (!(content instanceof Blob)) return problem(400, 'content is required');
    const id = randomId();
    this.#uploads.set(id, Buffer.from(await content.arrayBuffer()));
    const created_at = new Date(this.now()).toISOString();
    const expires_at = new Date(this.now() + 24 * KEEPS_MS).toISOString();
    const urls = { get: `${this.url}/v1/files/${id}` };
    const size = content.size;
    return {
      status: 201,
      body: {
        id,
        urls,
        content_type: content.type,
        size,
        checksums: {},
        metadata: {},
        created_at,
        expires_at,
      },
    };
  }

  /** The files that clients have uploaded. */
  uploads(): readonly Buffer[] {
    return [...this.#uploads.values()];
  }

  #page(query: URLSearchParams): object {
    const after = Date.parse(query.get('created_after') ?? '1970-01-01');
    const before = Date.parse(query.get('created_before') ?? '9999-12-31');
    const cursor = query.get('cursor');
    const newest = this.runs.filter(({ createdMs }) => createdMs >= after && createdMs < before).toReversed();
    // A cursor names the last prediction of its page, so that new ones move nothing.
    const from = cursor === null ? 0 : newest.findIndex(({ id }) => id === cursor) + 1;
    const page = newest.slice(from, from + PAGE);
    const next = new URL('/v1/predictions', this.url);
    next.search = query.toString();
    next.searchParams.set('cursor', page.at(-1)?.id ?? '');
    const hasMore = newest.length > from + PAGE;
    return { next: hasMore ? next.href : null, previous: null, results: page.map((run) => this.#shown(run)) };
  }

  #shown(run: VendorRun): object {
    const { id, input, webhook, createdMs, startedMs, endedMs, reason, state } = run;
    const isRemoved = this.isOver(run, KEEPS_MS);
    const { events = [], deadlineMs } = this.#options.get(run) ?? {};
    const seconds = ((endedMs ?? 0) - (startedMs ?? 0)) / 1_000;
    const at = (ms: number | undefined): string | null =>
      ms === undefined ? null : new Date(ms).toISOString();
    return {
      id,
      model: this.model,
      version: VERSION,
      input: isRemoved ? {} : input,
      logs: isRemoved || startedMs === undefined ? '' : 'painting\n',
      output: state === 'succeeded' && !isRemoved ? [this.fileOf(run)] : null,
      data_removed: isRemoved,
      error: state === 'failed' ? (reason ?? '') : null,
      source: 'api',
      // Terminated before it began, by its deadline.
      status:
        state === 'cancelled' && startedMs === undefined && deadlineMs !== undefined
          ? 'aborted'
          : STATES[state],
      created_at: at(createdMs),
      started_at: at(startedMs),
      completed_at: at(endedMs),
      ...(deadlineMs === undefined ? {} : { deadline: at(deadlineMs) }),
      ...(endedMs === undefined
        ? {}
        : { metrics: { predict_time: seconds, total_time: (endedMs - createdMs) / 1_000 } }),
      ...(webhook === undefined || !this.showsWebhooks ? {} : { webhook, webhook_events_filter: events }),
      urls: {
        web: `${this.url}/p/${id}`,
        get: `${this.url}/v1/predictions/${id}`,
        cancel: `${this.url}/v1/predictions/${id}/cancel`,
      },
    };
  }

  #shownModel(): object {
    const [owner = '', name = ''] = this.model.split('/');
    const latest_version = shownVersion;
    return {
      url: `${this.url}/${this.model}`,
      owner,
      name,
      description: '',
      visibility: 'public',
      run_count: 1,
      latest_version,
    };
  }

  protected override onChange(run: VendorRun): void {
    const event: WebhookEvent = isEnded(run) ? 'completed' : 'start';
    if (run.webhook === undefined || this.#options.get(run)?.events.includes(event) === false) return;
    void this.notify(run.webhook, RETRIES_SECONDS, () => this.signed(JSON.stringify(this.#shown(run))));
  }

  /** A webhook with this body, signed as by Standard Webhooks. */
  signed(body: string): SentWebhook {
    const id = `msg_${randomId()}`;
    const timestamp = String(Math.floor(this.now() / 1_000));
    const key = Buffer.from(this.secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return {
      body,
      headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    };
  }
}

const OUTPUT = { type: 'array', title: 'Output', items: { type: 'string', format: 'uri' } };
const shownVersion = {
  id: VERSION,
  created_at: '2026-01-01T00:00:00.000000Z',
  cog_version: '0.16.0',
  openapi_schema: { openapi: '3.0.2', components: { schemas: { Input: INPUT_SCHEMA, Output: OUTPUT } } },
};

const randomId = (): string => randomBytes(13).toString('hex');
