// Writes runs that match no row in the state to the store, where the close checks them. The last few go with the close
// itself.

import type { Command } from '../commands.ts';
import { EVIDENCE_RUNS } from '../bounds.ts';
import { EVIDENCE } from '../events.ts';
import type { State } from '../state/state.ts';
import { dueIf, type Decision } from './decision.ts';

export const keepEvidenceWhenMuch: Decision = {
  name: 'keep-evidence',
  dueAt: ({ evidence, keeping, unstored }) =>
    dueIf(evidence.size >= EVIDENCE_RUNS && keeping === 0 && !unstored.has(EVIDENCE)),
  act: (state) => [keepEvidence(state)],
};

export function keepEvidence(state: State): Command {
  // All of them: one slow write must not let more pile up than the state has room for.
  const runs = [...state.evidence.values()];
  state.keeping = runs.length;
  state.evidenceFiles += 1;
  return { type: 'keepEvidence', number: state.evidenceFiles, runs };
}
