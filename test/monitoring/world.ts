// A worker and a batch whose metrics are scraped every two minutes in virtual time. By default everything is well.

import { Registry } from 'prom-client';
import type { BatchFigures } from '../../src/monitoring/batch-figures.ts';
import { createBatchGauges } from '../../src/monitoring/batch-gauges.ts';
import { createMeters } from '../../src/monitoring/meters.ts';
import { createWorkerGauges } from '../../src/monitoring/monitor.ts';
import { samplesIn } from './exposition.ts';
import { figures, MARK } from './figures.ts';
import type { Scrape } from './promql.ts';

const START_S = 1_800_000_000;
const STEP_S = 120;
const REQUESTS = 10;

export class MonitoredWorld {
  readonly #registry = new Registry();
  readonly #showBatches = createBatchGauges(this.#registry);
  readonly #showWorker = createWorkerGauges(this.#registry);
  readonly #scrapes: Scrape[] = [];
  readonly meters = createMeters(this.#registry);
  at = START_S;
  batch: BatchFigures = figures({ state: 'running', rows: 10_000 });
  advances = true;
  isReady = true;
  isScraped = true;
  readAt = START_S;
  readsTemporal = true;
  freeShare = 0.5;

  get scrapes(): readonly Scrape[] {
    return this.#scrapes;
  }

  /** Two minutes: `happens` changes what is well. */
  async pass(happens: (world: MonitoredWorld) => void): Promise<void> {
    this.at += STEP_S;
    if (this.advances) this.batch = { ...this.batch, done: this.batch.done + 5 };
    for (let nth = 0; nth < REQUESTS; nth += 1) {
      this.post(200);
      this.meters.webhookRead({ endedAtMs: 1_000 }, 2_000);
    }
    happens(this);
    if (this.readsTemporal) this.readAt = this.at;
    if (this.isScraped) await this.#scrape();
  }

  post(status: number): void {
    this.meters.requestEnded({ call: 'queue_run', status, seconds: 0.1, post: { begun: true, status } });
  }

  async #scrape(): Promise<void> {
    this.#showBatches([{ batch: 'b', mark: MARK, figures: this.batch }]);
    this.#showWorker({
      readAtMs: this.readAt * 1000,
      isComplete: true,
      readiness: { isReady: this.isReady, checks: { temporal: this.isReady ? 'ok' : 'away' } },
      disk: { free: this.freeShare * 1e12, size: 1e12 },
    });
    const samples = samplesIn(await this.#registry.metrics());
    const labelled = samples.map((sample) => ({ ...sample, labels: { ...sample.labels, instance: 'w' } }));
    this.#scrapes.push({ at: this.at, samples: Map.groupBy(labelled, ({ name }) => name) });
  }
}
