// The common part of the stand-ins for hosted vendors: runs that wait, execute and end, answers that are lost on demand, a clock that
// can be moved, files with an end, and webhooks.
//
//   waiting → running → succeeded | failed
//        └──────┴─────→ cancelled
//
// Every stand-in is a `VendorStandIn`, so one suite can drive them all:
//
//   url            base address, in place of the vendor's
//   key            the API key that it accepts, in the vendor's own header
//   model          the model, endpoint or application that it runs; its inputs are a prompt and a seed
//   posts()        POSTs for a run whose body has arrived, answered or not, refused ones too
//   polls()        questions about runs and the vendor: GETs of anything but files
//   executions()   runs that began to execute, in their order: the money
//   lose(how, n)   the next n POSTs are taken, and their answers lost; with 'before', the runs are never made either
//   setDuration    how long a run executes from now on
//   hold(isHeld)   runs that begin from now on do not end; once this is over, they execute as long as the others
//   setParallel    how many execute at the same time; others wait
//   failNext       the next n runs that begin fail for this reason
//   refuseNext     the next n requests for a run are refused for their input
//   setLimit       how many runs the vendor takes before its own 429: in its window (Replicate, RunPod), waiting or open (Router);
//                  for fal, whose queue takes any number, in progress at the same time; undefined: any number
//   setCredits     whether the account has any: without, the vendor refuses every run
//   readNext       the next GETs of this path get these answers
//   age(ms)        moves the vendor's clock, so that inputs, results and keys expire
//
// Whatever only one vendor has is a property of its own stand-in:
//
//   Replicate      secret and signed(body) of webhooks; showsWebhooks; uploads()
//   RunPod         inlinesPictures; listsRequests
//   fal            crashNext(n): the queue executes again; signed(id, body)
//   Cog            health; break(): connections break during a run; isDeaf: a run ends although it is cancelled; lateMs of an answer
//   Comfy Router   consume(key); deadlineMs of a synchronous call; hasQueue; usd of a run; mostCommittedUsd

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { encodePng } from '../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { serve, type Served } from '../stage/serve.ts';
import type { ModelInputs } from './model-inputs.ts';

export type LostAnswer = 'closed' | '502' | 'timeout';
export type VendorRunState = 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export type VendorRun = {
  readonly id: string;
  readonly model: string;
  readonly input: ModelInputs;
  readonly webhook: string | undefined;
  readonly createdMs: number;
  state: VendorRunState;
  startedMs?: number;
  endedMs?: number;
  reason?: string;
};

export type VendorStandIn = {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  posts(): number;
  polls(): number;
  executions(): readonly VendorRun[];
  lose(how: LostAnswer, times: number, when?: 'before' | 'after'): void;
  setDuration(ms: number): void;
  hold(isHeld: boolean): void;
  setParallel(most: number): void;
  failNext(times: number, reason: string): void;
  refuseNext(times: number): void;
  setLimit(most: number | undefined): void;
  setCredits(hasCredits: boolean): void;
  readNext(path: RegExp, answers: readonly VendorAnswer[]): void;
  age(ms: number): void;
  close(): void;
};

export type VendorRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** The parsed body; an empty object if it is no JSON. */
  readonly body: ModelInputs;
  readonly bytes: Buffer;
  readonly connection: {
    /** Calls back if the client leaves before it has its answer. */
    onLeft(act: () => void): void;
    /** Breaks the connection. */
    break(): void;
  };
};

export type SentWebhook = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

export type VendorAnswer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

const GATEWAY_PAGE =
  '<html><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>';

export const isEnded = ({ state }: VendorRun): boolean => state !== 'waiting' && state !== 'running';

export abstract class Vendor implements VendorStandIn {
  readonly key: string = 'key-of-a-test';
  readonly #model: string;
  readonly runs: VendorRun[] = [];
  readonly #began: VendorRun[] = [];
  /** The runs that execute; those that are held have no timer. */
  readonly #timers = new Map<VendorRun, NodeJS.Timeout | undefined>();
  #isHeld = false;
  #served: Served | undefined;
  #posts = 0;
  #polls = 0;
  #losses: { readonly how: LostAnswer; readonly when: 'before' | 'after' }[] = [];
  #failures: string[] = [];
  #refusals = 0;
  readonly #reads: { readonly path: RegExp; readonly answer: VendorAnswer }[] = [];
  #durationMs = 20;
  #parallel = Infinity;
  #limit = Infinity;
  #ageMs = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly act: () => void }>();
  protected hasCredits = true;

  constructor(model: string) {
    this.#model = model;
  }

  get model(): string {
    return this.#model;
  }

  /** Whether this request asks for a run. */
  protected abstract isCreate(request: VendorRequest): boolean;

  protected abstract answer(request: VendorRequest): VendorAnswer | Promise<VendorAnswer>;

  /** Called after each change of a run. */
  protected abstract onChange(run: VendorRun): void;

  async open(): Promise<this> {
    this.#served = await serve((incoming, response) => this.#exchange(incoming, response));
    return this;
  }

  get url(): string {
    return this.#served?.url ?? '';
  }

  posts(): number {
    return this.#posts;
  }

  polls(): number {
    return this.#polls;
  }

  executions(): readonly VendorRun[] {
    return this.#began;
  }

  lose(how: LostAnswer, times: number, when: 'before' | 'after' = 'after'): void {
    this.#losses.push(...Array.from({ length: times }, () => ({ how, when })));
  }

  setDuration(ms: number): void {
    this.#durationMs = ms;
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) return;
    for (const [run, timer] of this.#timers) if (timer === undefined) this.#endLater(run);
  }

  setParallel(most: number): void {
    this.#parallel = most;
    this.#begin();
  }

  refuseNext(times: number): void {
    this.#refusals = times;
  }

  failNext(times: number, reason: string): void {
    this.#failures.push(...Array.from({ length: times }, () => reason));
  }

  setLimit(most: number | undefined): void {
    this.#limit = most ?? Infinity;
  }

  setCredits(hasCredits: boolean): void {
    this.hasCredits = hasCredits;
  }

  readNext(path: RegExp, answers: readonly VendorAnswer[]): void {
    this.#reads.push(...answers.map((answer) => ({ path, answer })));
  }

  age(ms: number): void {
    this.#ageMs += ms;
    this.#ring();
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#served?.close();
  }

  /** Acts once the vendor's clock has reached this moment. */
  protected at(atMs: number, act: () => void): void {
    this.#alarms.add({ atMs, act });
    setTimeout(() => this.#ring(), atMs - this.now()).unref();
  }

  #ring(): void {
    const due = [...this.#alarms].filter(({ atMs }) => atMs <= this.now());
    // The latest first, so that a run that is due does not begin in the place of another one that is.
    for (const alarm of due.toReversed()) if (this.#alarms.delete(alarm)) alarm.act();
  }

  now(): number {
    return Date.now() + this.#ageMs;
  }

  /** Whether the vendor takes another run under its limit, of which the vendor counts `used`. */
  hasRoom(used: number): boolean {
    return used < this.#limit;
  }

  /** Whether a header has the key, after its scheme. */
  hasKey(header: string | string[] | undefined, scheme: string): boolean {
    return header === `${scheme}${this.key}`;
  }

  find(id: string | undefined): VendorRun | undefined {
    return this.runs.find((run) => run.id === id);
  }

  add(input: ModelInputs, id: string, webhook: unknown, model = this.model): VendorRun {
    const run: VendorRun = {
      id,
      model,
      input,
      webhook: typeof webhook === 'string' ? webhook : undefined,
      createdMs: this.now(),
      state: 'waiting',
    };
    this.runs.push(run);
    // After the answer, as at a vendor.
    setImmediate(() => this.#begin());
    return run;
  }

  /** Executes a run again under its id. */
  protected again(run: VendorRun): void {
    run.state = 'waiting';
    delete run.startedMs;
    delete run.endedMs;
    delete run.reason;
    setImmediate(() => this.#begin());
  }

  cancel(run: VendorRun): void {
    if (!isEnded(run)) this.end(run, 'cancelled');
  }

  /** The address of the picture that a run made. */
  fileOf({ id }: VendorRun): string {
    return `${this.url}/files/${id}.png`;
  }

  /** Answers with the picture of a run as long as `keepsMs` after its end. */
  file({ path }: VendorRequest, keepsMs: number): VendorAnswer {
    const run = this.find(/^\/files\/(.+)\.png$/.exec(path)?.[1]);
    if (run?.state !== 'succeeded' || this.isOver(run, keepsMs)) return { status: 404 };
    return { status: 200, body: this.pictureOf(run) };
  }

  /** A picture whose comment has the inputs of the run. */
  pictureOf({ input }: VendorRun): Buffer {
    const text = JSON.stringify(input);
    const colour = createHash('sha256').update(text).digest().subarray(0, 3);
    return encodePng({ width: 8, height: 8, pixels: new Uint8Array(64) }, colour, text);
  }

  /** Whether what a run left is gone: `keepsMs` after its end. */
  isOver({ endedMs = Infinity }: VendorRun, keepsMs: number): boolean {
    return this.now() >= endedMs + keepsMs;
  }

  /** Sends a webhook, and again after pauses until the receiver takes it. A pause of the vendor's second lasts 1 ms. */
  async notify(url: string, pausesSeconds: readonly number[], sign: () => SentWebhook): Promise<void> {
    for (const pause of [0, ...pausesSeconds]) {
      await wait(pause);
      const { body, headers } = sign();
      const sent = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
      const response = await fetch(url, { ...sent, redirect: 'manual' }).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.ok === true) return;
    }
  }

  #begin(): void {
    for (const run of this.runs) {
      if (this.#timers.size >= this.#parallel) return;
      if (run.state !== 'waiting') continue;
      run.state = 'running';
      run.startedMs = this.now();
      this.#began.push(run);
      // A reason that is there already lets the run fail in any case.
      const reason = run.reason ?? this.#failures.shift();
      if (reason !== undefined) run.reason = reason;
      if (this.#isHeld) this.#timers.set(run, undefined);
      else this.#endLater(run);
      this.onChange(run);
    }
  }

  #endLater(run: VendorRun): void {
    const end = (): void => this.end(run, run.reason === undefined ? 'succeeded' : 'failed');
    this.#timers.set(run, setTimeout(end, this.#durationMs));
  }

  /** Ends a run, as its timer does. */
  protected end(run: VendorRun, state: VendorRunState): void {
    clearTimeout(this.#timers.get(run));
    this.#timers.delete(run);
    run.state = state;
    run.endedMs = this.now();
    this.onChange(run);
    this.#begin();
  }

  async #exchange(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', this.url);
    const bytes = await buffer(incoming).catch(() => Buffer.alloc(0));
    const request: VendorRequest = {
      method: incoming.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: parsed(bytes),
      bytes,
      connection: {
        onLeft: (act) => void response.once('close', () => !response.writableEnded && act()),
        break: () => incoming.socket.destroy(),
      },
    };
    const isCreate = this.isCreate(request);
    if (isCreate) this.#posts += 1;
    if (incoming.method === 'GET' && !pathname.startsWith('/files/')) this.#polls += 1;
    const loss = isCreate ? this.#losses.shift() : undefined;
    const isRefused = isCreate && this.#refusals > 0;
    if (isRefused) this.#refusals -= 1;
    const refused = {
      status: 422,
      body: { detail: [{ loc: ['body', 'prompt'], msg: 'The input is not allowed.' }] },
    };
    const read = incoming.method === 'GET' ? this.#reads.find(({ path }) => path.test(pathname)) : undefined;
    if (read !== undefined) this.#reads.splice(this.#reads.indexOf(read), 1);
    const taken = async () => (isRefused ? refused : (read?.answer ?? this.answer(request)));
    const answer = loss?.when === 'before' ? { status: 500 } : await taken();
    if (loss === undefined) send(response, answer);
    else if (loss.how === '502')
      send(response, {
        status: 502,
        body: Buffer.from(GATEWAY_PAGE),
        headers: { 'content-type': 'text/html' },
      });
    else if (loss.how === 'closed') incoming.socket.destroy();
  }
}

function parsed(bytes: Buffer): ModelInputs {
  try {
    return JSON.parse(bytes.toString()) as ModelInputs;
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status, body, headers = {} }: VendorAnswer): void {
  const isFile = Buffer.isBuffer(body);
  const type = isFile ? 'image/png' : 'application/json';
  response.writeHead(status, { ...(body === undefined ? {} : { 'content-type': type }), ...headers });
  response.end(isFile || body === undefined ? body : JSON.stringify(body));
}
