// The run service of a simulated world: it takes orders, loses answers, tells lies about time, and knows the truth.

import type { PostFacts } from '../../src/batch/classify.ts';
import type { AttemptName, Seen } from '../../src/batch/messages.ts';
import type { Outcome } from '../../src/batch/outcome.ts';
import type { Timing } from '../../src/batch/order.ts';
import type { World } from './world.ts';

export type SimRun = AttemptName & {
  readonly id: string;
  readonly createdAt: number;
  /** When lists begin to show it. */
  readonly listedAt: number;
  endsAt: number;
  outcome: Outcome;
  /** The second run of one order. */
  readonly isTwin: boolean;
};

export const seenOf = ({ row, attempt, id }: SimRun): Seen => ({ row, attempt, runId: id });

/** A POST as the sender will learn of it: its facts, after so long; never, where `facts` is undefined. */
export type Posted = { readonly facts: PostFacts; readonly afterMs: number };

const LATENCY_MS = 200;
const STUCK_AFTER_MS = 70_000;

export class SimService {
  readonly runs: SimRun[] = [];
  begun = 0;
  readonly #world: World;
  readonly #timing: Timing;
  readonly #tell: (run: SimRun, isEnd: boolean) => void;
  readonly #writtenOff: () => number;

  /** `writtenOff` is how many attempts the batch has given up without knowing whether they are runs. */
  constructor(
    world: World,
    timing: Timing,
    hands: { readonly tell: (run: SimRun, isEnd: boolean) => void; readonly writtenOff: () => number },
  ) {
    this.#world = world;
    this.#timing = timing;
    this.#tell = hands.tell;
    this.#writtenOff = hands.writtenOff;
  }

  /** One POST whose first byte is written now. */
  post(name: AttemptName): Posted {
    const world = this.#world;
    this.begun += 1;
    const afterMs = world.between(1, LATENCY_MS);
    const answer = (facts: Omit<PostFacts, 'begun'>): Posted => ({
      facts: { begun: true, ...facts },
      afterMs,
    });
    const lost = { error: 'other side closed' };
    if (world.strikes('lostRequest')) return answer(lost);
    if (world.strikes('errorBefore')) return answer({ status: 500, detail: 'Internal Server Error' });
    if (world.strikes('busy')) return answer({ status: 429, ...this.#retryAfter() });
    if (world.strikes('unauthorized')) return answer({ status: 401, detail: 'Revoked token' });
    if (world.plan.rates.poison > (name.row % 97) / 97 && name.row % 7 === 0)
      return answer({ status: 422, detail: 'no', locs: [['body', 'inputs', 'x', 'str']] });
    if (world.strikes('lateRun')) {
      // Something in between held the request back, and it arrives when its sender has given up long ago.
      world.after(world.between(0, this.#timing.postDeadlineMs), () => void this.#create(name));
      return answer(lost);
    }
    const run = this.#create(name);
    if (world.strikes('twin')) this.#create(name, true);
    if (world.strikes('lostAnswer')) return answer(lost);
    if (world.strikes('errorAfter')) return answer({ status: 502, detail: '<html>Bad Gateway</html>' });
    if (world.strikes('garbage')) return answer({ status: 200, detail: 'OK' });
    if (world.strikes('workerError')) return answer({ status: 400, detail: 'Error creating run: try later' });
    return answer({ status: 200, runId: run.id });
  }

  /** The run as Get Run shows it: its end, or that it has none yet. Throws where it cannot be read now. */
  end(runId: string): (Seen & { readonly outcome: Outcome }) | undefined {
    if (this.#world.strikes('brokenRead')) throw new Error('unreadable');
    const run = this.runs.find(({ id }) => id === runId);
    if (run === undefined || run.endsAt > this.#world.now) return undefined;
    return { row: run.row, attempt: run.attempt, runId, outcome: run.outcome };
  }

  /** Why a run is not waited for any longer. */
  overdue(runId: string): string | undefined {
    const run = this.runs.find(({ id }) => id === runId);
    const isStuck =
      run?.endsAt === Number.POSITIVE_INFINITY && this.#world.now > run.createdAt + STUCK_AFTER_MS;
    return isStuck ? 'it showed nothing new' : undefined;
  }

  list(): readonly SimRun[] {
    return this.runs.filter(({ listedAt }) => listedAt <= this.#world.now);
  }

  cancel(runId: string): void {
    const run = this.runs.find(({ id }) => id === runId);
    if (run === undefined || run.endsAt <= this.#world.now) return;
    run.endsAt = this.#world.now;
    run.outcome = 'cancelled';
    this.#tell(run, true);
  }

  /** How many runs use a GPU or wait for one now. */
  live(): number {
    return this.runs.filter(({ endsAt }) => endsAt > this.#world.now).length;
  }

  #create(name: AttemptName, isTwin = false): SimRun {
    const world = this.#world;
    const lastsMs = world.between(20, world.chance(0.1) ? 60_000 : 5_000);
    const endsAt = world.strikes('stuckRun') ? Number.POSITIVE_INFINITY : world.now + lastsMs;
    const listedAt = world.now + world.between(0, this.#timing.settleMs);
    const id = `run-${this.runs.length}`;
    const run: SimRun = {
      ...name,
      id,
      createdAt: world.now,
      listedAt,
      endsAt,
      outcome: this.#outcome(),
      isTwin,
    };
    this.runs.push(run);
    this.#tell(run, false);
    if (Number.isFinite(endsAt))
      world.after(lastsMs, () => {
        if (run.endsAt === endsAt) this.#tell(run, true);
      });
    const { cap } = world.plan;
    const live = this.live();
    world.claim(
      live <= cap + this.#siblings() + this.#writtenOff(),
      () => `${live} runs live, the cap is ${cap}`,
    );
    if (live === cap) world.saw('cap reached');
    return run;
  }

  /** Attempts of which the service made two runs. */
  #siblings(): number {
    return this.runs.filter(({ isTwin }) => isTwin).length;
  }

  #outcome(): Outcome {
    if (this.#world.strikes('failedRun')) return 'failed';
    return this.#world.strikes('timedOutRun') ? 'timed-out' : 'succeeded';
  }

  #retryAfter(): { retryAfterMs?: number } {
    if (this.#world.chance(0.4)) return {};
    return { retryAfterMs: this.#world.chance(0.1) ? 1e10 : this.#world.between(0, 5_000) };
  }
}
