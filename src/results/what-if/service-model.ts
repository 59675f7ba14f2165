// A model of the run service in virtual time: machines with the rules of the local run service, which take as long as was
// measured.
//
//   queue ──▶ waits for a machine ──▶ starts, cold or warm ──▶ runs ──▶ ended

import { chance } from '../../batch/retry-policy.ts';
import { createMachines, type Container, type Ticket } from '../../service/runs/machines.ts';
import { TimerQueue } from '../../service/timer-queue.ts';
import type { MeasuredAttempt } from './measured-batch.ts';
import type { ServiceFacts } from './service-facts.ts';

type Work = Pick<MeasuredAttempt, 'gpu' | 'startMs' | 'runMs'>;

export type Machinery = Pick<ServiceFacts, 'starts' | 'warmAtStart'> & {
  readonly latencies: Pick<ServiceFacts['latencies'], 'dispatchMs' | 'handoverMs'>;
  /** How many runs are executed at the same time at most. */
  readonly machines: number;
};

/** What machines did so far, in milliseconds; `paidMs` by GPU. */
export type Usage = {
  readonly runs: number;
  readonly busyMs: number;
  readonly queueMs: number;
  readonly peak: number;
  readonly paidMs: ReadonlyMap<string, number>;
};

export class VirtualTime {
  readonly #timers = new TimerQueue();
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  at(timeMs: number, work: () => void): () => void {
    return this.#timers.enter(Math.max(this.#nowMs, timeMs), work);
  }

  /** Does everything that is due next; false if nothing is left. */
  advance(): boolean {
    const next = this.#timers.nextMs;
    if (next === undefined) return false;
    this.#nowMs = next;
    for (let work = this.#timers.takeDue(next); work !== undefined; work = this.#timers.takeDue(next)) work();
    return true;
  }
}

/** How long an idle machine stays warm: the usual value of the service. No batch shows it. */
const IDLE_MS = 60_000;

type Queued = Ticket & { readonly work: Work; readonly createdAt: number; readonly ended: () => void };

export type ServiceModel = {
  /** Queues a run; `ended` is called at its end. */
  readonly queue: (work: Work, ended: () => void) => void;
  readonly usage: Usage;
};

export function createServiceModel(
  time: VirtualTime,
  { machines: limit, starts, warmAtStart, latencies }: Machinery,
): ServiceModel {
  const usage = { runs: 0, busyMs: 0, queueMs: 0, peak: 0, paidMs: new Map<string, number>() };
  let [containers, colds, busy] = [0, 0, 0];

  const startMsOf = ({ gpu, startMs }: Work, isCold: boolean): number => {
    const own = starts.get(gpu);
    if (own === undefined || own.coldMs.length === 0) return startMs;
    if (!isCold) return own.isCold(startMs) ? own.warmMs : startMs;
    colds += 1;
    return own.coldMs[Math.floor(chance(1, colds) * own.coldMs.length)] ?? startMs;
  };

  const begin = ({ gpu, work, createdAt, ended }: Queued, container: Container, isCold: boolean): void => {
    const now = time.now();
    const takenAt = now + (now > createdAt ? latencies.handoverMs : latencies.dispatchMs);
    const paid = startMsOf(work, isCold) + work.runMs;
    busy += 1;
    usage.runs += 1;
    usage.busyMs += paid;
    usage.queueMs += takenAt - createdAt;
    usage.peak = Math.max(usage.peak, busy);
    usage.paidMs.set(gpu, (usage.paidMs.get(gpu) ?? 0) + paid);
    time.at(takenAt + paid, () => {
      busy -= 1;
      machines.release(container);
      ended();
    });
  };

  const machines = createMachines<Queued>({
    clock: time,
    limitsOf: () => ({ limit, idleMs: IDLE_MS }),
    name: () => `${(containers += 1)}`,
    begin,
  });

  for (const [gpu, count] of warmAtStart)
    for (let at = 0; at < Math.min(count, limit); at += 1) {
      const container = { id: `warm ${gpu} ${at}`, deploymentId: '', gpu };
      machines.hold(container);
      machines.release(container);
    }

  let number = 0;
  const queue = (work: Work, ended: () => void): void =>
    machines.wait({
      number: (number += 1),
      deploymentId: '',
      gpu: work.gpu,
      work,
      createdAt: time.now(),
      ended,
    });
  return { queue, usage };
}
