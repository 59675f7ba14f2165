// A slot is the right to have one run outstanding. Whatever may be a run holds one: an attempt under way, a run, and an
// attempt of which nobody knows.

import type { State } from './state.ts';

export function usedSlots({ phases }: Pick<State, 'phases'>): number {
  return phases.sending + phases.running + phases.uncertain;
}

export function freeSlots(state: Pick<State, 'phases' | 'order'>): number {
  return Math.max(0, state.order.cap - usedSlots(state));
}
