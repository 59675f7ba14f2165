// The files in examples/monitoring use only metrics and labels that exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createBatchGauges } from '../../src/monitoring/batch-gauges.ts';
import { createMeters } from '../../src/monitoring/meters.ts';
import { createWorkerGauges } from '../../src/monitoring/monitor.ts';
import { labelsIn, metricsIn } from './promql.ts';

const read = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../examples/monitoring', name), 'utf8');

type Dashboard = {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};
type Rules = { readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[] };

const DASHBOARD = JSON.parse(read('dashboard.json')) as Dashboard;
const RULES = parse(read('alerts.yml')) as Rules;
const queries = [
  ...DASHBOARD.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...RULES.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
];

function existing(): Registry {
  const registry = new Registry();
  createMeters(registry);
  createBatchGauges(registry);
  createWorkerGauges(registry);
  return registry;
}

describe('the dashboard and the alert rules', () => {
  const series = new Map<string, ReadonlySet<string>>();

  beforeAll(async () => {
    const registry = existing();
    collectDefaultMetrics({ register: registry });
    const labels = registry.getMetricsAsArray() as unknown as readonly {
      name: string;
      labelNames: string[];
    }[];
    for (const { name, type } of await registry.getMetricsAsJSON()) {
      // Prometheus adds the instance.
      const own = new Set(['instance', ...(labels.find((metric) => metric.name === name)?.labelNames ?? [])]);
      if (String(type) !== 'histogram') series.set(name, own);
      else
        for (const suffix of ['bucket', 'sum', 'count'])
          series.set(`${name}_${suffix}`, new Set([...own, 'le']));
    }
  });

  it.each(queries)('exist in %s', (query) => {
    const metrics = metricsIn(query);
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !series.has(name))).toEqual([]);
    const knownLabels = new Set(metrics.flatMap((name) => [...(series.get(name) ?? [])]));
    expect(labelsIn(query).filter((label) => !knownLabels.has(label))).toEqual([]);
  });

  it('have panels with different ids, and a list of batches from a metric that exists', () => {
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const [definition = ''] = DASHBOARD.templating.list.flatMap((variable) => variable.definition ?? []);
    expect(series.has(/label_values\((\w+), batch\)/.exec(definition)?.[1] ?? '')).toBe(true);
  });

  it('are found by the example of a configuration of Prometheus', () => {
    const { rule_files: files } = parse(read('prometheus.yml')) as { readonly rule_files: readonly string[] };
    expect(files).toEqual(['alerts.yml']);
  });
});
