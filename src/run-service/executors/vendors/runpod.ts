// RunPod Serverless: an endpoint with a queue. Nothing finds a job whose answer was lost, so such a run is
// never sent again; `policy.ttl` bounds how long the job may still wait or execute. Results are kept for half
// an hour, often inside the answer.

import { z } from 'zod';
import { exactText } from '../../../host/formats/exact-json.ts';
import { VENDOR_FACTS } from '../../../options/facts/server-kind.ts';
import { inputsIn, taskIn, type Backend, type RunEnd, type Seen, type Sent } from '../backend.ts';
import type { SentWork, ServerSettings, Submitted, VendorWebhook } from '../backend.ts';
import { jsonIn, openHttp, parsed, type Http } from '../http.ts';
import { madeIn } from './answer-files.ts';
import { workerFault } from './comfy-worker.ts';
import { posted, submittedOf, SUBMIT } from './vendor-answers.ts';
import { hostedVendor, type VendorApi } from './hosted-vendor.ts';
import { ReadRuns } from './read-runs.ts';

/** RunPod refuses a policy with less. */
const LEAST_LIMIT_MS = 5_000;
const LEAST_TTL_MS = 10_000;
const NOT_FOUND = 404;
const KEEPS = `RunPod does not know it any more: it keeps a job for ${VENDOR_FACTS.runpod.keeps} after its end`;

export function openRunpod(url: string, { headers, seats }: ServerSettings): Backend {
  const api = new Runpod(openHttp(url, headers));
  return hostedVendor({ kind: 'runpod', url, api, runs: api.runs, seats });
}

const jobSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  executionTime: z.number().nullish().catch(undefined),
});
type RunpodJob = z.output<typeof jobSchema>;
const namedSchema = z.looseObject({ id: z.string().min(1).max(200) });
const healthSchema = z.looseObject({ jobs: z.unknown() });

class Runpod implements VendorApi {
  readonly runs: ReadRuns;
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
    this.runs = new ReadRuns({
      read: (ref) => this.#read(ref),
      assertThere: (ref) => this.#assertThere(ref.split('/')[0] ?? ''),
    });
  }

  describe = (): Promise<{ readonly version: string; readonly gpu: string }> =>
    Promise.resolve({ version: 'v2', gpu: 'runpod' });

  /** An endpoint does not describe its inputs. */
  async model(endpoint: string): Promise<{ readonly model: string }> {
    await this.#http.read(pathOf(endpoint, 'health'), healthSchema);
    return { model: endpoint };
  }

  /** An endpoint that was deleted must not keep those of other runs from being read. */
  async #assertThere(endpoint: string): Promise<void> {
    const path = pathOf(endpoint, 'health');
    const answer = await this.#http.ask(path);
    if (answer.status !== NOT_FOUND) parsed(path, answer, healthSchema);
  }

  async submit(run: Sent, work: SentWork): Promise<Submitted> {
    const { target, timeLimitMs } = taskIn('model', run);
    const { inputs, webhookUrl: webhook } = inputsIn(work);
    const executionTimeout = Math.max(LEAST_LIMIT_MS, Math.ceil(timeLimitMs));
    const ttl = Math.max(LEAST_TTL_MS, executionTimeout + SUBMIT.queueMs);
    const body = exactText({ input: inputs, policy: { executionTimeout, ttl }, ...(webhook && { webhook }) });
    const answer = await posted(this.#http, pathOf(target.model, 'run'), body);
    return submittedOf(answer, (job) => {
      const jobId = jobSchema.safeParse(job).data?.id;
      return jobId === undefined ? undefined : `${target.model}/${jobId}`;
    });
  }

  /** Only RunPod got the address of the webhook, which names the job that came of the request. */
  refIn = ({ id, model, body }: VendorWebhook): Promise<string | undefined> => {
    const jobId = namedSchema.safeParse(jsonIn(body)).data?.id;
    const ref = jobId === undefined ? undefined : `${model}/${jobId}`;
    if (ref !== undefined) this.runs.accepted(id, ref);
    return Promise.resolve(ref);
  };

  async #read(ref: string): Promise<Seen> {
    const job = await this.#job(ref);
    return job === undefined ? { at: 'unread', reason: KEEPS } : stateOf(job, ref);
  }

  /** undefined if RunPod has deleted the job. */
  async #job(ref: string): Promise<RunpodJob | undefined> {
    const path = jobPath(ref, 'status');
    const answer = await this.#http.ask(path);
    return answer.status === NOT_FOUND ? undefined : parsed(path, answer, jobSchema);
  }

  outputOf = async (ref: string): Promise<unknown> => (await this.#job(ref))?.output;

  async cancel(id: string): Promise<void> {
    const ref = this.runs.refOf(id);
    if (ref !== undefined) await this.#http.post(jobPath(ref, 'cancel'), {});
  }

  close = (): Promise<void> => this.#http.close();
}

const pathOf = (endpoint: string, ...words: readonly string[]): string =>
  `/v2/${[endpoint, ...words].map(encodeURIComponent).join('/')}`;

/** The path for a job, whose ref has its endpoint: `endpoint/id`. */
function jobPath(ref: string, verb: 'status' | 'cancel'): string {
  const [endpoint = '', ...id] = ref.split('/');
  return pathOf(endpoint, verb, id.join('/'));
}

function stateOf(job: RunpodJob, ref: string): Seen {
  if (job.status === 'IN_QUEUE') return { at: 'waiting' };
  if (job.status === 'IN_PROGRESS') return { at: 'running' };
  const end = endOf(job, ref);
  return end === undefined ? { at: 'unread', reason: `its status is "${job.status}"` } : { at: 'ended', end };
}

function endOf({ status, output, error, executionTime }: RunpodJob, ref: string): RunEnd | undefined {
  const ranMs = executionTime ?? undefined;
  if (status === 'COMPLETED') {
    const fault = workerFault(output);
    return fault === undefined
      ? { status: 'success', ranMs, made: madeIn(output, ref) }
      : { status: 'failed', ranMs, reason: fault };
  }
  if (status === 'FAILED') return { status: 'failed', ranMs, reason: reasonIn(error ?? output) };
  if (status === 'CANCELLED') return { status: 'interrupted', ranMs };
  return status === 'TIMED_OUT' ? { status: 'timeout', ranMs } : undefined;
}

/** The Python worker puts its error into a JSON text: `{"error_type": …, "error_message": …}`. */
const workerError = z.looseObject({ error_message: z.string() });

function reasonIn(error: unknown): string {
  if (typeof error !== 'string') return error == null ? 'it failed without a reason' : JSON.stringify(error);
  return workerError.safeParse(jsonIn(error)).data?.error_message ?? error;
}
