// fal's queue. Nothing finds a request whose answer was lost while it waits or executes, so such a run is never
// sent again; `x-fal-request-timeout` bounds how long the request may still begin. fal itself would execute a
// request up to ten times, unless `x-fal-no-retry` forbids it.

import { z } from 'zod';
import { exactText } from '../../../host/formats/exact-json.ts';
import { VENDOR_FACTS } from '../../../options/facts/server-kind.ts';
import { inputsIn, taskIn, Unreachable, type Backend, type RunEnd } from '../backend.ts';
import type { Seen, Sent, SentWork, ServerSettings, Submitted, VendorWebhook } from '../backend.ts';
import { jsonIn, OF_A_PERSON, openHttp, parsed, type Http, type ServerAnswer } from '../http.ts';
import { madeIn } from './answer-files.ts';
import { FalSignatures } from './fal-signature.ts';
import { hostedVendor, type VendorApi } from './hosted-vendor.ts';
import { ReadRuns } from './read-runs.ts';
import { bodySchemaIn, isReadLater, posted, submittedOf, SUBMIT, vendorReason } from './vendor-answers.ts';

/** The queue and the catalogue of models have hosts of their own, and one key. */
const CATALOGUE = 'https://api.fal.ai';
const NOT_FOUND = 404;
/** Publishes the keys of webhooks. */
const KEYS = 'https://rest.fal.ai';
const SECOND_MS = 1_000;

export function openFal(url: string, { headers, seats }: ServerSettings): Backend {
  const isReal = url === VENDOR_FACTS.fal.url;
  const signatures = new FalSignatures(openHttp(isReal ? KEYS : url, {}));
  const api = new Fal(openHttp(url, headers), openHttp(isReal ? CATALOGUE : url, headers), signatures);
  return hostedVendor({ kind: 'fal', url, api, runs: api.runs, seats });
}

const MAX_ID = 200;
const takenSchema = z.looseObject({ request_id: z.string() });
const statusSchema = z.looseObject({
  status: z.string(),
  queue_position: z.number().nullish().catch(undefined),
  error: z.string().nullish().catch(undefined),
  metrics: z.looseObject({ inference_time: z.number() }).partial().nullish().catch(undefined),
});
type FalStatus = z.output<typeof statusSchema>;
const modelsSchema = z.looseObject({
  models: z.array(z.looseObject({ endpoint_id: z.string(), openapi: z.unknown().optional() })),
});

class Fal implements VendorApi {
  readonly runs: ReadRuns;
  readonly #queue: Http;
  readonly #catalogue: Http;
  readonly #signatures: FalSignatures;

  constructor(queue: Http, catalogue: Http, signatures: FalSignatures) {
    [this.#queue, this.#catalogue, this.#signatures] = [queue, catalogue, signatures];
    this.runs = new ReadRuns({
      read: (ref) => this.#read(ref),
      assertThere: async () => void (await this.describe()),
    });
  }

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    await this.#catalogue.read('/v1/models?limit=1', modelsSchema);
    return { version: 'v1', gpu: 'fal' };
  }

  async model(model: string) {
    const query = new URLSearchParams({ endpoint_id: model, expand: 'openapi-3.0' });
    const path = `/v1/models?${query.toString()}`;
    const answer = await this.#catalogue.ask(path);
    const { models } = parsed(path, answer, modelsSchema);
    const entry = models.find(({ endpoint_id: id }) => id === model);
    if (entry === undefined)
      throw new Unreachable(`fal has no model ${model}`, { answer: { ...answer, status: NOT_FOUND } });
    return { model, schema: bodySchemaIn(entry.openapi, `/${model}`), document: entry.openapi };
  }

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const { target } = taskIn('model', run);
    const { inputs, webhookUrl } = inputsIn(work);
    const query = webhookUrl === undefined ? '' : `?fal_webhook=${encodeURIComponent(webhookUrl)}`;
    const answer = await posted(this.#queue, `/${target.model}${query}`, exactText(inputs), {
      'x-fal-no-retry': '1',
      'x-fal-store-io': '1',
      'x-fal-request-timeout': String(Math.max(1, Math.ceil(SUBMIT.queueMs / SECOND_MS))),
    });
    return submittedOf(answer, (body) => {
      const requestId = takenSchema.safeParse(body).data?.request_id;
      return requestId === undefined ? undefined : refOf(target.model, requestId);
    });
  }

  /** The webhook of a request names it, whether it succeeded or not. */
  async refIn(message: VendorWebhook): Promise<string | undefined> {
    if (!(await this.#signatures.isGenuine(message))) return undefined;
    const requestId = takenSchema.safeParse(jsonIn(message.body)).data?.request_id;
    if (requestId === undefined || requestId === '' || requestId.length > MAX_ID) return undefined;
    const ref = refOf(message.model, requestId);
    this.runs.accepted(message.id, ref);
    return ref;
  }

  async #read(ref: string): Promise<Seen> {
    const path = `/${ref}/status`;
    const answer = await this.#queue.ask(path);
    if (answer.status === NOT_FOUND) return { at: 'unread', reason: 'fal does not know it any more' };
    const status = parsed(path, usual(answer), statusSchema);
    if (status.status === 'IN_QUEUE') return { at: 'waiting', ...aheadIn(status) };
    if (status.status === 'IN_PROGRESS') return { at: 'running' };
    return status.status === 'COMPLETED'
      ? this.#ended(ref, status)
      : { at: 'unread', reason: `its status is "${status.status}"` };
  }

  /** A request that failed is COMPLETED as well; its result is the refusal of the model. */
  async #ended(ref: string, { error, metrics }: FalStatus): Promise<Seen> {
    const seconds = metrics?.inference_time;
    const ranMs = seconds === undefined ? undefined : seconds * SECOND_MS;
    const answer = await this.#queue.ask(`/${ref}`);
    const end = endOf(answer, ref, error ?? undefined);
    return end === undefined
      ? { at: 'unread', reason: vendorReason(answer) }
      : { at: 'ended', end: { ...end, ranMs } };
  }

  /** undefined if fal has deleted the result. */
  async outputOf(ref: string): Promise<unknown> {
    const path = `/${ref}`;
    const answer = await this.#queue.ask(path);
    return answer.status === NOT_FOUND ? undefined : parsed(path, answer, z.unknown());
  }

  /** A request that executes stops only if its model listens to the signal. */
  async cancel(id: string): Promise<void> {
    const ref = this.runs.refOf(id);
    if (ref === undefined) return;
    const answer = await this.#queue.ask(`/${ref}/cancel`, '{}', { method: 'PUT' });
    if (!CANCELLED.has(answer.status)) throw new Unreachable(`its cancellation ${vendorReason(answer)}`);
  }

  close = async (): Promise<void> =>
    void (await Promise.all([this.#queue.close(), this.#catalogue.close(), this.#signatures.close()]));
}

/** 400: the request has ended already. */
const CANCELLED: ReadonlySet<number> = new Set([200, 202, 400, 404]);

/** A status of a request that has not ended is answered with 202. */
const usual = (answer: ServerAnswer): ServerAnswer =>
  answer.status === 202 ? { ...answer, status: 200 } : answer;

const aheadIn = ({ queue_position: ahead }: FalStatus): { readonly ahead?: number } =>
  ahead == null ? {} : { ahead };

/** Names whose applications have an owner of their own behind them. */
const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy']);

/** The path of a request, which has the application alone, without the path below it: `owner/app/requests/id`. */
function refOf(model: string, id: string): string {
  const words = model.split('/');
  const app = words.slice(0, NAMESPACES.has(words[0] ?? '') ? 3 : 2).join('/');
  return `${app}/requests/${encodeURIComponent(id)}`;
}

/** The end of a request, without its time; undefined if the answer says nothing about it. */
function endOf(answer: ServerAnswer, ref: string, error: string | undefined): RunEnd | undefined {
  const { status, text } = answer;
  if (error === undefined && status === 200)
    return { status: 'success', ranMs: undefined, made: madeIn(jsonIn(text), ref) };
  const failed = (reason: string): RunEnd => ({ status: 'failed', ranMs: undefined, reason });
  if (error === undefined && status === NOT_FOUND)
    return failed('it succeeded, and fal deleted its result before it was fetched');
  // Only the status of a request tells a fault of the model from one of the gateway.
  if (error === undefined ? isReadLater(status) : OF_A_PERSON.has(status)) return undefined;
  const isOfModel = status >= 400 && status !== NOT_FOUND && problem.safeParse(jsonIn(text)).success;
  if (isOfModel) return failed(vendorReason(answer));
  return error === undefined ? undefined : failed(error);
}
const problem = z.looseObject({ detail: z.unknown().refine((detail) => detail !== undefined) });
