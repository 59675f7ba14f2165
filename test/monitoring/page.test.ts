// docs/monitoring.md names exactly the metrics that exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createBatchGauges } from '../../src/monitoring/batch-gauges.ts';
import { createMeters } from '../../src/monitoring/meters.ts';
import { createWorkerGauges } from '../../src/monitoring/monitor.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8');

function existing(): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  const registry = new Registry();
  createMeters(registry);
  createBatchGauges(registry);
  createWorkerGauges(registry);
  return registry
    .getMetricsAsArray()
    .map((metric) => metric as unknown as { name: string; labelNames: string[] })
    .map(({ name, labelNames }) => ({ name, labels: labelNames }));
}

const documented = [...PAGE.matchAll(/^\| `(runsheet_\w+)` +\| ([^|]*)\|/gm)].map(
  ([, name = '', labels = '']) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  }),
);

describe('the page about monitoring', () => {
  it('names every metric with its labels, and no other', () => {
    const sorted = (all: readonly { readonly name: string }[]) =>
      all.toSorted((a, b) => a.name.localeCompare(b.name));
    expect(sorted(documented)).toEqual(sorted(existing()));
  });
});

describe('the names of metrics', () => {
  it('follow the conventions of Prometheus', async () => {
    const registry = new Registry();
    createMeters(registry);
    createBatchGauges(registry);
    createWorkerGauges(registry);
    const metrics = (await registry.getMetricsAsJSON()).map(({ name, type }) => ({
      name,
      type: String(type),
    }));
    for (const { name, type } of metrics) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).toMatch(type === 'histogram' ? /^runsheet_[a-z_]+_seconds$/ : /^runsheet_[a-z_]+$/);
    }
  });
});
