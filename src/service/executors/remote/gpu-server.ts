// One GPU server: sends its runs, polls them, and notices when it is away, was restarted, or is used by other clients.
//
//      inspected ──no answer, three times──▶ away ──an answer──▶ inspected again: what is missing there was lost with its memory

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../../../errors/error.ts';
import { NO_WORK } from '../executor.ts';
import {
  anotherTry,
  hasBegun,
  isAside,
  known,
  noteSocketEvent,
  ranMsOf,
  sentOf,
  timeLimitMs,
  withLine,
  type AssignedRun,
  type RunState,
} from './assigned-run.ts';
import { Blocked, Unreachable, type Backend, type End, type Seen } from './backend.ts';
import type { InstalledNodes } from './filled-workflow.ts';
import { withWholeNumbers } from './numbers.ts';
import { afterAbsence, afterLoss, guaranteeFor } from './repetition.ts';
import { SeatCount } from './seats.ts';
import { ServerSocket, type Told } from './server-socket.ts';
import type { ServerDeps, InspectedServer, Timing } from './server-deps.ts';
import { Outbox } from './outbox.ts';
import { Rounds } from './rounds.ts';
import { RunEnds } from './run-ends.ts';
import { UsualTimes } from './usual-times.ts';

const FAILURES_MOST = 3;
/** So many runs that are at fault themselves leave their places to others. More are a fault of the server. */
const ASIDE_MOST = 4;

export class GpuServer implements InspectedServer {
  readonly name: string;
  /** The address under which it is kept. */
  readonly url: string;
  readonly backend: Backend;
  gpu: string;
  version = '';
  readonly runs = new Map<string, AssignedRun>();
  /** Runs that have ended for the service, or were moved, and may still be there. */
  readonly leaving = new Set<string>();
  /** The workflow whose models are loaded, and since when it serves it. */
  serves: { readonly deploymentId: string; readonly sinceMs: number } | undefined;
  idleSinceMs = 0;
  readonly installed = new Map<string, InstalledNodes>();
  away: { readonly sinceMs: number; readonly began: number; readonly reason: string } | undefined;
  /** Why it could not be looked at just now. */
  fault: string | undefined;
  isInspected = false;
  readonly usual = new UsualTimes();
  readonly seats: SeatCount;
  readonly socket = new ServerSocket();
  readonly outbox: Outbox;
  readonly ends: RunEnds;
  readonly #deps: ServerDeps;
  readonly #timing: Timing;
  readonly #rounds = new Rounds();
  #failures = 0;
  #refusal: string | undefined;
  #inspection = 0;
  #isKnown = false;
  readonly #unreadSince = new Map<string, number>();

  constructor(given: Pick<GpuServer, 'name' | 'url' | 'gpu' | 'backend'>, deps: ServerDeps, timing: Timing) {
    [this.name, this.url, this.gpu] = [given.name, given.url, given.gpu];
    this.backend = withWholeNumbers(given.backend);
    this.seats = new SeatCount(() => this.backend.seats, this.usual);
    [this.#deps, this.#timing] = [deps, timing];
    this.ends = new RunEnds(this, deps, timing);
    this.outbox = new Outbox(this, deps, timing);
  }

  start(): void {
    this.socket.listen(this.backend, {
      told: (event) => this.#told(event),
      opened: () => this.wake(),
      lost: () => this.#lostSight(),
    });
    this.#rounds.start(
      () => this.#round(),
      () => this.#restMs(),
    );
  }

  async close(): Promise<void> {
    this.#rounds.close();
    this.socket.close();
    // A request on the wire may buy a run: its answer is awaited, and stored with what else is to be.
    await Promise.race([this.outbox.sent(), wait(this.#timing.closeMs, undefined, { ref: false })]);
    await nextTurn();
    await this.backend.close();
    await Promise.all([this.#rounds.ended(), this.outbox.ended()]);
  }

  get load(): number {
    const here = [...this.runs.values()].filter(({ phase }) => phase !== 'storing');
    return this.leaving.size + here.length - Math.min(here.filter(isAside).length, ASIDE_MOST);
  }

  /** How many runs it may have. */
  get places(): number {
    return this.outbox.isHeld ? 1 : this.seats.count;
  }

  isClosed = (): boolean => this.#rounds.isClosed();

  /** When the run that it executes is expected to end. */
  get freeAtMs(): number {
    const started = [...this.runs.values()]
      .map(({ state }) => state.startedMs)
      .find((ms) => ms !== undefined);
    return (started ?? this.#deps.now()) + this.usual.runMs;
  }

  /** It may have changed, or is asked about another workflow. */
  inspectAgain(): void {
    this.#inspection += 1;
    this.isInspected = false;
    this.wake();
  }

  /** Until now, its runs were seen. */
  #lostSight(): void {
    for (const one of this.runs.values()) if (one.runningSince !== undefined) one.seenMs = this.#deps.now();
    this.inspectAgain();
  }

  wake(): void {
    this.#rounds.wake();
  }

  take(one: AssignedRun): void {
    const { run, state } = one;
    this.runs.set(run.id, one);
    // Its request is noted before it is sent.
    if (this.backend.guarantee.lost === 'told-or-unknown' && state.askedMs === undefined)
      one.mustLook = false;
    if (this.serves?.deploymentId !== run.deploymentId)
      this.serves = { deploymentId: run.deploymentId, sinceMs: this.#deps.now() };
    if (one.phase === 'storing') this.ends.store(one);
    // After the transaction in which it got its place.
    setImmediate(() => this.wake());
  }

  cancel(runId: string): void {
    const one = this.runs.get(runId);
    this.runs.delete(runId);
    if (one !== undefined && one.phase !== 'storing') this.leaving.add(runId);
    this.wake();
  }

  #restMs(): number {
    const { pollMs, pollWithSocketMs, pollOnlyMs } = this.#timing;
    if (this.backend.isPolled === true) return pollOnlyMs;
    if (this.away !== undefined || [...this.runs.values()].some(({ phase }) => phase === 'placed'))
      return pollMs;
    return this.socket.isOpen || this.load === 0 ? pollWithSocketMs : pollMs;
  }

  /** Why no run can pass until a person changes something; undefined if one may. */
  get blockedBy(): string | undefined {
    return this.#refusal ?? this.outbox.blockedBy;
  }

  async #round(): Promise<void> {
    let isSeen = false;
    try {
      await this.#poll();
      isSeen = true;
      await this.#inspect();
      this.outbox.start();
      if (this.outbox.trouble !== undefined) throw this.outbox.trouble;
      this.#failures = 0;
      [this.away, this.fault, this.#refusal] = [undefined, undefined, undefined];
      this.#deps.free();
    } catch (error) {
      if (this.isClosed()) return;
      // Nothing is known of a server that did not answer, and a fault of ours must not stop the others.
      this.#failures += 1;
      const reason = errorMessage(error);
      this.fault = reason;
      this.#refusal = error instanceof Blocked ? `${this.name} refuses everything: ${reason}` : undefined;
      if (!(error instanceof Unreachable)) this.#deps.say('server-fault', { server: this.name, reason });
      if (this.#failures >= FAILURES_MOST) this.#isAway(reason, isSeen);
    }
  }

  /** What it could not tell is asked again at the next round. */
  async #inspect(): Promise<void> {
    const inspection = this.#inspection;
    if (this.isInspected && this.#isKnown) return;
    this.#isKnown = await this.#deps.inspect(this);
    this.isInspected = inspection === this.#inspection;
    if (!this.isInspected) this.wake();
  }

  /** `isSeen`: it only takes no runs, and what it has is looked at. */
  #isAway(reason: string, isSeen: boolean): void {
    this.away ??= { sinceMs: this.#deps.now(), began: performance.now(), reason };
    this.isInspected = false;
    const { sinceMs, began } = this.away;
    if (performance.now() - began < this.#timing.moveAfterMs) return;
    const why = `${this.name} has not answered since ${new Date(sinceMs).toISOString()}: ${reason}`;
    for (const [id, one] of this.runs) {
      if (isSeen && one.phase !== 'placed') continue;
      const next = afterAbsence(one, guaranteeFor(this.backend, one));
      if (next.kind === 'failed') this.ends.failed(one, `${why}; ${next.reason}`);
      else if (next.kind === 'stay' || !this.#deps.move(one, why)) continue;
      this.runs.delete(id);
      // When the server is back, it is deleted or interrupted there, unless it has ended.
      this.leaving.add(id);
    }
  }

  /** It has the run now. */
  accepted(one: AssignedRun, connection: number | undefined, ref: string | undefined): void {
    // Cancelled while it was sent: it is in `leaving`.
    if (this.runs.get(one.run.id) !== one) return;
    if (!one.mustLook || one.unclear === 0)
      this.usual.delivered(this.#deps.now() - (one.state.placedMs ?? 0));
    one.phase = 'sent';
    one.acceptedOn = (one.state.tries ?? 1) === 1 && one.unclear === 0 ? connection : undefined;
    [one.mustLook, one.connection] = [false, connection];
    this.keep(one, { ...known(one.state), isSent: true, ...(ref !== undefined && { ref }) });
    this.seats.took(this.load);
    this.wake();
  }

  keep(one: AssignedRun, state: RunState): void {
    one.state = state;
    this.#deps.commitSoon(() => {
      if (this.runs.get(one.run.id) === one) this.#deps.keep(one);
    });
  }

  /** For how long nothing has been known of it, also before the service was restarted. */
  unknownForMs(one: AssignedRun): number {
    const now = this.#deps.now();
    const { unknownSinceMs = now } = one.state;
    if (one.state.unknownSinceMs === undefined) this.keep(one, { ...one.state, unknownSinceMs });
    return now - unknownSinceMs;
  }

  async #poll(): Promise<void> {
    const sent = [...this.runs.values()].filter(({ phase }) => phase === 'sent');
    const connection = this.socket.connection();
    const seen = await this.backend.poll([
      ...sent.map((one) => sentOf(one.run.id, one)),
      ...[...this.leaving].map((id) => sentOf(id, undefined)),
    ]);
    for (const one of sent) {
      const at = seen.get(one.run.id);
      if (at === undefined || this.runs.get(one.run.id) !== one || one.phase !== 'sent') continue;
      if (connection !== undefined && (at.at === 'waiting' || at.at === 'running'))
        one.connection = connection;
      await this.#saw(one, at);
    }
    for (const [id, at] of seen) await this.#clear(id, at);
  }

  /** Removes runs that are over for the service, also if the service that sent it was another process. */
  async #clear(id: string, seen: Seen): Promise<void> {
    if (this.runs.has(id) || !(this.leaving.has(id) || this.#deps.isOver(id))) return;
    if (seen.at === 'waiting' || seen.at === 'running') {
      this.leaving.add(id);
      return this.backend.cancel(id, seen.at);
    }
    // It may still be there, or its request is under way.
    if ((seen.at === 'unread' && !this.#isUnreadForLong(id)) || this.outbox.posting === id) return;
    this.leaving.delete(id);
    this.#unreadSince.delete(id);
    this.freed();
  }

  /** A run of which a server never tells keeps no seat for ever. */
  #isUnreadForLong(id: string): boolean {
    const since = this.#unreadSince.get(id) ?? performance.now();
    this.#unreadSince.set(id, since);
    return performance.now() - since >= this.#timing.moveAfterMs;
  }

  freed(): void {
    if (this.load === 0) this.idleSinceMs = this.#deps.now();
    this.#deps.free();
  }

  #saw(one: AssignedRun, seen: Seen): void | Promise<void> {
    if (seen.at !== 'unread' && one.state.unknownSinceMs !== undefined) this.keep(one, known(one.state));
    one.ahead = seen.at === 'waiting' ? seen.ahead : undefined;
    if (seen.at === 'running') return this.#runs(one);
    if (seen.at === 'ended') return this.#endedThere(one, seen.end);
    const { startedMs = this.#deps.now() } = one.state;
    const { made, hasSucceeded } = one.reported;
    if (seen.at !== 'waiting' && hasSucceeded) return this.ends.made(one, made, this.#deps.now() - startedMs);
    if (seen.at === 'absent') return this.#isLost(one);
    if (seen.at === 'unread') return this.#isUnread(one, seen.reason);
  }

  #runs(one: AssignedRun): void {
    const now = this.#deps.now();
    const { startedMs = now } = one.state;
    one.seenMs = now;
    one.runningSince ??= performance.now() - Math.max(0, now - startedMs);
    if (one.state.startedMs === undefined) {
      this.#deps.commitSoon(() => {
        if (this.runs.get(one.run.id) !== one || one.state.startedMs !== undefined) return;
        one.state = { ...one.state, startedMs: now };
        this.#deps.keep(one);
        this.#deps.reached(one, { status: 'started', atMs: now, work: NO_WORK });
        this.#deps.reached(one, { status: 'running', atMs: now, work: one.work });
      });
    } else if (performance.now() - one.runningSince > timeLimitMs(one)) {
      this.leaving.add(one.run.id);
      this.ends.timedOut(one);
    }
  }

  #endedThere(one: AssignedRun, end: End): void {
    if (end.status === 'success') return this.ends.made(one, end.made, end.ranMs);
    if (end.status === 'failed') return this.ends.failed(one, end.reason, end.ranMs);
    return this.ends.cancelled(one, `another client interrupted it on ${this.name}`, end.ranMs);
  }

  async #isLost(one: AssignedRun): Promise<void> {
    // A restart would have ended the socket.
    const neverStopped = this.socket.isOpen && one.connection === this.socket.connection();
    // If it is not alive, it is over now, and the next poll decides.
    if (neverStopped && !(await this.socket.isAlive())) return;
    if (this.runs.get(one.run.id) !== one) return;
    const guarantee = guaranteeFor(this.backend, one);
    const loss = afterLoss(one, { name: this.name, guarantee, neverStopped });
    if (loss.kind === 'removed') this.ends.cancelled(one, `another client removed it from ${this.name}`);
    if (loss.kind === 'end-unknown') this.ends.unknown(one, loss.reason);
    if (loss.kind === 'failed') this.ends.failed(one, loss.reason);
    if (loss.kind === 'again') this.#sendAgain(one, loss.reason, loss.counts);
  }

  /** The server answers otherwise, and goes on with other runs. */
  #isUnread(one: AssignedRun, why: string): void {
    const reason = `does not tell how this run is: ${why}`;
    one.work = { ...one.work, liveStatus: `${this.name} ${reason}` };
    if (this.unknownForMs(one) < this.#timing.moveAfterMs) return;
    if (guaranteeFor(this.backend, one).gone === 'unknown') return this.ends.unknown(one, reason);
    this.ends.failed(one, `${this.name} ${reason}`);
  }

  #sendAgain(one: AssignedRun, reason: string, counts: Pick<RunState, 'deaths' | 'losses'>): void {
    const [wasExecuted, ranMs] = [hasBegun(one), ranMsOf(one)];
    one.begin();
    const state = { ...anotherTry(one.state), ...counts };
    one.state = withLine(state, 'info', `${this.name} ${reason}`, this.#deps.now());
    this.#deps.commit(() => (wasExecuted ? this.#deps.lost(one, ranMs) : this.#deps.keep(one)));
    this.wake();
  }

  /** The run was never made, and its key is used up. */
  sendAnew(one: AssignedRun, reason: string): void {
    if (this.runs.get(one.run.id) !== one) return;
    const { deaths, losses } = (one.state = known(one.state));
    [one.mustLook, one.unclear, one.work] = [false, 0, NO_WORK];
    this.#sendAgain(one, reason, { deaths, ...(losses !== undefined && { losses }) });
  }

  #told(event: Told): void {
    if (event.kind === 'changed') return this.wake();
    const one = this.runs.get(event.id);
    if (one === undefined) return;
    const isNews = noteSocketEvent(one, event, this.#deps.now());
    if (one.state.startedMs === undefined) this.wake();
    else if (isNews && one.run.intermediate === 1) this.#deps.commit(() => this.#deps.progress(one));
  }
}
