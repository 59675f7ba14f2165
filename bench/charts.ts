// The pictures of the page of the benchmarks.

import { barsOf, type Bar } from './chart.ts';
import type { Figures } from './page.ts';
import { sumOf } from './rates.ts';

/** SVGs by their names; only of what was measured. */
export function chartsOf({
  shortRuns = [],
  throughput,
  rates = [],
  command = [],
}: Figures): ReadonlyMap<string, string> {
  const charts = new Map<string, string>();
  if (shortRuns.length > 0)
    charts.set(
      'short-runs',
      barsOf(
        'Rows per second, 200 runs of 0.1 s in flight',
        shortRuns.map(({ program, perSecond }) =>
          bar(program, perSecond, perSecond.toFixed(0), program === 'runsheet'),
        ),
        { value: 2_000, name: 'ideal' },
      ),
    );
  if (throughput.length > 0)
    charts.set(
      'throughput',
      barsOf(
        'Rows per second, compared with the loop measured beside it',
        throughput.map(({ backend, cap, perSecond, toLoop }) =>
          bar(`${cap} in flight, ${backend}`, toLoop, `${toLoop.toFixed(2)} (${perSecond.toFixed(0)}/s)`),
        ),
        { value: 1, name: 'the loop' },
      ),
    );
  if (rates.length > 0)
    charts.set(
      'events',
      barsOf(
        'Events of the history for each row',
        rates.map(({ outstanding, runSeconds, machines, events }) => {
          const queued = machines < outstanding ? `, ${machines} machines` : '';
          return bar(`${outstanding} × ${runSeconds} s${queued}`, sumOf(events), sumOf(events).toFixed(1));
        }),
      ),
    );
  if (command.length > 0)
    charts.set(
      'memory',
      barsOf(
        'Peak memory of the worker, MB',
        command.map(({ rows, peakMb }) =>
          bar(`${rows.toLocaleString('en')} rows`, peakMb, peakMb.toFixed(0)),
        ),
      ),
    );
  return charts;
}

const bar = (name: string, value: number, text: string, isOurs = true): Bar => ({
  name,
  value,
  text,
  isOurs,
});
