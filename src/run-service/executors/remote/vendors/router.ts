// Comfy Router, by its queue. Every request carries an idempotency key, and repeating a key replays its answer
// for a day: a request whose answer was lost is sent again and buys nothing.

import { z } from 'zod';
import { exactText } from '../../../../host/exact-json.ts';
import { mediaTypeOf } from '../../../../host/media-types.ts';
import {
  inputsIn,
  unread,
  type Backend,
  type RunEnd,
  type Seen,
  type Sent,
  type SentWork,
  type Submitted,
} from '../backend.ts';
import { jsonIn, openHttp, type Http } from '../http.ts';
import { fileNameIn, posted, resultAt, resultsIn, submittedOf, vendorReason } from './vendor-answers.ts';

/** A key replays for 24 h from its first use, and would buy again afterwards. */
const KEY_LIVES_MS = 23 * 3_600_000;
/** The most runs that are read in one round. */
const MAX_READ = 20;
/** Files travel within the request. */
const MAX_FILE_BYTES = 8 << 20;

export function openRouter(
  url: string,
  { headers }: { readonly headers: Readonly<Record<string, string>> },
): Backend {
  const router = new Router(openHttp(url, headers));
  return {
    kind: 'router',
    guarantee: { lost: 'same-key', ms: KEY_LIVES_MS, provesAbsence: false, gone: 'unknown' },
    seats: { kind: 'grown', first: 8 },
    isPolled: true,
    mayBlock: true,
    describe: () => router.describe(),
    model: (name) => router.model(name),
    submit: (run, work) => router.submit(run, work),
    poll: (runs) => router.poll(runs),
    cancel: (id) => router.cancel(id),
    file: ({ asset = '' }) => resultAt(asset, url),
    put: dataAddressOf,
    listen: () => ({ isAlive: () => Promise.resolve(false), close: () => undefined }),
    close: () => router.close(),
  };
}

async function dataAddressOf({
  name,
  content,
}: {
  readonly name: string;
  readonly content: Blob;
}): Promise<string> {
  if (content.size > MAX_FILE_BYTES)
    throw new Error(`a file of ${content.size} bytes, and Comfy Router takes at most ${MAX_FILE_BYTES}`);
  const bytes = Buffer.from(await content.arrayBuffer());
  const [extension = ''] = /\.\w+$/.exec(name) ?? [];
  return `data:${mediaTypeOf(extension)};base64,${bytes.toString('base64')}`;
}

const catalogueSchema = z.looseObject({ data: z.array(z.unknown()) });
const acceptedSchema = z.looseObject({ request_id: z.string() });
const statusSchema = z.looseObject({
  status: z.string(),
  queue_position: z.number().nullish(),
  error_type: z.string().nullish(),
  detail: z.string().nullish().catch(undefined),
});
type RunFault = Pick<z.output<typeof statusSchema>, 'error_type' | 'detail'>;
const pathSchema = z.looseObject({
  post: z.looseObject({
    requestBody: z.looseObject({
      content: z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) }),
    }),
  }),
});
const documentSchema = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

const pathOf = (model: string): string => `/v2/models/${model.split('/').map(encodeURIComponent).join('/')}`;

class Router {
  readonly #http: Http;
  /** The path of the request of each run: it names the model, too, so that it can be read after a restart. */
  readonly #refs = new Map<string, string>();
  readonly #readAt = new Map<string, number>();

  constructor(http: Http) {
    this.#http = http;
  }

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    await this.#http.read('/v2/models', catalogueSchema);
    return { version: 'v2', gpu: 'router' };
  }

  async model(name: string) {
    const document = await this.#http.read(`${pathOf(name)}/openapi.json`, documentSchema);
    const { data } = pathSchema.safeParse(Object.values(document.paths)[0]);
    return { model: name, schema: data?.post.requestBody.content['application/json'].schema, document };
  }

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const { target, inputs } = inputsIn(work);
    if (target.kind !== 'model') return { kind: 'refused', reason: `${target.name} is no model` };
    const path = `${pathOf(target.model)}/requests`;
    const key = { 'idempotency-key': `rs-${run.id}-${run.tries ?? 1}` };
    const answer = await posted(this.#http, path, exactText(inputs), key);
    // The key is used up, and its answer cannot be replayed.
    if (typeof answer === 'object' && answer.status === 409)
      return { kind: 'spent', reason: `cannot say what came of this run: it ${vendorReason(answer)}` };
    const refOf = (id: string): string => `${path}/${encodeURIComponent(id)}`;
    const submitted = submittedOf(answer, (body) => {
      const id = acceptedSchema.safeParse(body).data?.request_id;
      return id === undefined ? undefined : refOf(id);
    });
    if (submitted.kind === 'accepted' && submitted.ref !== undefined) this.#refs.set(run.id, submitted.ref);
    return submitted;
  }

  /** Reads the runs that were not read for longest. A run without an answer cannot be looked for: its key is sent again. */
  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const placed = runs.map(({ id, ref }) => ({ id, ref: ref ?? this.#refs.get(id) }));
    const seen = new Map<string, Seen>();
    for (const { id, ref } of placed) if (ref === undefined) seen.set(id, { at: 'absent' });
    const due = placed
      .flatMap(({ id, ref }) => (ref === undefined ? [] : [{ id, ref, at: this.#readAt.get(id) ?? 0 }]))
      .toSorted((a, b) => a.at - b.at)
      .slice(0, MAX_READ);
    for (const { id, ref } of due) {
      this.#readAt.set(id, performance.now());
      this.#refs.set(id, ref);
      seen.set(id, await this.#read(ref).catch(unread));
    }
    // A run that cannot be read is a fault of the run only if Comfy Router answers otherwise.
    if ([...seen.values()].some(({ at }) => at === 'unread')) await this.describe();
    return seen;
  }

  async #read(ref: string): Promise<Seen> {
    const { status, queue_position: ahead, ...fault } = await this.#http.read(`${ref}/status`, statusSchema);
    if (status === 'IN_QUEUE') return { at: 'waiting', ref, ...(ahead != null && { ahead }) };
    if (status === 'IN_PROGRESS') return { at: 'running', ref };
    if (status !== 'COMPLETED') return { at: 'unread', ref, reason: `its status is "${status}"` };
    return { at: 'ended', ref, end: await this.#endOf(ref, fault) };
  }

  async #endOf(ref: string, { error_type: kind, detail }: RunFault): Promise<RunEnd> {
    if (kind === 'cancelled') return { status: 'interrupted', ranMs: undefined };
    if (kind != null)
      return {
        status: 'failed',
        ranMs: undefined,
        reason: detail ? `${kind}: ${detail}` : kind,
      };
    const answer = await this.#http.ask(ref);
    if (answer.status !== 200)
      return {
        status: 'failed',
        ranMs: undefined,
        reason: `it succeeded, and its result cannot be read: it ${vendorReason(answer)}`,
      };
    const { urls, texts } = resultsIn(jsonIn(answer.text));
    const files = urls.map((url) => ({
      filename: fileNameIn(url),
      subfolder: '',
      type: 'output',
      asset: url,
    }));
    return {
      status: 'success',
      ranMs: undefined,
      made: [{ node: '', key: 'output', files, texts: files.length > 0 ? [] : texts }],
    };
  }

  async cancel(id: string): Promise<void> {
    const ref = this.#refs.get(id);
    // A run that has ended answers with a conflict.
    if (ref !== undefined) await this.#http.ask(`${ref}/cancel`, undefined, { method: 'PUT' });
  }

  close = (): Promise<void> => this.#http.close();
}
