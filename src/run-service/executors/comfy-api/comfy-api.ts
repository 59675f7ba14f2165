// The Comfy API v2: serverless deployments, Comfy Cloud, and comfy-api-proxy in front of a ComfyUI of the
// user. An idempotency key lets a POST buy at most once: a used key is refused, whatever came of it. An
// unclear request is therefore repeated, and its job is looked for by its label.
//
//                  label   lists              a used key without a job             a job that is gone
//      deployment  map     by label, paged    sent again once the list proves it   unknown
//      Cloud       none    none               unknown                              unknown
//      proxy       text    the newest         unknown                              executed again

import { randomUUID } from 'node:crypto';
import { FormData } from 'undici';
import { z } from 'zod';
import { errorMessage } from '../../../errors/error.ts';
import {
  graphIn,
  unread,
  type Backend,
  type Graph,
  type Guarantee,
  type Seats,
  type Seen,
  type Sent,
  type ServerSettings,
  type Submitted,
} from '../backend.ts';
import { problemIn, readIn, reasonOf, submittedOf } from './comfy-api-answers.ts';
import { hasMadeNothing, jobSchema, seenOf } from './comfy-api-jobs.ts';
import { isOf, labelIn, labelOf, Labels } from './comfy-api-labels.ts';
import { MAX_LISTED, Lists, type Item } from './comfy-api-lists.ts';
import { openReads, type Reads } from './comfy-api-reads.ts';
import { storedFile } from '../stored-file.ts';
import { jsonIn, KEY_LIVES_MS, openHttp, type ServerAnswer, type Http } from '../http.ts';

const JOBS = '/api/v2/jobs';
const SUBMIT_MS = 120_000;
/** The most jobs that are read in one round. */
const MAX_LOOKED_AT = 20;

export function openComfyApi(url: string, settings: ServerSettings): Backend {
  const http = openHttp(url, settings.headers);
  const api = new ComfyApi(http, openReads(http.ask), settings);
  return {
    kind: 'comfy-api',
    isPolled: true,
    mayBlock: true,
    get guarantee() {
      return api.guarantee;
    },
    get seats() {
      return api.seats;
    },
    describe: () => api.describe(),
    submit: (run, work) => api.submit(run, graphIn(work)),
    poll: (runs) => api.poll(runs),
    cancel: (id) => api.cancel(id),
    file: ({ asset = '' }) =>
      http.open(`/api/v2/assets/${encodeURIComponent(asset)}/content`, (address) => storedFile(address, url)),
    put: (file) => api.put(file),
    close: () => api.close(),
  };
}

const assetSchema = z.object({ id: z.string() });
/** Only comfy-api-proxy has this route, which names the ComfyUI behind it. */
const proxySchema = z.object({ upstream: z.string() });

class ComfyApi {
  readonly #http: Http;
  readonly #reads: Reads;
  readonly #given: ServerSettings;
  readonly #labels = new Labels();
  readonly #lists: Lists;
  #isProxy = false;
  /** The jobs and tries of runs, for runs that are known only by id. */
  readonly #refs = new Map<string, { readonly ref: string; readonly tries: number | undefined }>();
  /** When each job was last read. */
  readonly #lookedAt = new Map<string, number>();
  #listedAt = Number.NEGATIVE_INFINITY;
  /** Jobs that succeeded without an output; their outputs may appear later. */
  readonly #empty = new Set<string>();

  constructor(http: Http, reads: Reads, settings: ServerSettings) {
    [this.#http, this.#reads, this.#given] = [http, reads, settings];
    this.#lists = new Lists(JOBS, reads.ask, this.#labels);
  }

  get #isOwn(): boolean {
    return this.#isProxy || this.#labels.form === 'text';
  }

  get guarantee(): Guarantee {
    const provesAbsence = this.#lists.isThere === true && this.#labels.isKept && !this.#isOwn;
    const gone = this.#isOwn && this.#lists.isThere === true ? 'again' : 'unknown';
    return { lost: 'same-key', ms: KEY_LIVES_MS, gone, provesAbsence };
  }

  get seats(): Seats {
    const { seats: count } = this.#given;
    if (count !== undefined) return { kind: 'given', count };
    return this.#isOwn ? { kind: 'ahead' } : { kind: 'grown', first: 2 };
  }

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    const health = await this.#reads.ask('/api/v2/health');
    this.#isProxy = health.status === 200 && proxySchema.safeParse(jsonIn(health.text)).success;
    await this.#lists.newest(LISTED_FEW);
    await this.#assertThere();
    return { version: 'v2', gpu: 'Comfy API' };
  }

  async submit(run: Sent, graph: Graph): Promise<Submitted> {
    const submitted = (await this.#unsent(run)) ?? (await this.#send(run, graph));
    if (submitted.kind === 'accepted' && submitted.ref !== undefined)
      this.#refs.set(run.id, { ref: submitted.ref, tries: run.tries });
    return submitted;
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    const newest = await this.#newestFor(runs);
    const placed = await Promise.all(runs.map(async (run) => ({ run, ref: await this.#refOf(run, newest) })));
    const absent = placed.filter(({ ref }) => ref === undefined);
    const looked = this.#due(placed, newest).map(async ({ run, ref }): Promise<readonly [string, Seen]> => [
      run.id,
      await this.#look(ref).catch(unread),
    ]);
    const runById = new Map(runs.map((run) => [run.id, run]));
    const strays = goingIn(newest).filter(({ run }) => !runById.has(run));
    const seen = new Map<string, Seen>([
      ...strays.map(({ run, at, ref }) => [run, { at, ref }] as const),
      ...absent.map(({ run }) => [run.id, { at: 'absent' }] as const),
      ...(await Promise.all(looked)),
    ]);
    const triesOf = (id: string) => runById.get(id)?.tries ?? strays.find(({ run }) => run === id)?.tries;
    // An unreadable job is a fault of the job only if the service answers otherwise.
    if ([...seen.values()].some(({ at }) => at === 'unread')) await this.#assertThere();
    // A later call may be about other runs.
    for (const [id, { at, ref }] of seen)
      if (ref !== undefined && at !== 'ended') this.#refs.set(id, { ref, tries: triesOf(id) });
      else if (at !== 'unread') this.#forget(id, ref);
    return seen;
  }

  async cancel(id: string): Promise<void> {
    const ref = this.#refs.get(id)?.ref;
    if (ref !== undefined) await this.#http.post(`${pathOf(ref)}/cancel`, {});
  }

  async put({ name, content }: { readonly name: string; readonly content: Blob }) {
    const form = new FormData();
    // A proxy puts the file into this folder of its ComfyUI; a hosted service has one place for all files.
    form.set('file_path', this.#isOwn ? `input/runsheet/${name}` : name);
    form.set('content_type', content.type || 'application/octet-stream');
    form.set('file', content, name);
    const { id } = await this.#http.upload('/api/v2/assets', form, assetSchema);
    return { __type: 'core/ASSET', info: { id } } as const;
  }

  async close(): Promise<void> {
    this.#reads.close();
    await this.#http.close();
  }

  /** Throws Unreachable unless the service speaks the interface, which it proves by refusing an unknown job. */
  async #assertThere(): Promise<void> {
    const path = pathOf(randomUUID());
    const answer = await this.#reads.ask(path);
    if (answer.status !== 404 || problemIn(answer) === undefined) readIn(path, answer, z.never());
  }

  /** Why the run is not sent now; undefined if it is sent. */
  async #unsent(run: Sent): Promise<Submitted | undefined> {
    if (!this.#isOwn) return undefined;
    // A proxy that shows no earlier job may have been restarted and have forgotten its keys.
    if (run.isRepeated && !mayRepeat(await this.#lists.newest(MAX_LISTED), run))
      return { kind: 'spent', reason: 'may have forgotten that it had this run' };
    // A proxy uses up the key even if the ComfyUI behind it is down.
    const answer = await this.#reads.ask(pathOf(run.id));
    return answer.status === 503
      ? { kind: 'busy', afterMs: UPSTREAM_MS, reason: reasonOf(answer) }
      : undefined;
  }

  async #send(run: Sent, graph: Graph): Promise<Submitted> {
    const more = { 'idempotency-key': labelOf(run) };
    for (;;) {
      const body = JSON.stringify({ workflow: graph, ...this.#labels.metadataFor(run) });
      const answer = await this.#http
        .ask(JOBS, body, { waitMs: SUBMIT_MS, more })
        .catch((error: unknown) => errorMessage(error));
      if (typeof answer === 'string') return { kind: 'unclear', reason: answer };
      if (this.#labels.takeNextForm(answer)) continue;
      return this.#submitted(run, answer);
    }
  }

  async #submitted(run: Sent, answer: ServerAnswer): Promise<Submitted> {
    const submitted = submittedOf(answer);
    if (submitted.kind === 'accepted')
      this.#labels.shown((jsonIn(answer.text) as { metadata?: unknown }).metadata);
    if (submitted.kind !== 'spent') return submitted;
    // The job may have been created since the last look.
    const search = await this.#lists.find(run).catch(unread);
    // A list that could not be read decides nothing.
    if ('at' in search) return { ...submitted, kind: 'busy', afterMs: UNREAD_MS };
    if (search.item !== undefined) return { kind: 'accepted', ref: search.item.id };
    return search.isCertain ? { ...submitted, isAbsent: true } : submitted;
  }

  async #refOf(run: Sent, newest: readonly Item[]): Promise<string | undefined> {
    const ref = this.#knownRef(run);
    if (ref !== undefined) return ref;
    const listed = newest.find(({ metadata }) => isOf(metadata, run)) ?? (await this.#lists.find(run)).item;
    return listed?.id;
  }

  /** Empty if no job in it is needed now, because a list may be long and costs a proxy two requests for each job. */
  async #newestFor(runs: readonly Sent[]): Promise<readonly Item[]> {
    const isNeeded =
      runs.length > MAX_LOOKED_AT || (this.#isOwn && runs.some((run) => this.#knownRef(run) === undefined));
    if (!isNeeded && performance.now() - this.#listedAt < LISTED_EVERY_MS) return [];
    this.#listedAt = performance.now();
    return (await this.#lists.newest(MAX_LISTED)) ?? [];
  }

  #knownRef({ id, tries, ref }: Sent): string | undefined {
    const lastRef = this.#refs.get(id);
    return ref ?? (tries === undefined || lastRef?.tries === tries ? lastRef?.ref : undefined);
  }

  #forget(id: string, ref = this.#refs.get(id)?.ref): void {
    this.#refs.delete(id);
    if (ref !== undefined) this.#lookedAt.delete(ref);
  }

  /** The jobs to read in this round: first jobs that the list shows as ended, then jobs that were not read for longest. */
  #due<T extends { readonly ref: string | undefined }>(placed: readonly T[], newest: readonly Item[]) {
    const going = new Set(newest.flatMap(({ id, status }) => (GOING.has(status ?? '') ? [id] : [])));
    const listed = new Set(newest.map(({ id }) => id));
    const started = placed.flatMap((placement) =>
      placement.ref === undefined ? [] : [{ ...placement, ref: placement.ref }],
    );
    const rankOf = (ref: string): number =>
      listed.has(ref) && !going.has(ref) ? -1 : (this.#lookedAt.get(ref) ?? 0);
    const due = started.toSorted((a, b) => rankOf(a.ref) - rankOf(b.ref)).slice(0, MAX_LOOKED_AT);
    for (const { ref } of due) this.#lookedAt.set(ref, performance.now());
    return due;
  }

  /** A job that ends between two internal reads of the service is invisible for a moment. */
  async #look(ref: string): Promise<Seen> {
    const first = await this.#lookOnce(ref);
    const seen = first.at === 'absent' ? await this.#lookOnce(ref) : first;
    if (!hasMadeNothing(seen)) {
      this.#empty.delete(ref);
      return seen;
    }
    if (this.#empty.delete(ref)) return seen;
    this.#empty.add(ref);
    return { at: 'running', ref };
  }

  async #lookOnce(ref: string): Promise<Seen> {
    const path = pathOf(ref);
    const answer = await this.#reads.ask(path);
    if (answer.status === 404 && problemIn(answer) !== undefined) return { at: 'absent' };
    const job = readIn(path, answer, jobSchema);
    if (labelIn(job.metadata)) this.#labels.shown(job.metadata);
    return seenOf(job);
  }
}

const UPSTREAM_MS = 5_000;
const UNREAD_MS = 1_000;
/** How often jobs of an earlier service process, which this one does not ask for, are searched. */
const LISTED_EVERY_MS = 30_000;
const LISTED_FEW = 20;

const pathOf = (ref: string): string => `${JOBS}/${encodeURIComponent(ref)}`;

const GOING: ReadonlySet<string> = new Set(['queued', 'running', 'canceling']);

/** Unfinished jobs of this service. */
const goingIn = (newest: readonly Item[]) =>
  newest.flatMap(({ id: ref, status, metadata }) => {
    const label = labelIn(metadata);
    if (label === undefined || !GOING.has(status ?? '')) return [];
    return [{ ...label, ref, at: status === 'queued' ? ('waiting' as const) : ('running' as const) }];
  });

/** Whether a proxy cannot have forgotten its keys: it then accepts a run only once. */
const mayRepeat = (newest: readonly Item[] | undefined, { sinceMs }: Sent): boolean =>
  newest === undefined ||
  newest.length >= MAX_LISTED ||
  newest.some(({ created_at }) => Date.parse(created_at ?? '') < sinceMs);
