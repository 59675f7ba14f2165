// A Cog container of one's own. It shows no predictions and keeps no results: the answer to the request that
// made a prediction is all that tells about it, so each request is held open until its prediction has ended.
//
//      health-check READY ──PUT──▶ held ──its answer──▶ ended
//                                    └──the connection breaks──▶ absent: Cog cancels it, and it is executed again
//
// A PUT with the id of a prediction that still executes starts no other one.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { exactText } from '../../../host/exact-json.ts';
import { inputsIn, Unreachable, type Backend, type Seen, type Sent } from '../backend.ts';
import type { SentWork, SocketEvent, Submitted } from '../backend.ts';
import { jsonIn, openHttp, type Http, type ServerAnswer } from '../http.ts';
import { answerFile } from './answer-files.ts';
import {
  busyBy,
  healthSchema,
  outcomeOf,
  predictionIn,
  seenLate,
  type Health,
  type Outcome,
} from './cog-answers.ts';
import { dataUri } from './vendor-answers.ts';

/**
 * `earlyMs`: how long a refusal is awaited before a request counts as accepted. `idleMs`: how long a container may
 * have a free slot until a request is made again, whose answer may be lost. `askMs`: how long an answer to that is awaited.
 */
export const COG = { earlyMs: 100, idleMs: 60_000, askMs: 5_000 };

const MAX_SEATS = 256;

export function openCog(
  url: string,
  { headers }: { readonly headers: Readonly<Record<string, string>> },
): Backend {
  const cog = new Cog(openHttp(url, headers, MAX_SEATS));
  return {
    kind: 'cog',
    address: url,
    guarantee: { lost: 'again', gone: 'again' },
    // A container does not tell how many predictions it executes at the same time.
    seats: { kind: 'grown', first: 1 },
    isPolled: true,
    describe: () => cog.describe(),
    model: () => cog.model(url),
    submit: (run, work) => cog.submit(run, work),
    poll: (runs) => cog.poll(runs),
    cancel: (id) => cog.cancel(id),
    forget: (id) => cog.forget(id),
    file: (file) => answerFile(file, url, (id) => Promise.resolve(cog.outputOf(id))),
    put: dataUri,
    listen: (on) => cog.listen(on),
    close: () => cog.close(),
  };
}

const documentSchema = z.looseObject({
  components: z.looseObject({ schemas: z.looseObject({ Input: z.unknown() }) }),
});

/** A request without an answer yet. */
class HeldRequest {
  outcome: Outcome | undefined;
  output: unknown;
  /** Since when the container has a free slot, although it has not answered. */
  idleSince: number | undefined;
  readonly #abort = new AbortController();
  readonly answered: Promise<void>;
  readonly again: () => HeldRequest;

  constructor(id: string, send: (heldBy: AbortSignal) => Promise<ServerAnswer>) {
    this.again = () => new HeldRequest(id, send);
    this.answered = send(this.#abort.signal).then(
      (answer) => {
        this.output = answer.status === 200 ? predictionIn(answer)?.output : undefined;
        this.outcome = outcomeOf(answer, id);
      },
      (error: unknown) => void (this.outcome = { kind: 'unclear', reason: (error as Error).message }),
    );
  }

  drop(): void {
    this.#abort.abort();
  }

  /** Whether an earlier request with this id executes. */
  get isInFlight(): boolean {
    return this.outcome?.kind === 'busy' && this.outcome.why === undefined;
  }

  /** Notes the health of the container; true once it had a free slot for long. */
  isSilent(status: string): boolean {
    if (this.outcome !== undefined || status !== 'READY') this.idleSince = undefined;
    else this.idleSince ??= performance.now();
    return this.idleSince !== undefined && performance.now() - this.idleSince >= COG.idleMs;
  }
}

class Cog {
  readonly #http: Http;
  readonly #held = new Map<string, HeldRequest>();
  /** Runs that were lost there, and whose requests were made again. */
  readonly #replaced = new Set<string>();
  #tell: (event: SocketEvent) => void = () => undefined;

  constructor(http: Http) {
    this.#http = http;
  }

  #health = (): Promise<Health> => this.#http.read('/health-check', healthSchema);

  async describe(): Promise<{ readonly version: string; readonly gpu: string }> {
    const { version } = await this.#health();
    return { version: version?.cog ?? version?.python_sdk ?? version?.coglet ?? 'cog', gpu: 'cog' };
  }

  /** A container that was built without its schema describes nothing. */
  async model(address: string) {
    const answer = await this.#http.ask('/openapi.json');
    const document = answer.status === 200 ? jsonIn(answer.text) : undefined;
    if (document === undefined && (await this.#health()).status === 'STARTING')
      throw new Unreachable('it still starts');
    const { data } = documentSchema.safeParse(document);
    return { model: address, schema: data?.components.schemas.Input, document };
  }

  async submit({ id }: Sent, work: SentWork): Promise<Submitted> {
    const { inputs } = inputsIn(work);
    if (this.#held.has(id)) return { kind: 'accepted' };
    const busy = busyBy(await this.#health());
    if (busy !== undefined) return busy;
    const path = pathOf(id);
    const body = exactText({ input: inputs });
    const held = new HeldRequest(id, (heldBy) => this.#http.ask(path, body, { method: 'PUT', heldBy }));
    this.#hold(id, held);
    await Promise.race([held.answered, after(COG.earlyMs)]);
    const { outcome } = held;
    if (outcome === undefined || outcome.kind === 'ended') return { kind: 'accepted' };
    this.#held.delete(id);
    return outcome;
  }

  #hold(id: string, held: HeldRequest): void {
    this.#held.set(id, held);
    void held.answered.then(() => this.#tell({ kind: 'changed' }));
  }

  async poll(runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
    // A container that has stopped must not hide the ends that it has told.
    if (!runs.some(({ id }) => this.#held.get(id)?.outcome?.kind === 'ended')) {
      const { status } = await this.#health();
      for (const [id, held] of this.#held) if (held.isSilent(status)) await this.#askAgain(id, held);
    }
    return new Map(runs.map(({ id }) => [id, this.#stateOf(id)]));
  }

  #stateOf(id: string): Seen {
    if (this.#replaced.delete(id)) return { at: 'absent' };
    const { outcome } = this.#held.get(id) ?? { outcome: { kind: 'unclear', reason: '' } as const };
    if (outcome === undefined) return { at: 'running' };
    if (outcome.kind === 'ended') return { at: 'ended', end: outcome.end };
    this.#held.delete(id);
    return seenLate(outcome);
  }

  /** An answer is lost without a sign when a machine between vanishes. */
  async #askAgain(id: string, held: HeldRequest): Promise<void> {
    const again = held.again();
    await Promise.race([again.answered, after(COG.askMs)]);
    held.idleSince = undefined;
    if (held.outcome !== undefined || this.#held.get(id) !== held || again.isInFlight) return again.drop();
    held.drop();
    this.#replaced.add(id);
    this.#hold(id, again);
  }

  outputOf = (id: string): unknown => this.#held.get(id)?.output;

  /** An older Cog cancels only what was asked for without waiting, and none whose code does not let it. */
  async cancel(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (held === undefined || held.outcome !== undefined) return;
    await this.#http.ask(`${pathOf(id)}/cancel`, '{}');
    held.drop();
  }

  forget(id: string): void {
    this.#held.delete(id);
    this.#replaced.delete(id);
  }

  listen(on: (event: SocketEvent) => void) {
    this.#tell = on;
    return { isAlive: () => Promise.resolve(false), close: () => void (this.#tell = () => undefined) };
  }

  async close(): Promise<void> {
    for (const held of this.#held.values()) held.drop();
    await this.#http.close();
  }
}

const pathOf = (id: string): string => `/predictions/${encodeURIComponent(id)}`;

const after = (ms: number): Promise<void> => wait(ms, undefined, { ref: false });
