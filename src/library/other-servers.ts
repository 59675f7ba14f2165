// Joins running embedded servers of other state folders of this user, to read from them. Starts none.

import { loadConfigWith, type Config } from '../host/settings/config.ts';
import type { Session } from './session.ts';
import type { OtherHolder } from './start/who-has.ts';

export class OtherServers {
  readonly #config: Config;
  readonly #notice: (text: string) => void;
  readonly #byHome = new Map<string, Promise<Session | undefined>>();

  constructor(config: Config, notice: (text: string) => void) {
    this.#config = config;
    this.#notice = notice;
  }

  /** Returns undefined if the servers do not run or do not answer. */
  async reach({ are, holder: { home } }: OtherHolder): Promise<Session | undefined> {
    if (are !== 'running' || home === undefined) return undefined;
    const before = this.#byHome.get(home);
    if (before !== undefined) return before;
    const session = this.#open(home).catch(() => undefined);
    this.#byHome.set(home, session);
    return session;
  }

  /** The keys and the address of the servers are in their state folder. */
  async #open(home: string): Promise<Session | undefined> {
    const { environment, out } = this.#config;
    const config = loadConfigWith({ ...environment, RUNSHEET_HOME: home, RUNSHEET_OUT: out });
    const { readStack } = await import('../temporal/embedded/follower.ts');
    const stack = await readStack({ config, service: false, notice: this.#notice });
    if (stack === undefined) return undefined;
    const { openSession } = await import('./session.ts');
    return openSession({ config }, stack.temporal, stack);
  }

  async leave(): Promise<void> {
    const sessions = await Promise.all(this.#byHome.values());
    await Promise.all(sessions.map(async (session) => session?.close()));
  }
}
