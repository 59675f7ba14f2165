// Reads the phases of a batch's outstanding runs from the service's run list. Only a command that follows
// the batch reads it, so the workflow and its history know nothing of phases.

import type { Config } from '../../host/settings/config.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { ownRun } from '../../audit/list-runs.ts';
import { isTerminal } from '../../service-client/contract/statuses.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import { count } from '../../options/text/printed-numbers.ts';

export type Phases = {
  /** Runs that wait for a machine. */
  readonly queued: number;
  /** Runs whose machine is starting. */
  readonly starting: number;
  readonly running: number;
};

const PAGE = 200;
const MAX_PAGES = 3;
const EVERY_MS = 3_000;
/** Older readings are not shown. */
const FRESH_MS = 8_000;

export type PhaseReader = {
  /**
   * The latest reading, if it is fresh and fits the outstanding runs. Starts the next reading when due.
   * Never waits, never throws.
   */
  latest(outstanding: number, now: number): Phases | undefined;
};

type List = (offset: number) => Promise<readonly Parameters<typeof ownRun>[1][] | undefined>;

export function openPhaseReader(config: Config, batchFolder: FoundBatch): PhaseReader {
  const { workflowId } = batchFolder.file.deployment;
  if (workflowId === undefined) return { latest: () => undefined };
  const services = openServices(config, openTransport(1));
  // Without an API key this throws, and the view shows no phases.
  return phaseReader(batchFolder.file, async (offset) =>
    services.at(batchFolder.file.service).listRuns(workflowId, { limit: PAGE, offset }),
  );
}

export function phaseReader(file: Parameters<typeof ownRun>[0], list: List): PhaseReader {
  let read: { readonly at: number; readonly phases: Phases | undefined } | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let isReading = false;
  const start = async (outstanding: number, now: number): Promise<void> => {
    isReading = true;
    const phases = await readPhases(file, list, outstanding).catch(() => undefined);
    read = { at: now, phases };
    isReading = false;
  };
  return {
    latest: (outstanding, now) => {
      if (outstanding > 0 && !isReading && now - startedAt >= EVERY_MS) {
        startedAt = now;
        void start(outstanding, now);
      }
      if (read?.phases === undefined || now - read.at > FRESH_MS) return undefined;
      // A reading with more runs than are outstanding is stale.
      return seenIn(read.phases) <= outstanding ? read.phases : undefined;
    },
  };
}

/** Reads the newest runs until as many open runs of the batch are seen as are outstanding. */
async function readPhases(file: Parameters<typeof ownRun>[0], list: List, outstanding: number) {
  const phases = { queued: 0, starting: 0, running: 0 };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const runs = await list(page * PAGE);
    if (runs === undefined) return undefined;
    for (const { run } of runs.flatMap((listed) => ownRun(file, listed)))
      if (!isTerminal(run.status)) phases[PHASE[run.status] ?? 'running'] += 1;
    if (runs.length < PAGE || seenIn(phases) >= outstanding) break;
  }
  return phases;
}

const seenIn = ({ queued, starting, running }: Phases): number => queued + starting + running;

/** The phase of each open run status. A `queued` run already has a machine. */
const PHASE: Readonly<Record<string, keyof Phases>> = { 'not-started': 'queued', queued: 'starting' };

/** `: 9 running, 2 starting, 5 queued at the service`; the remaining outstanding runs are sent but not listed yet. */
export function phasesText({ running, starting, queued }: Phases, outstanding: number): string {
  const sent = outstanding - running - starting - queued;
  const parts = [
    [running, 'running'],
    [starting, 'starting'],
    [queued, 'queued at the service'],
    [sent, 'sent'],
  ] as const;
  const shown = parts.filter(([runs]) => runs > 0).map(([runs, phase]) => `${count(runs)} ${phase}`);
  return shown.length === 0 ? '' : `: ${shown.join(', ')}`;
}
