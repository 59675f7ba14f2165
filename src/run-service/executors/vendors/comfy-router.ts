// Comfy Router, by its queue. Every request carries an idempotency key, and repeating a key replays its answer
// for a day: a request whose answer was lost is sent again and buys nothing.

import { z } from 'zod';
import { exactText } from '../../../host/formats/exact-json.ts';
import { inputsIn, taskIn, type Backend, type RunEnd } from '../backend.ts';
import type { Seen, Sent, SentWork, ServerSettings, Submitted } from '../backend.ts';
import { jsonIn, openHttp, parsed, type Http } from '../http.ts';
import { nanoOfUsd } from '../vendor-price.ts';
import { madeIn } from './answer-files.ts';
import { hostedVendor, type VendorApi } from './hosted-vendor.ts';
import { ReadRuns } from './read-runs.ts';
import { bodySchemaIn, dataUri, isReadLater, posted, submittedOf, vendorReason } from './vendor-answers.ts';

/** US dollars of the run, in the answer with its result, for the models whose provider tells a price. */
const COST = 'x-litellm-response-cost';
/** Files travel within the request. */
const MAX_BYTES = 8 << 20;

export function openRouter(url: string, { headers }: ServerSettings): Backend {
  const put: Backend['put'] = (file) => {
    if (file.content.size <= MAX_BYTES) return dataUri(file);
    throw new Error(`Comfy Router takes files of at most ${MAX_BYTES} bytes, and ${file.name} is larger`);
  };
  const api = new Router(openHttp(url, headers));
  return hostedVendor({ kind: 'router', url, api, runs: api.runs, put });
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
const pathOf = (model: string): string => `/v2/models/${model.split('/').map(encodeURIComponent).join('/')}`;

const ended = (end: RunEnd): Seen => ({ at: 'ended', end });
/** The result is deleted. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

class Router implements VendorApi {
  /** The ref of a run is the path of its request: it names the model, too, so that it can be read after a restart. */
  readonly runs: ReadRuns;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
    this.runs = new ReadRuns({
      read: (ref) => this.#read(ref),
      assertThere: async () => void (await this.describe()),
      seats: { kind: 'grown', first: 8 },
    });
  }

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    await this.#http.read('/v2/models', catalogueSchema);
    return { version: 'v2', gpu: 'router' };
  }

  async model(name: string) {
    const document = await this.#http.read(`${pathOf(name)}/openapi.json`, z.looseObject({}));
    return { model: name, schema: bodySchemaIn(document, `/v2/models/${name}`), document };
  }

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const path = `${pathOf(taskIn('model', run).target.model)}/requests`;
    const key = { 'idempotency-key': `rs-${run.id}-${run.tries ?? 1}` };
    const answer = await posted(this.#http, path, exactText(inputsIn(work).inputs), key);
    // The key is used up, and its answer cannot be replayed.
    if (typeof answer === 'object' && answer.status === 409)
      return { kind: 'spent', reason: `cannot say what came of this run: it ${vendorReason(answer)}` };
    const refOf = (id: string): string => `${path}/${encodeURIComponent(id)}`;
    return submittedOf(answer, (body) => {
      const id = acceptedSchema.safeParse(body).data?.request_id;
      return id === undefined ? undefined : refOf(id);
    });
  }

  async #read(ref: string): Promise<Seen> {
    const { status, queue_position: ahead, ...fault } = await this.#http.read(`${ref}/status`, statusSchema);
    if (status === 'IN_QUEUE') return { at: 'waiting', ...(ahead != null && { ahead }) };
    if (status === 'IN_PROGRESS') return { at: 'running' };
    if (status !== 'COMPLETED') return { at: 'unread', reason: `its status is "${status}"` };
    return this.#ended(ref, fault);
  }

  async #ended(ref: string, { error_type: kind, detail }: RunFault): Promise<Seen> {
    // The router does not tell how long a run executed.
    const ranMs = undefined;
    if (kind === 'cancelled') return ended({ status: 'interrupted', ranMs });
    if (kind != null) return ended({ status: 'failed', ranMs, reason: detail ? `${kind}: ${detail}` : kind });
    const answer = await this.#http.ask(ref);
    const { status, headers, text } = answer;
    if (isReadLater(status)) return { at: 'unread', reason: vendorReason(answer) };
    if (status !== 200) {
      const reason = `it succeeded, and its result cannot be read: it ${vendorReason(answer)}`;
      return ended({ status: 'failed', ranMs, reason });
    }
    const costNano = nanoOfUsd(headers[COST]);
    return ended({ status: 'success', ranMs, costNano, made: madeIn(jsonIn(text), ref) });
  }

  /** The answer of a run that has ended; undefined if it is deleted. */
  async outputOf(ref: string): Promise<unknown> {
    const answer = await this.#http.ask(ref);
    return GONE.has(answer.status) ? undefined : parsed(ref, answer, z.unknown());
  }

  async cancel(id: string): Promise<void> {
    const ref = this.runs.refOf(id);
    // A run that has ended answers with a conflict.
    if (ref !== undefined) await this.#http.ask(`${ref}/cancel`, undefined, { method: 'PUT' });
  }

  close = (): Promise<void> => this.#http.close();
}
