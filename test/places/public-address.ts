// The public address of a worker's receiver, as vendors and the run service reach it.

import { freeAddress } from '../stage/free-port.ts';
import { openRelay, type Relay } from '../stage/relay.ts';
import type { Stage } from '../stage/stage.ts';

const VENDORS = '/told/';

export class PublicAddress {
  /** The status of each answer to a vendor. */
  readonly answers: number[] = [];
  #relay: Relay | undefined;

  /** Services and workers that the stage starts from now on use the address. */
  static async open(stage: Stage): Promise<PublicAddress> {
    const address = new PublicAddress();
    const listen = await freeAddress();
    const relay = await openRelay(`http://${listen}`, async ({ url }, pass) => {
      if (!url.startsWith(VENDORS)) return pass();
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

  async close(): Promise<void> {
    await this.#relay?.close();
  }
}
