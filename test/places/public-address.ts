// The public address of a worker's receiver, as vendors and the run service reach it: it passes each message on, or
// keeps the messages of vendors until a test lets them through.

import { freeAddress } from '../stage/free-port.ts';
import { openRelay, type Relay } from '../stage/relay.ts';
import type { Stage } from '../stage/stage.ts';

const VENDORS = '/told/';

export class PublicAddress {
  /** The status of each answer to a vendor. */
  readonly answers: number[] = [];
  /** Whether messages of vendors are kept. */
  isKeeping = false;
  readonly #kept = new Map<string, PromiseWithResolvers<boolean>>();
  #relay: Relay | undefined;

  /** Services and workers that the stage starts from now on use the address. */
  static async open(stage: Stage): Promise<PublicAddress> {
    const address = new PublicAddress();
    const listen = await freeAddress();
    const relay = await openRelay(`http://${listen}`, async ({ url }, pass) => {
      if (!url.startsWith(VENDORS)) return pass();
      if (address.isKeeping && !(await address.#keptAt(url).promise)) return undefined;
      const answer = await pass();
      address.answers.push(answer.status);
      return answer;
    });
    address.#relay = relay;
    stage.environment = {
      ...stage.environment,
      RUNSHEET_WEBHOOK_URL: relay.base,
      RUNSHEET_WEBHOOK_LISTEN: listen,
      RUNSHEET_WEBHOOK_SECRET: 'secret-of-a-test-0123456789',
    };
    return address;
  }

  #keptAt(path: string): PromiseWithResolvers<boolean> {
    const kept = this.#kept.get(path) ?? Promise.withResolvers<boolean>();
    this.#kept.set(path, kept);
    return kept;
  }

  /** Passes on what arrives at this address, and has arrived there. */
  release(webhook: string): void {
    this.#keptAt(new URL(webhook).pathname).resolve(true);
  }

  async close(): Promise<void> {
    for (const kept of this.#kept.values()) kept.resolve(false);
    await this.#relay?.close();
  }
}
