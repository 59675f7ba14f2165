// A run service with short contract times and a worker, each of which a test kills and starts again: the service on the
// same database and port.

import { fileURLToPath } from 'node:url';
import { KEY, type Running, type Stage } from '../stage/stage.ts';
import type { ShortTimes } from './short-times.ts';

const PROGRAM = fileURLToPath(new URL('short-times.ts', import.meta.url));

export type KilledPart = 'service' | 'worker';

export class Killable {
  readonly #stage: Stage;
  readonly #words: readonly string[];
  readonly #times: ShortTimes;
  #running: Record<KilledPart, Running> | undefined;
  #port = 0;

  private constructor(stage: Stage, deployments: string, times: ShortTimes) {
    [this.#stage, this.#times] = [stage, times];
    this.#words = ['service', '--db', stage.path('service.db'), '--deployments', deployments];
  }

  /** Later commands of the stage use the service. `entries`: those of a deployments file. */
  static async start(stage: Stage, entries: readonly object[], times: ShortTimes = {}): Promise<Killable> {
    const killable = new Killable(stage, stage.write('tools.json', JSON.stringify(entries)), times);
    const service = await killable.#service();
    killable.#running = { service, worker: await stage.worker() };
    return killable;
  }

  async #service(): Promise<Running> {
    const variables = { RUNSHEET_SERVICE_TOKEN: KEY, SHORT_TIMES: JSON.stringify(this.#times) };
    const words = [...this.#words, '--port', String(this.#port)];
    const running = this.#stage.start(words, variables, PROGRAM);
    const [, base = ''] = await running.says(/RUNSHEET_API_URL=(\S+)/);
    this.#port = Number(new URL(base).port);
    this.#stage.environment = { ...this.#stage.environment, RUNSHEET_API_URL: base, RUNSHEET_API_KEY: KEY };
    return running;
  }

  /** Kills a process with SIGKILL and starts the next one. */
  async kill(part: KilledPart): Promise<void> {
    if (this.#running === undefined) throw new Error('nothing runs');
    await this.#running[part].kill('SIGKILL');
    this.#running[part] = part === 'service' ? await this.#service() : await this.#stage.worker();
  }
}
