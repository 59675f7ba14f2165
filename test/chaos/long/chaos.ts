// Runs batches one after the other until enough processes were killed, and collects their results.

import { errorMessage } from '../../../src/errors/error.ts';
import { Aims } from './aims.ts';
import { chaosBatch } from './batch.ts';
import type { Mode } from './rig.ts';
import { FAULTS, sum } from './service.ts';
import { noFindings, type Findings } from './verdict.ts';

export type ChaosParams = {
  readonly kills: number;
  /** No batch is started after this time. */
  readonly minutes: number;
  readonly modes: readonly Mode[];
  readonly rows: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly log: (text: string) => void;
};

export type ChaosResult = {
  readonly kills: number;
  readonly batches: number;
  readonly rows: number;
  readonly runs: number;
  readonly seconds: number;
  readonly findings: Findings;
  readonly evidence: readonly string[];
  /** How often each aim was hit, and each fault was injected. */
  readonly aims: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
};

export async function chaos(params: ChaosParams): Promise<ChaosResult> {
  const { modes, rows, concurrency, seed, log } = params;
  const aims = new Aims(params.kills);
  const findings = noFindings();
  const evidence: string[] = [];
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  const stamped = (text: string): void => log(`${seconds().toFixed(0).padStart(5)} s  ${text}`);
  let faults: Readonly<Record<string, number>> = Object.fromEntries(
    Object.keys(FAULTS).map((name) => [name, 0]),
  );
  let [batches, runs] = [0, 0];
  while (aims.kills < params.kills && seconds() < params.minutes * 60) {
    const mode = modes[batches % modes.length] ?? 'cluster';
    try {
      const result = await chaosBatch({ mode, rows, concurrency, seed: seed + batches, aims, log: stamped });
      for (const [kind, newFindings] of Object.entries(result.findings))
        findings[kind as keyof Findings].push(...newFindings);
      if (result.evidence !== undefined) evidence.push(result.evidence);
      runs += result.runs;
      faults = sum(faults, result.counts);
      stamped(`batch ${batches + 1} (${mode}): ${result.runs} runs, ${aims.kills} kills so far`);
    } catch (error) {
      findings.stuck.push(`batch ${batches + 1} (${mode}): ${errorMessage(error)}`);
      stamped(errorMessage(error));
    }
    batches += 1;
    for (const [kind, texts] of Object.entries(findings))
      if (texts.length > 0) stamped(`${kind}: ${texts.slice(0, 5).join('; ').slice(0, 1_000)}`);
  }
  return {
    kills: aims.kills,
    batches,
    rows: batches * rows,
    runs,
    seconds: Math.round(seconds()),
    findings,
    evidence,
    aims: aims.counts(modes),
    faults,
  };
}

/** Aims and faults that never occurred in this run, so that it does not cover them. */
export const neverMet = ({ aims, faults }: ChaosResult): readonly string[] =>
  Object.entries({ ...aims, ...faults })
    .filter(([, times]) => times === 0)
    .map(([name]) => name);

export const hasFindings = ({ findings }: ChaosResult): boolean =>
  Object.values(findings).some((texts) => texts.length > 0);
