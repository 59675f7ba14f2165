// Replicate. A prediction carries our name of the run in its webhook address, which the list of predictions
// shows, so a prediction whose answer was lost is found there and never bought twice. Nobody has to listen at
// that address. Inputs and outputs are deleted after an hour; until then the list proves that a run is absent.

import { FormData } from 'undici';
import { z } from 'zod';
import { canonical } from '../../../host/formats/canonical-json.ts';
import { exactText } from '../../../host/formats/exact-json.ts';
import { inputsIn, taskIn, Unreachable, unread, type Backend, type Seen } from '../backend.ts';
import type { Sent, SentWork, ServerSettings, Submitted } from '../backend.ts';
import { openHttp, parsed, type Http } from '../http.ts';
import { predictionSchema, stateOf, type Prediction } from './replicate-prediction.ts';
import { hostedVendor, LIST, type VendorApi } from './hosted-vendor.ts';
import { inputSchemaIn, posted, submittedOf } from './vendor-answers.ts';

/** The most predictions that are read one by one in a round; more are read from the list. */
const MAX_READ = 20;
const MAX_PAGES = 50;
const LEAST_LIMIT_S = 5;

export function openReplicate(url: string, { headers }: ServerSettings): Backend {
  const api = new Replicate(url, openHttp(url, headers));
  return hostedVendor({ kind: 'replicate', url, api, runs: api, put: (file) => api.put(file) });
}

const pageSchema = z.object({ next: z.string().nullish(), results: z.array(predictionSchema) });
const versionSchema = z.looseObject({ id: z.string(), openapi_schema: z.unknown() });
const modelSchema = z.looseObject({
  is_official: z.boolean().nullish(),
  latest_version: versionSchema.nullish(),
});
const fileSchema = z.looseObject({ urls: z.looseObject({ get: z.string() }) });

/** The address of no host: Replicate calls it in vain, and shows it with the prediction. */
const webhookOf = (name: string): string => `https://runsheet.invalid/${name}`;
const NAME = /^https:\/\/runsheet\.invalid\/([\w-]+)\.(\d+)$/;
const nameOf = ({ id, tries = 1 }: Sent): string => `${id}.${tries}`;

class Replicate implements VendorApi {
  readonly seats = { kind: 'grown', first: 16 } as const;
  readonly #url: string;
  readonly #http: Http;
  readonly #refs = new Map<string, string>();
  /** When each run was last read by itself; the oldest is read first. */
  readonly #readAt = new Map<string, number>();
  /** How far Replicate's clock is ahead of ours. */
  #aheadMs = 0;
  /** The inputs of runs whose answers may be lost, for predictions that do not show their webhook. */
  readonly #inputs = new Map<string, string>();

  constructor(url: string, http: Http) {
    [this.#url, this.#http] = [url, http];
  }

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    const path = '/v1/predictions';
    const answer = await this.#http.ask(path);
    parsed(path, answer, pageSchema);
    const nowMs = Date.parse(String(answer.headers['date']));
    if (Number.isFinite(nowMs)) this.#aheadMs = nowMs - Date.now();
    return { version: 'v1', gpu: 'replicate' };
  }

  /** Names the version that runs, because the newest one may change while a batch runs. */
  async model(name: string) {
    const [, model = name, version] = /^([^:]+)(?::(\w+))?$/.exec(name) ?? [];
    const path = `/v1/models/${model}`;
    if (version !== undefined) {
      const document = (await this.#http.read(`${path}/versions/${version}`, versionSchema)).openapi_schema;
      return { model: `${model}:${version}`, schema: inputSchemaIn(document), document };
    }
    const { is_official: isOfficial, latest_version: latest } = await this.#http.read(path, modelSchema);
    const document = latest?.openapi_schema;
    const pinned = isOfficial === true || latest == null ? model : `${model}:${latest.id}`;
    return { model: pinned, schema: inputSchemaIn(document), document };
  }

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const { target, timeLimitMs } = taskIn('model', run);
    const { inputs } = inputsIn(work);
    const [, version] = target.model.split(':');
    const body = exactText({
      ...(version !== undefined && { version }),
      input: inputs,
      webhook: webhookOf(nameOf(run)),
      webhook_events_filter: ['completed'],
    });
    const path = version === undefined ? `/v1/models/${target.model}/predictions` : '/v1/predictions';
    const seconds = Math.max(LEAST_LIMIT_S, Math.ceil(timeLimitMs / 1_000));
    this.#inputs.set(nameOf(run), canonical(inputs));
    const answer = await posted(this.#http, path, body, { 'cancel-after': `${seconds}s` });
    const submitted = submittedOf(answer, (text) => predictionSchema.safeParse(text).data?.id);
    if (submitted.kind !== 'unclear') this.#inputs.delete(nameOf(run));
    return submitted;
  }

  accepted(id: string, ref: string): void {
    this.#refs.set(id, ref);
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const placed = runs.map((run) => ({ run, ref: run.ref ?? this.#refs.get(run.id) }));
    const lost = placed.flatMap(({ run, ref }) => (ref === undefined ? [run] : []));
    const listed =
      lost.length > 0 || placed.length > MAX_READ
        ? await this.#list(Math.min(...lost.map(({ sinceMs }) => this.#oldestOf(sinceMs))))
        : { predictions: [], isComplete: false };
    const states = new Map<string, Seen>(lost.map((run) => [run.id, this.#searched(run, listed)]));
    const shown = new Map(listed.predictions.map((prediction) => [prediction.id, prediction]));
    const unlisted: { readonly id: string; readonly ref: string }[] = [];
    for (const { run, ref } of placed) {
      const prediction = shown.get(ref ?? '');
      if (prediction !== undefined) states.set(run.id, stateOf(prediction));
      else if (ref !== undefined) unlisted.push({ id: run.id, ref });
    }
    for (const { id, ref } of unlisted
      .toSorted((a, b) => this.#lastRead(a.id) - this.#lastRead(b.id))
      .slice(0, MAX_READ)) {
      this.#readAt.set(id, performance.now());
      states.set(id, await this.#prediction(ref).then(stateOf, unread));
    }
    for (const [id, { ref }] of states) if (ref !== undefined) this.#refs.set(id, ref);
    // A run that cannot be read is a fault of the run only if Replicate answers otherwise.
    if ([...states.values()].some(({ at }) => at === 'unread')) await this.describe();
    return states;
  }

  #lastRead = (id: string): number => this.#readAt.get(id) ?? 0;

  /** The earliest time, by Replicate's clock, at which a run that was placed then may have been created. */
  #oldestOf = (placedMs: number): number => placedMs + this.#aheadMs - LIST.skewMs;

  /** A run without an answer: found by its name, else by its input if no prediction shows its webhook. */
  #searched(run: Sent, listed: Listing): Seen {
    const named = listed.predictions.find(({ webhook }) => {
      const [, id, tries] = NAME.exec(webhook ?? '') ?? [];
      return id === run.id && (run.tries === undefined || Number(tries) === run.tries);
    });
    if (named !== undefined) return stateOf(named);
    if (!listed.isComplete)
      return { at: 'unread', reason: 'too many predictions were made meanwhile to find this one' };
    const nameless = listed.predictions.filter(
      ({ webhook, created_at: at }) => webhook == null && !(Date.parse(at) < this.#oldestOf(run.sinceMs)),
    );
    if (nameless.length === 0) return { at: 'absent' };
    const input = this.#inputs.get(nameOf(run));
    if (input === undefined) return { at: 'unread', reason: 'predictions do not show their webhook' };
    const refs = new Set(this.#refs.values());
    const equal = nameless.find(({ id, input: sent }) => !refs.has(id) && canonical(sent) === input);
    return equal === undefined ? { at: 'absent' } : stateOf(equal);
  }

  /** The newest predictions: all that were created since `sinceMs`, and at least one page. */
  async #list(sinceMs: number): Promise<Listing> {
    const predictions: Prediction[] = [];
    let path: string | undefined = '/v1/predictions';
    for (let pages = 0; path !== undefined; pages += 1) {
      if (pages === MAX_PAGES) return { predictions, isComplete: false };
      const page: z.output<typeof pageSchema> = await this.#http.read(path, pageSchema);
      predictions.push(...page.results);
      const oldest = Date.parse(page.results.at(-1)?.created_at ?? '');
      path = oldest < sinceMs || page.next == null ? undefined : this.#pathIn(page.next);
    }
    return { predictions, isComplete: true };
  }

  /** The key goes to Replicate only, whatever a page names as the next one. */
  #pathIn(next: string): string {
    const { pathname, search, origin } = new URL(next, this.#url);
    if (origin !== new URL(this.#url).origin) throw new Unreachable(`the list continues at ${origin}`);
    return `${pathname}${search}`;
  }

  #prediction = (ref: string): Promise<Prediction> =>
    this.#http.read(`/v1/predictions/${encodeURIComponent(ref)}`, predictionSchema);

  outputOf = async (ref: string): Promise<unknown> => (await this.#prediction(ref)).output;

  async cancel(id: string): Promise<void> {
    const ref = this.#refs.get(id);
    if (ref !== undefined) await this.#http.post(`/v1/predictions/${encodeURIComponent(ref)}/cancel`, {});
  }

  async put({ name, content }: { readonly name: string; readonly content: Blob }): Promise<string> {
    const form = new FormData();
    form.set('content', content, name);
    return (await this.#http.upload('/v1/files', form, fileSchema)).urls.get;
  }

  forget(id: string): void {
    this.#refs.delete(id);
    this.#readAt.delete(id);
  }

  close = (): Promise<void> => this.#http.close();
}

type Listing = { readonly predictions: readonly Prediction[]; readonly isComplete: boolean };
