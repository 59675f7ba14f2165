// A stand-in for a queue-based endpoint of RunPod Serverless, written from its reference and its JavaScript and Python clients.
//
// Not in the reference, but seen in answers: `workerId`, `input` and `webhook` in a webhook, and that a webhook is not signed. Without
// any source: the status for an account without credit, and the body of 429.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { faultsOf, type InputFault, type ModelInputs } from './model-inputs.ts';
import {
  isEnded,
  type SentWebhook,
  Vendor,
  type VendorAnswer,
  type VendorRequest,
  type VendorRun,
} from './vendor-stand-in.ts';

const SECOND_MS = 1_000;
const WINDOW_MS = 10_000;
const KEEPS_MS = { run: 1_800_000, runsync: 60_000 } as const;
const DEFAULT_POLICY = { executionTimeout: 600_000, ttl: 86_400_000 };
const LEAST_POLICY = { executionTimeout: 5_000, ttl: 10_000 };
const MOST_BYTES = 10_000_000;
const RETRIES_SECONDS = [10, 10];

/** The faults that handler.py of worker-comfyui finds, and a picture that ComfyUI does not have. */
function workflowFaults({ workflow, images = [] }: ModelInputs): readonly InputFault[] {
  if (typeof workflow !== 'object' || workflow === null) return [{ kind: 'missing', field: 'workflow' }];
  const stored = images as readonly { readonly name?: string; readonly image?: string }[];
  if (!stored.every(({ name, image }) => name !== undefined && image?.startsWith('data:') === true))
    return [{ kind: 'type', field: 'images' }];
  const nodes = Object.values(workflow as Readonly<Record<string, { inputs: Record<string, unknown> }>>);
  const isThere = (image: unknown): boolean => stored.some(({ name }) => name === image);
  return nodes.every(({ inputs: { image } }) => typeof image !== 'string' || isThere(image))
    ? []
    : [{ kind: 'missing', field: 'image' }];
}

type JobOptions = { readonly verb: 'run' | 'runsync'; readonly executionTimeout: number };

export const openRunpod = async (): Promise<Runpod> => new Runpod('endpoint1').open();

class Runpod extends Vendor {
  /** Whether pictures are in the answer, as the workers of many endpoints do, or at addresses of the user's bucket. */
  inlinesPictures = false;
  /** The container is worker-comfyui: it runs workflows, and lists these errors beside its images. */
  comfy: { readonly errors?: readonly string[]; readonly savesNothing?: boolean } | undefined;
  /** Whether GET /requests lists jobs. The reference has its rate limit, and no shape. */
  listsRequests = false;
  readonly #options = new WeakMap<VendorRun, JobOptions>();
  readonly #timedOut = new WeakSet<VendorRun>();
  readonly #deleted = new WeakSet<VendorRun>();

  protected override isCreate({ method, path }: VendorRequest): boolean {
    return method === 'POST' && new RegExp(`^/v2/${this.model}/run(sync)?$`).test(path);
  }

  protected override answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { method, path, headers } = request;
    if (path.startsWith('/files/')) return this.file(request, Infinity);
    if (!this.hasKey(headers.authorization, 'Bearer ')) return { status: 401 };
    if (this.isCreate(request)) return this.#create(request);
    const [, endpoint, verb, id] = /^\/v2\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (endpoint !== this.model) return { status: 404, body: { error: 'endpoint not found' } };
    if (verb === 'health') return { status: 200, body: this.#health() };
    if (verb === 'requests' && this.listsRequests)
      return {
        status: 200,
        body: { requests: this.runs.filter((run) => this.#isThere(run)).map((run) => this.#shown(run)) },
      };
    if (verb === 'purge-queue' && method === 'POST') return { status: 200, body: this.#purge() };
    const run = this.find(id);
    if (run === undefined || !this.#isThere(run)) return { status: 404, body: { error: 'job not found' } };
    if (verb === 'status') return { status: 200, body: this.#shown(run) };
    if (verb === 'status-sync') return this.#held(run, request.query);
    if (verb === 'cancel' && method === 'POST') {
      this.cancel(run);
      return { status: 200, body: { id: run.id, status: this.#statusOf(run) } };
    }
    if (verb === 'retry' && method === 'POST') return this.#retry(run);
    return { status: 404 };
  }

  #create({ path, body, bytes, query }: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const verb = path.endsWith('/runsync') ? 'runsync' : 'run';
    const input = body['input'] as ModelInputs | undefined;
    if (bytes.length > MOST_BYTES) return { status: 413, body: { error: 'payload too large' } };
    if (typeof input !== 'object') return { status: 400, body: { error: 'input is required' } };
    const policy = { ...DEFAULT_POLICY, ...(body['policy'] as Partial<typeof DEFAULT_POLICY> | undefined) };
    for (const name of ['executionTimeout', 'ttl'] as const)
      if (policy[name] < LEAST_POLICY[name])
        return { status: 400, body: { error: `policy.${name} is too small` } };
    if (!this.hasCredits) return { status: 402, body: { error: 'insufficient balance' } };
    const sinceMs = this.now() - WINDOW_MS;
    if (!this.hasRoom(this.runs.filter(({ createdMs }) => createdMs > sinceMs).length))
      return { status: 429, body: { error: 'too many requests' } };
    // The handler of the worker checks inputs, so a job with wrong ones is accepted, and fails.
    const [fault] = this.comfy === undefined ? faultsOf(input) : workflowFaults(input);
    const run = this.add(input, `${verb === 'run' ? '' : 'sync-'}${randomUUID()}-u1`, body['webhook']);
    if (fault !== undefined) run.reason = `${fault.field}: ${fault.kind}`;
    this.#options.set(run, { verb, executionTimeout: policy.executionTimeout });
    this.at(run.createdMs + policy.ttl, () => this.#delete(run));
    return verb === 'run'
      ? { status: 200, body: { id: run.id, status: 'IN_QUEUE' } }
      : this.#held(run, query);
  }

  /** The end of a job's `ttl`: it is deleted, also while it runs, and nobody is told. */
  #delete(run: VendorRun): void {
    if (isEnded(run)) return;
    this.#deleted.add(run);
    this.cancel(run);
  }

  #isThere(run: VendorRun): boolean {
    const { verb = 'run' } = this.#options.get(run) ?? {};
    return !this.#deleted.has(run) && !this.isOver(run, KEEPS_MS[verb]);
  }

  /** Holds an answer until the job ends, or for the milliseconds of `wait`. */
  async #held(run: VendorRun, query: URLSearchParams): Promise<VendorAnswer> {
    const untilMs = Date.now() + Number(query.get('wait') ?? 90 * SECOND_MS);
    while (!isEnded(run) && Date.now() < untilMs) await wait(5);
    return { status: 200, body: this.#shown(run) };
  }

  #retry(run: VendorRun): VendorAnswer {
    if (run.state !== 'failed') return { status: 400, body: { error: 'job cannot be retried' } };
    this.#timedOut.delete(run);
    this.again(run);
    return { status: 200, body: { id: run.id, status: 'IN_QUEUE' } };
  }

  #purge(): object {
    const waiting = this.runs.filter(({ state }) => state === 'waiting');
    for (const run of waiting) this.#delete(run);
    return { removed: waiting.length, status: 'completed' };
  }

  #health(): object {
    const count = (...states: string[]): number =>
      this.runs.filter(({ state }) => states.includes(state)).length;
    return {
      jobs: {
        completed: count('succeeded'),
        failed: count('failed'),
        inProgress: count('running'),
        inQueue: count('waiting'),
        retried: 0,
      },
      workers: { idle: 1, initializing: 0, ready: 1, running: count('running'), throttled: 0, unhealthy: 0 },
    };
  }

  #statusOf(run: VendorRun): string {
    if (this.#timedOut.has(run)) return 'TIMED_OUT';
    return {
      waiting: 'IN_QUEUE',
      running: 'IN_PROGRESS',
      succeeded: 'COMPLETED',
      failed: 'FAILED',
      cancelled: 'CANCELLED',
    }[run.state];
  }

  #shown(run: VendorRun): object {
    const { id, createdMs, startedMs, endedMs, state, reason } = run;
    return {
      id,
      status: this.#statusOf(run),
      ...(startedMs === undefined ? {} : { delayTime: startedMs - createdMs, workerId: 'worker1' }),
      ...(startedMs === undefined || endedMs === undefined ? {} : { executionTime: endedMs - startedMs }),
      ...(state === 'succeeded' ? { output: this.#outputOf(run) } : {}),
      ...(state === 'failed' && reason !== undefined ? { error: reason } : {}),
    };
  }

  #outputOf(run: VendorRun): object {
    if (this.comfy?.savesNothing === true) return { status: 'success_no_images', images: [] };
    const { errors } = this.comfy ?? {};
    return { ...this.#imagesOf(run), ...(errors && { errors }) };
  }

  #imagesOf(run: VendorRun): object {
    const { pathname } = new URL(this.fileOf(run));
    const filename = pathname.slice('/files/'.length);
    if (!this.inlinesPictures) return { images: [{ filename, type: 's3_url', data: this.fileOf(run) }] };
    return { images: [{ filename, type: 'base64', data: this.pictureOf(run).toString('base64') }] };
  }

  protected override onChange(run: VendorRun): void {
    if (run.state === 'running') {
      const { executionTimeout = Infinity } = this.#options.get(run) ?? {};
      const startedMs = run.startedMs ?? 0;
      const isSame = (): boolean => run.state === 'running' && run.startedMs === startedMs;
      this.at(startedMs + executionTimeout, () => {
        if (isSame()) this.#timeOut(run);
      });
    }
    if (!isEnded(run) || run.webhook === undefined || this.#deleted.has(run)) return;
    const { input, webhook } = run;
    const sign = (): SentWebhook => ({
      body: JSON.stringify({ ...this.#shown(run), input, webhook }),
      headers: {},
    });
    void this.notify(webhook ?? '', RETRIES_SECONDS, sign);
  }

  #timeOut(run: VendorRun): void {
    this.#timedOut.add(run);
    run.reason = 'job timed out';
    this.end(run, 'failed');
  }
}
