// A Cog container of one's own. It shows no predictions and keeps no results: the answer to the request that
// made a prediction is all that tells about it, so each request is held open until its prediction has ended.
//
//      health-check READY ──PUT──▶ held ──its answer──▶ ended
//                                    └──the connection breaks──▶ absent: Cog cancels it, and it is executed again
//      asked by an earlier process of the service ──▶ absent, and it had begun
//
// A PUT with the id of a prediction that still executes starts no other one, and one whose input is no object never
// executes anything, so the two together ask whether a prediction still executes.

import { setTimeout as wait } from 'node:timers/promises';
import { exactText } from '../../../host/formats/exact-json.ts';
import { inputsIn, Unreachable, type Backend, type FileRef, type Seen, type Sent } from '../backend.ts';
import type { SentWork, ServerSettings, SocketEvent, Submitted } from '../backend.ts';
import { jsonIn, openHttp, type Http, type ServerAnswer } from '../http.ts';
import { answerFile } from './answer-files.ts';
import { busyBy, endBy, healthSchema, outcomeOf, STATUS, type Outcome } from './cog-answers.ts';
import { dataUri, inputSchemaIn } from './vendor-answers.ts';

/**
 * `earlyMs`: how long a refusal is awaited before a request counts as accepted. `idleMs`: how long a container may
 * have a free slot until a request is made again, whose answer may be lost. `askMs`: how long an answer to that is awaited.
 */
export const COG = { earlyMs: 100, idleMs: 60_000, askMs: 5_000 };

/** No container executes it. */
const QUESTION = '{"input":5}';
/** A container has no queue, so a run that it took had begun. */
const LOST: Seen = { at: 'absent', hasBegun: true };
const MAX_SEATS = 256;

export const openCog = (url: string, { headers }: ServerSettings): Backend =>
  new Cog(url, openHttp(url, headers, MAX_SEATS));

/** A request without an answer yet. */
class HeldRequest {
  outcome: Outcome | undefined;
  /** Since when the container has a free slot, although it has not answered. */
  idleSince: number | undefined;
  /** The run was lost there, and this request for it is the second one. */
  isReplacement = false;
  readonly #abort = new AbortController();
  readonly answered: Promise<void>;
  readonly again: () => HeldRequest;

  constructor(id: string, send: (heldBy: AbortSignal) => Promise<ServerAnswer>) {
    this.again = () => new HeldRequest(id, send);
    this.answered = send(this.#abort.signal).then(
      (answer) => void (this.outcome = outcomeOf(answer, id)),
      (error: unknown) => void (this.outcome = { kind: 'unclear', reason: (error as Error).message }),
    );
  }

  drop = (): void => this.#abort.abort();

  /** Notes the health of the container; true once it had a free slot for long. */
  noteHealth(status: string): boolean {
    const now = performance.now();
    this.idleSince = this.outcome === undefined && status === 'READY' ? (this.idleSince ?? now) : undefined;
    return now - (this.idleSince ?? now) >= COG.idleMs;
  }
}

// Arrow functions, because the port is wrapped by copying its fields.
class Cog implements Backend {
  readonly kind = 'cog';
  readonly guarantee = { lost: 'again', gone: 'again' } as const;
  /** A container does not tell how many predictions it executes at the same time. */
  readonly seats = { kind: 'grown', first: 1 } as const;
  readonly isPolled = true;
  readonly put = dataUri;
  readonly address: string;
  readonly #http: Http;
  readonly #held = new Map<string, HeldRequest>();
  /** Runs that this process has asked for. */
  readonly #asked = new Set<string>();
  #tell: (event: SocketEvent) => void = () => undefined;

  constructor(address: string, http: Http) {
    [this.address, this.#http] = [address, http];
  }

  #health = () => this.#http.read('/health-check', healthSchema);

  describe = async () => {
    const { version } = await this.#health();
    return { version: version?.cog ?? version?.python_sdk ?? version?.coglet ?? 'cog', gpu: 'cog' };
  };

  /** A container that was built without its schema describes nothing. */
  model = async () => {
    const answer = await this.#http.ask('/openapi.json');
    const document = answer.status === 200 ? jsonIn(answer.text) : undefined;
    if (document === undefined && (await this.#health()).status === 'STARTING')
      throw new Unreachable('it still starts');
    return { model: this.address, schema: inputSchemaIn(document), document };
  };

  submit = async ({ id }: Sent, work: SentWork): Promise<Submitted> => {
    if (this.#held.has(id)) return { kind: 'accepted' };
    const busy = busyBy(await this.#health());
    if (busy !== undefined) return busy;
    const body = exactText({ input: inputsIn(work).inputs });
    this.#asked.add(id);
    const held = new HeldRequest(id, (heldBy) => this.#http.ask(pathOf(id), body, { method: 'PUT', heldBy }));
    this.#hold(id, held);
    await Promise.race([held.answered, after(COG.earlyMs)]);
    const { outcome } = held;
    if (outcome === undefined || outcome.kind === 'ended') return { kind: 'accepted' };
    this.#held.delete(id);
    return outcome;
  };

  #hold(id: string, held: HeldRequest): void {
    this.#held.set(id, held);
    void held.answered.then(() => this.#tell({ kind: 'changed' }));
  }

  poll = async (runs: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> => {
    // A container that has stopped must not hide the ends that it has told.
    if (!runs.some(({ id }) => this.#held.get(id)?.outcome?.kind === 'ended')) {
      const { status } = await this.#health();
      const silent = [...this.#held].filter(([, held]) => held.noteHealth(status));
      for (const [id, held] of silent) await this.#askAgain(id, held);
    }
    return new Map(runs.map(({ id }) => [id, this.#stateOf(id, this.#held.get(id))]));
  };

  #stateOf(id: string, held: HeldRequest | undefined): Seen {
    // A request is noted before it is made, so a run that this process never asked for was asked for earlier.
    if (held === undefined) return this.#asked.has(id) ? { at: 'absent' } : LOST;
    const { outcome, isReplacement } = held;
    held.isReplacement = false;
    if (isReplacement) return LOST;
    if (outcome === undefined) return { at: 'running' };
    if (outcome.kind !== 'ended') this.#held.delete(id);
    const end = endBy(outcome);
    return end === undefined ? LOST : { at: 'ended', end };
  }

  /** An answer is lost without a sign when a machine between vanishes. */
  async #askAgain(id: string, held: HeldRequest): Promise<void> {
    const isExecuting = await this.#isExecuting(id);
    // The answer of a prediction that has just ended is still on its way.
    if (!isExecuting) await Promise.race([held.answered, after(COG.askMs)]);
    held.idleSince = undefined;
    if (isExecuting || held.outcome !== undefined || this.#held.get(id) !== held) return;
    // An older Cog refuses the question even while the prediction executes.
    const again = held.again();
    await Promise.race([again.answered, held.answered, after(COG.askMs)]);
    const isInFlight = again.outcome?.kind === 'busy' && again.outcome.why === undefined;
    if (held.outcome !== undefined || this.#held.get(id) !== held || isInFlight) return again.drop();
    held.drop();
    again.isReplacement = true;
    this.#hold(id, again);
  }

  async #isExecuting(id: string): Promise<boolean> {
    const options = { method: 'PUT', waitMs: COG.askMs } as const;
    const { status } = await this.#http.ask(pathOf(id), QUESTION, options);
    return status === STATUS.inFlight;
  }

  file = (ref: FileRef) =>
    answerFile(ref, this.address, async (id) => {
      const outcome = this.#held.get(id)?.outcome;
      return outcome?.kind === 'ended' ? outcome.output : undefined;
    });

  /** An older Cog cancels only what was asked for without waiting, and none whose code does not let it. */
  cancel = async (id: string): Promise<void> => {
    const held = this.#held.get(id);
    if (held === undefined || held.outcome !== undefined) return;
    await this.#http.ask(`${pathOf(id)}/cancel`, '{}');
    held.drop();
  };

  forget = (id: string): void => {
    this.#held.delete(id);
    this.#asked.delete(id);
  };

  listen = (on: (event: SocketEvent) => void) => {
    this.#tell = on;
    return { isAlive: () => Promise.resolve(false), close: () => void (this.#tell = () => undefined) };
  };

  close = async (): Promise<void> => {
    for (const held of this.#held.values()) held.drop();
    await this.#http.close();
  };
}

const pathOf = (id: string): string => `/predictions/${encodeURIComponent(id)}`;

const after = (ms: number): Promise<void> => wait(ms, undefined, { ref: false });
