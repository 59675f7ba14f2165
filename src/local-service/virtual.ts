// The service in virtual time, inside one process: the same handlers, machines and ledger, without sockets. Its clock jumps
// from one thing that is due to the next, so that hours pass in seconds, and everything that is left to chance (ids
// included) comes from the seed, so that the same plan of arrivals gives the same ledger, to the last millisecond.
//
//   at(t, work) ─▶ agenda ─▶ pass(until): now = t, work (requests, steps of runs), webhooks, … ─▶ now = until

import { createApp } from './app.ts';
import { Agenda } from './agenda.ts';
import type { BehaviourName } from './behaviour.ts';
import type { WallClock } from './clock.ts';
import type { DeploymentSpec } from './deployments.ts';
import { uuidOf } from './identity.ts';
import { createService, type Stats } from './service.ts';

export type VirtualService = {
  /** Milliseconds since 1970, in the virtual world; it begins at 2030-01-01. */
  now(): number;
  /** Plans work, a request for example; it is waited for before time goes on. */
  at(timeMs: number, work: () => Promise<void>): void;
  /** Asks at the present moment, over no network. */
  ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<VirtualAnswer>;
  /** Lets time pass up to `untilMs`, doing on the way what falls due. */
  pass(untilMs: number): Promise<void>;
  /** Calls that receivers would have had, in their order. */
  readonly calls: readonly VirtualCall[];
  stats(): Stats;
  close(): Promise<void>;
};
type VirtualAnswer = { readonly status: number; readonly text: string };
type VirtualCall = { readonly atMs: number; readonly url: string; readonly body: string };

export const VIRTUAL_START_MS = Date.UTC(2030, 0, 1);

const TOKEN = 'virtual';
const ORIGIN = 'http://virtual.invalid';

export function openVirtualService(options: {
  readonly deployments: readonly DeploymentSpec[];
  /** Rates by name. Default none. */
  readonly faults?: Readonly<Record<string, number>>;
  readonly behaviour?: BehaviourName;
  readonly seed: number;
}): VirtualService {
  const { seed } = options;
  const time = createVirtualTime();
  const calls: VirtualCall[] = [];
  let named = 0;
  const service = createService({
    behaviour: 'specification',
    faults: {},
    ...options,
    speed: 1,
    database: ':memory:',
    webhooksAnywhere: true,
    log: () => undefined,
    outside: {
      clock: (turn) => time.clock(turn),
      newId: (kind) => uuidOf(kind, String(seed), String(named++)),
      caller: {
        call: (url, _method, body) => {
          calls.push({ atMs: time.nowMs(), url: url.href, body });
          return Promise.resolve(undefined);
        },
        close: () => Promise.resolve(),
      },
    },
  });
  const { app } = createApp(service, { tokens: [TOKEN] });
  service.open(ORIGIN);
  return {
    now: time.nowMs,
    at: time.plan,
    async ask(method, url, body) {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const answer = await app.inject({
        method,
        url,
        headers,
        ...(body && { payload: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, text: answer.payload };
    },
    pass: time.pass,
    calls,
    stats: service.stats,
    async close() {
      await app.close();
      await service.close();
    },
  };
}

function createVirtualTime() {
  const agenda = new Agenda();
  let nowMs = VIRTUAL_START_MS;
  let turn = (work: () => void): void => work();
  let asked: Promise<void> | undefined;

  const clock: WallClock = {
    now: () => nowMs,
    at: (timeMs, work) => agenda.enter(timeMs, work),
    open: () => undefined,
    close: () => agenda.clear(),
  };

  return {
    nowMs: () => nowMs,
    clock(given: typeof turn): WallClock {
      turn = given;
      return clock;
    },
    plan(timeMs: number, work: () => Promise<void>): void {
      agenda.enter(timeMs, () => {
        asked = work();
      });
    },
    async pass(untilMs: number): Promise<void> {
      for (let next = agenda.nextMs; next !== undefined && next <= untilMs; next = agenda.nextMs) {
        nowMs = Math.max(nowMs, next);
        const work = agenda.takeDue(nowMs);
        if (work !== undefined) turn(work);
        // What was asked is answered, and what was told has arrived, before time goes on.
        await asked;
        asked = undefined;
        await new Promise((resolve) => setImmediate(resolve));
      }
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}
