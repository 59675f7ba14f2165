// The Comfy API v2: Comfy Cloud, serverless deployments, and comfy-api-proxy in front of a ComfyUI of one's own. A key makes a POST
// buy at most once: it is refused as used, whatever came of it, so an unclear request is repeated, and its job is looked for by its label.

import { Readable } from 'node:stream';
import { FormData } from 'undici';
import { z } from 'zod';
import { errorMessage } from '../../../errors/error.ts';
import { openDownloads } from '../../../run-service/download.ts';
import {
  unread,
  type Backend,
  type End,
  type Made,
  type Seen,
  type Sent,
  type Submitted,
} from './backend.ts';
import { jsonIn, openHttp, parsed, retryAfterMs, shown, type Answer, type Http } from './http.ts';

const JOBS = '/api/v2/jobs';
const SUBMIT_MS = 120_000;
/** Of one list, which is the newest first and has no further pages. */
const LISTED_MOST = 100;
const UNPAID_MS = 60_000;
/** A used key is refused for a day, and would buy again afterwards. */
const KEY_LIVES_MS = 23 * 3_600_000;

/** The key of a try, and the label of its job. */
const labelOf = ({ id, tries = 1 }: Sent): string => `rs-${id}-${tries}`;

export function openComfyApi(url: string, headers: Readonly<Record<string, string>>): Backend {
  const http = openHttp(url, headers);
  /** undefined until it is known. */
  let canList: boolean | undefined;
  /** The jobs of runs, for those of which only the id is known. */
  const refs = new Map<string, string>();
  const list = async (limit: number): Promise<readonly Job[] | undefined> => {
    if (canList === false) return undefined;
    const listed = await listOf(http, limit);
    canList = listed !== undefined;
    return listed;
  };
  return {
    isPolled: true,
    get guarantee() {
      return { lost: 'same-key', ms: KEY_LIVES_MS, gone: canList === true ? 'again' : 'unknown' } as const;
    },
    seats: { kind: 'ahead' },
    async describe() {
      await list(1);
      await http.read('/api/v2/health', z.unknown());
      return { version: 'v2', gpu: 'Comfy API' };
    },
    async submit(run, graph) {
      const submitted =
        (await unsent(http, run, { isOwn: canList === true, list })) ?? (await submit(http, run, graph));
      if (submitted.kind === 'accepted' && submitted.ref !== undefined) refs.set(run.id, submitted.ref);
      return submitted;
    },
    async poll(runs) {
      const listed = await list(LISTED_MOST);
      const asked = new Set(runs.map(({ id }) => id));
      const others = othersIn(listed ?? [], asked);
      const ours = runs.map(async (run): Promise<readonly [string, Seen]> => {
        const known = run.ref ?? refs.get(run.id);
        const job = listed?.find((one) => (known === undefined ? isOf(one, run) : one.id === known));
        const ref = job?.id ?? known;
        if (job !== undefined && seenOf(job).at !== 'absent') return [run.id, seenOf(job)];
        return [run.id, ref === undefined ? { at: 'absent' } : await lookTwice(http, ref).catch(unread)];
      });
      const seen = new Map([...others, ...(await Promise.all(ours))]);
      // Without a list, that may be the service.
      if (listed === undefined && [...seen.values()].some(({ at }) => at === 'unread'))
        await http.read('/api/v2/health', z.unknown());
      // Another question may be about other runs.
      for (const [id, { at, ref }] of seen)
        if (ref !== undefined && at !== 'ended') refs.set(id, ref);
        else if (at !== 'unread') refs.delete(id);
      return seen;
    },
    async cancel(id) {
      const ref = refs.get(id);
      if (ref !== undefined) await http.post(`${JOBS}/${encodeURIComponent(ref)}/cancel`, {});
    },
    file: ({ asset = '' }) =>
      http.open(`/api/v2/assets/${encodeURIComponent(asset)}/content`, (address) => stored(address, url)),
    async put({ name, content }) {
      const form = new FormData();
      form.set('file_path', `input/runsheet/${name}`);
      form.set('file', content, name);
      const { id } = await http.upload('/api/v2/assets', form, z.object({ id: z.string() }));
      return { __type: 'core/ASSET', info: { id } };
    },
    listen: () => ({ isAlive: () => Promise.resolve(false), close: () => undefined }),
    close: http.close,
  };
}

const download = openDownloads(4);
const FILE_MS = 6 * 3_600_000;

/** From a store of files, whose address has a signature; not from a network in which the service itself is not. */
async function stored(address: string, service: string): Promise<Readable> {
  const { chunks } = await download(address, { service, signal: AbortSignal.timeout(FILE_MS) });
  return Readable.from(chunks);
}

const timeSchema = z.string().nullish().catch(undefined);
/** An odd fact of one job must not keep the others from being polled. */
const jobSchema = z.object({
  id: z.string(),
  status: z.string(),
  created_at: timeSchema,
  started_at: timeSchema,
  completed_at: timeSchema,
  metadata: z.unknown().optional(),
  outputs: z.unknown().optional(),
  error: z
    .object({
      message: z.string().nullish(),
      node_id: z.coerce.string().nullish(),
      class_type: z.string().nullish(),
    })
    .nullish()
    .catch(undefined),
});
const outputsSchema = z
  .array(
    z.object({
      node_id: z.coerce.string(),
      name: z.string(),
      type: z.string().default('file'),
      id: z.string(),
    }),
  )
  .nullish();
type Job = z.output<typeof jobSchema>;
const listSchema = z.object({ jobs: z.array(jobSchema.or(z.unknown().transform(() => undefined))) });
const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string().default(''), details: z.unknown() }),
});

const runOf = ({ metadata }: Job): string | undefined =>
  typeof metadata === 'string' ? /^rs-(.+)-\d+$/.exec(metadata)?.[1] : undefined;

/** Runs that go on there, besides those that are asked for. */
const othersIn = (listed: readonly Job[], asked: ReadonlySet<string>) =>
  listed.flatMap((job): (readonly [string, Seen])[] => {
    const [id, seen] = [runOf(job), seenOf(job)];
    const isOther = id !== undefined && !asked.has(id) && ['waiting', 'running'].includes(seen.at);
    return isOther ? [[id, seen]] : [];
  });

const isOf = (job: Job, run: Sent): boolean =>
  run.tries === undefined ? runOf(job) === run.id : job.metadata === labelOf(run);

/** undefined for a service that has no lists. */
async function listOf({ ask }: Http, limit: number): Promise<readonly Job[] | undefined> {
  const path = `${JOBS}?limit=${limit}`;
  const answer = await ask(path);
  if ([501, 405, 404].includes(answer.status)) return undefined;
  return parsed(path, answer, listSchema).jobs.filter((job) => job !== undefined);
}

/** A service that remembers keys takes a run once. One that shows no job from before it may have been started again without them. */
const mayRepeat = (listed: readonly Job[] | undefined, { sinceMs }: Sent): boolean =>
  listed === undefined || listed.length >= LISTED_MOST
    ? Date.now() - sinceMs < KEY_LIVES_MS
    : listed.some(({ created_at }) => Date.parse(created_at ?? '') < sinceMs);

/** A job that ends between two questions of the service itself is nowhere for a moment. */
async function lookTwice(http: Http, ref: string): Promise<Seen> {
  const seen = await lookAt(http, ref);
  return seen.at === 'absent' ? lookAt(http, ref) : seen;
}

async function lookAt({ ask }: Http, ref: string): Promise<Seen> {
  const path = `${JOBS}/${encodeURIComponent(ref)}`;
  const answer = await ask(path);
  return answer.status === 404 ? { at: 'absent' } : seenOf(parsed(path, answer, jobSchema));
}

function seenOf(job: Job): Seen {
  const { id: ref, status } = job;
  switch (status) {
    case 'running':
    case 'canceling':
      return { at: 'running', ref };
    case 'succeeded':
      return { at: 'ended', ref, end: successOf(job) };
    case 'failed':
      return { at: 'ended', ref, end: failureOf(job) };
    case 'canceled':
      return { at: 'ended', ref, end: { status: 'interrupted', ranMs: ranMsOf(job) } };
    case 'expired':
      // It has forgotten how the job ended, also if that was a success.
      return { at: 'absent' };
    default:
      return { at: 'waiting', ref };
  }
}

function ranMsOf({ started_at, completed_at }: Job): number | undefined {
  const ranMs = Date.parse(completed_at ?? '') - Date.parse(started_at ?? '');
  return Number.isFinite(ranMs) ? Math.max(0, ranMs) : undefined;
}

function successOf(job: Job): End {
  const outputs = outputsSchema.safeParse(job.outputs);
  return outputs.success
    ? { status: 'success', ranMs: ranMsOf(job), made: madeBy(outputs.data ?? []) }
    : { status: 'failed', ranMs: ranMsOf(job), reason: 'it has outputs that cannot be read' };
}

function failureOf(job: Job): End {
  const { message, node_id, class_type } = job.error ?? {};
  const where = node_id == null ? '' : ` (node ${node_id}, ${class_type ?? ''})`;
  const reason = `${shown(message?.trim() ?? '') || 'it failed without a reason'}${where}`;
  return { status: 'failed', ranMs: ranMsOf(job), reason };
}

/** What ComfyUI calls the outputs of these kinds. */
const KEYS: Readonly<Record<string, string>> = { image: 'images', file: 'files', latent: 'latents' };

const madeBy = (outputs: NonNullable<z.output<typeof outputsSchema>>): readonly Made[] =>
  [...Map.groupBy(outputs, ({ node_id, type }) => `${node_id} ${type}`).values()].flatMap(
    ([first, ...more]) =>
      first === undefined
        ? []
        : [
            {
              node: first.node_id,
              key: KEYS[first.type] ?? first.type,
              files: [first, ...more].map(({ name, id }) => ({
                filename: name,
                subfolder: '',
                type: 'output',
                asset: id,
              })),
              texts: [],
            },
          ],
  );

/** Why the run is not sent now; undefined if it is. */
async function unsent(
  { ask }: Http,
  run: Sent,
  { isOwn, list }: { isOwn: boolean; list: (limit: number) => Promise<readonly Job[] | undefined> },
): Promise<Submitted | undefined> {
  if (run.isRepeated && !mayRepeat(await list(LISTED_MOST), run))
    return { kind: 'spent', reason: 'may have forgotten that it had this run' };
  // A proxy uses up the key also if what executes is down.
  const upstream = isOwn ? await ask(`${JOBS}/${run.id}`) : undefined;
  return upstream?.status === 503 ? busy(upstream) : undefined;
}

async function submit(http: Http, run: Sent, graph: object): Promise<Submitted> {
  const label = labelOf(run);
  const body = JSON.stringify({ workflow: graph, metadata: label });
  const answer = await http
    .ask(JOBS, body, { waitMs: SUBMIT_MS, more: { 'idempotency-key': label } })
    .catch((error: unknown) => errorMessage(error));
  if (typeof answer === 'string') return { kind: 'unclear', reason: answer };
  const problem = errorSchema.safeParse(jsonIn(answer.text)).data?.error;
  return problem?.code === 'idempotency_key_reuse'
    ? { kind: 'spent', reason: 'has used the key of this run, and does not show its job' }
    : submittedOf(answer, problem?.code);
}

/** No job was made; those of a person are repeated when the key or the account is corrected. */
const BUSY: ReadonlySet<number> = new Set([401, 402, 403, 407, 429]);

const reasonOf = ({ status, text }: Answer): string => `answered ${status}: ${shown(text)}`;

const busy = (answer: Answer): Submitted => ({
  kind: 'busy',
  afterMs: retryAfterMs(answer.headers),
  reason: reasonOf(answer),
});

function submittedOf(answer: Answer, code: string | undefined): Submitted {
  const { status, text } = answer;
  const reason = reasonOf(answer);
  if (status === 201 || status === 200) {
    const job = jobSchema.safeParse(jsonIn(text));
    return job.success ? { kind: 'accepted', ref: job.data.id } : { kind: 'unclear', reason };
  }
  if (status === 402) return { kind: 'busy', afterMs: UNPAID_MS, reason, why: 'unpaid' };
  if (BUSY.has(status)) return busy(answer);
  // A 422 without a code comes from something in between, and so may everything else.
  return code !== undefined && [400, 404, 413, 422].includes(status)
    ? { kind: 'refused', reason }
    : { kind: 'unclear', reason };
}
