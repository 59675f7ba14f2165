// A stand-in for the server in a Cog container, written from docs/http.md of Cog and held against the real one by
// cog-server.long.test.ts. A request for a prediction is answered at its end, and cancels it by closing its connection.

import { INPUT_SCHEMA, faultsOf, type InputFault, type ModelInputs } from './model-inputs.ts';
import { isEnded, Vendor, type VendorAnswer, type VendorRequest, type VendorRun } from './vendor-stand-in.ts';

type Health = 'STARTING' | 'READY' | 'SETUP_FAILED' | 'DEFUNCT' | 'UNHEALTHY';

export const openCog = async (): Promise<Cog> => new Cog().open();

const PREDICTION = /^\/predictions\/([^/]+)$/;
const CANCEL = /^\/predictions\/([^/]+)\/cancel$/;

export class Cog extends Vendor {
  override readonly key = '';
  health: Health = 'READY';
  setupLogs = '';
  /** Whether predictions go on after they are cancelled, as code does that never returns to Python. */
  isDeaf = false;
  /** How long an answer is on its way, after its prediction has ended. */
  lateMs = 0;
  /** Requests that only ask. */
  questions = 0;
  #slots = 1;
  readonly #connections = new Set<VendorRequest['connection']>();
  readonly #deaf = new Set<VendorRun>();
  readonly #ends = new Map<VendorRun, () => void>();

  constructor() {
    super('');
    this.setParallel(1);
  }

  /** A container is named by its address. */
  override get model(): string {
    return this.url;
  }

  override setParallel(most: number): void {
    this.#slots = most;
    super.setParallel(most);
  }

  /** The connections of all predictions break. */
  break(): void {
    for (const connection of this.#connections) connection.break();
    this.#connections.clear();
  }

  /** A request whose input is no object executes nothing: it only asks whether its prediction executes. */
  protected override isCreate({ method, path, body }: VendorRequest): boolean {
    return method === 'PUT' && PREDICTION.test(path) && typeof body['input'] === 'object';
  }

  protected override answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    const { method, path } = request;
    const [, id] = PREDICTION.exec(path) ?? [];
    if (id !== undefined && method === 'PUT' && !this.isCreate(request)) this.questions += 1;
    if (id !== undefined)
      return method === 'PUT' ? this.#predict(id, request) : { status: 405, headers: { allow: 'PUT' } };
    if (path === '/health-check') return { status: 200, body: this.#shownHealth() };
    if (path === '/openapi.json')
      return this.health === 'STARTING'
        ? { status: 503, body: { error: 'OpenAPI schema not available' } }
        : { status: 200, body: DOCUMENT };
    const [, cancelled] = (method === 'POST' && CANCEL.exec(path)) || [];
    if (cancelled === undefined) return { status: 404 };
    const run = this.#open(cancelled);
    if (run !== undefined) this.#cancel(run);
    return { status: run === undefined ? 404 : 200, body: {} };
  }

  #shownHealth(): object {
    const isBusy = this.health === 'READY' && this.#used() >= this.#slots;
    return {
      status: isBusy ? 'BUSY' : this.health,
      setup: {
        started_at: '2026-01-01T00:00:00.000000+00:00',
        status: this.health === 'SETUP_FAILED' ? 'failed' : 'succeeded',
        logs: this.setupLogs,
      },
      version: { coglet: '0.23.1', python_sdk: '0.23.1', python: '3.11.7' },
    };
  }

  #used = (): number => this.runs.filter((run) => !isEnded(run)).length;
  #open = (id: string): VendorRun | undefined => this.runs.find((run) => run.id === id && !isEnded(run));

  #predict(id: string, request: VendorRequest): VendorAnswer | Promise<VendorAnswer> {
    if (this.health !== 'READY')
      return { status: 503, body: { error: 'Setup has not finished yet.', status: 'failed' } };
    const open = this.#open(id);
    if (open !== undefined)
      return { status: 202, body: { id, input: open.input, logs: '', metrics: {}, status: 'processing' } };
    const input = (request.body['input'] ?? {}) as ModelInputs;
    const faults = faultsOf(input).map(shownFault);
    if (faults.length > 0) return { status: 422, body: { detail: faults } };
    if (this.#used() >= this.#slots || !this.hasRoom(this.#used()))
      return { status: 409, body: { error: 'At capacity - all prediction slots busy', status: 'failed' } };
    const run = this.add(input, id, request.body['webhook']);
    if (request.headers['prefer'] === 'respond-async')
      return { status: 202, body: { id, status: 'starting' } };
    request.connection.onLeft(() => this.#cancel(run));
    const { promise, resolve } = Promise.withResolvers<VendorAnswer>();
    const answer = (): void => resolve({ status: 200, body: this.#shown(run) });
    this.#ends.set(run, () => void setTimeout(answer, this.lateMs));
    this.#connections.add(request.connection);
    return promise;
  }

  #shown(run: VendorRun): object {
    const { id, state, reason, startedMs = 0, endedMs = 0 } = run;
    const end = {
      succeeded: { output: `data:image/png;base64,${this.pictureOf(run).toString('base64')}` },
      failed: { error: `Prediction failed: ${reason}` },
    };
    return {
      id,
      logs: '',
      metrics: { predict_time: (endedMs - startedMs) / 1_000 },
      status: state === 'cancelled' ? 'canceled' : state,
      ...(state === 'succeeded' || state === 'failed' ? end[state] : {}),
    };
  }

  #cancel(run: VendorRun): void {
    if (this.isDeaf) this.#deaf.add(run);
    else this.cancel(run);
  }

  /** A deaf prediction that was cancelled counts as cancelled once it ends. */
  protected override end(run: VendorRun, state: VendorRun['state']): void {
    super.end(run, this.#deaf.delete(run) ? 'cancelled' : state);
  }

  protected override onChange(run: VendorRun): void {
    if (isEnded(run)) this.#ends.get(run)?.();
  }
}

function shownFault({ kind, field, bound }: InputFault): object {
  const text = {
    missing: 'Field required',
    type: 'Invalid type',
    least: `${String(bound)} is the minimum`,
    most: `${String(bound)} is the maximum`,
    enum: `must be one of ${String(bound)}`,
  };
  return { loc: ['body', 'input', field], msg: text[kind], type: 'value_error' };
}

const ANSWER = { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } };
const DOCUMENT = {
  openapi: '3.0.2',
  info: { title: 'Cog', version: '0.1.0' },
  paths: { '/predictions/{prediction_id}': { put: { responses: { 200: ANSWER } } } },
  components: {
    schemas: { Input: INPUT_SCHEMA, Output: { type: 'string', format: 'uri', title: 'Output' } },
  },
};
