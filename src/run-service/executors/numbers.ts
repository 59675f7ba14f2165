// Numbers from servers. A server may report any duration, but the database takes whole numbers only, and an
// odd number must not stop the service.

import type { Backend, RunEnd, Seen, SocketEvent, Submitted } from './backend.ts';

/** A whole number from 0 to 2^53 - 1; undefined for anything else. */
export function whole(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return undefined;
  return Math.round(Math.min(Math.max(number, 0), Number.MAX_SAFE_INTEGER));
}

/** A number from 0 to 1; 0 for anything else. */
const share = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.min(value, 1) : 0);

/** The longest time that a server is left alone. */
const MAX_AFTER_MS = 3_600_000;

/** Wraps a server so that its numbers can be stored and counted with. */
export function withWholeNumbers(backend: Backend): Backend {
  const { listen } = backend;
  return {
    ...backend,
    get guarantee() {
      return backend.guarantee;
    },
    get seats() {
      return wholeSeats(backend.seats);
    },
    submit: async (run, work) => wholeAnswer(await backend.submit(run, work)),
    async poll(runs) {
      const states = await backend.poll(runs);
      return new Map([...states].map(([id, state]) => [id, wholeSeen(state)]));
    },
    ...(listen && { listen: (on) => listen((event) => on(wholeEvent(event))) }),
  };
}

const wholeSeats = (seats: Backend['seats']): Backend['seats'] => {
  if (seats.kind === 'given') return { ...seats, count: Math.max(1, whole(seats.count) ?? 1) };
  if (seats.kind === 'grown') return { ...seats, first: Math.max(1, whole(seats.first) ?? 1) };
  return seats;
};

const wholeAnswer = (submitted: Submitted): Submitted =>
  submitted.kind === 'busy'
    ? { ...submitted, afterMs: Math.min(whole(submitted.afterMs) ?? 0, MAX_AFTER_MS) }
    : submitted;

const wholeSeen = (seen: Seen): Seen => (seen.at === 'ended' ? { ...seen, end: wholeEnd(seen.end) } : seen);

/** A higher cost is an error of the server, and counts as unknown. */
const MAX_COST_NANO = 1e15;

const wholeEnd = (end: RunEnd): RunEnd => {
  const { costNano, ...facts } = { ...end, ranMs: whole(end.ranMs) };
  const cost = whole(costNano) ?? Number.POSITIVE_INFINITY;
  const told = { ...facts, ...(cost <= MAX_COST_NANO && { costNano: cost }) };
  return told.status === 'postponed'
    ? { ...told, afterMs: Math.min(whole(told.afterMs) ?? 0, MAX_AFTER_MS) }
    : told;
};

const wholeEvent = (event: SocketEvent): SocketEvent =>
  event.kind === 'work' ? { ...event, progress: share(event.progress) } : event;
