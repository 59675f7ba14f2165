// Chooses which process to kill at which moment: the pair with the fewest kills comes next, so that all are equally
// frequent.

import { MOMENTS, type When } from './moments.ts';
import type { Mode } from './rig.ts';
import type { Victim } from './victims.ts';

export type Aim = { readonly mode: Mode; readonly victim: Victim; readonly when: When };
/** The stage of a batch: its creation, its start, its main part, its close. */
type Part = 'birth' | 'start' | 'way' | 'close';

const AIMS: Readonly<Record<Mode, Readonly<Partial<Record<When, readonly Victim[]>>>>> = {
  cluster: {
    birth: ['command', 'machine'],
    start: ['workers', 'machine', 'Temporal'],
    arrived: ['worker', 'run service', 'machine'],
    taken: ['workers', 'Temporal', 'machine'],
    answered: ['worker', 'machine', 'Temporal'],
    files: ['workers', 'run service', 'Temporal'],
    part: ['workers', 'machine', 'Temporal'],
    'continue-as-new': ['workers', 'Temporal', 'machine', 'worker'],
    any: ['receiver', 'command', 'Temporal', 'machine'],
    close: ['workers', 'Temporal', 'machine', 'run service'],
  },
  embedded: {
    birth: ['command', 'machine'],
    start: ['machine', 'servers'],
    arrived: ['worker'],
    taken: ['machine', 'servers'],
    answered: ['Temporal', 'machine'],
    files: ['worker', 'machine'],
    part: ['worker', 'machine'],
    'continue-as-new': ['worker', 'Temporal', 'machine'],
    any: ['command', 'run service', 'servers'],
    close: ['worker', 'machine', 'Temporal'],
  },
};

/** How much a missed try counts, compared with a kill: some moments come late in a batch, or rarely. */
const TRY_COST = 0.3;

export class Aims {
  readonly #most: number;
  readonly #tries = new Map<string, number>();
  readonly #hits = new Map<string, number>();

  /** `most`: the number of kills after which no aim is chosen any more. */
  constructor(most: number) {
    this.#most = most;
  }

  get kills(): number {
    return [...this.#hits.values()].reduce((sum, hits) => sum + hits, 0);
  }

  /** The next aim; undefined after enough kills. */
  next(mode: Mode, part: Part): Aim | undefined {
    if (this.kills >= this.#most) return undefined;
    const costOf = (aim: Aim): number => {
      const name = nameOf(aim);
      return (this.#hits.get(name) ?? 0) + (this.#tries.get(name) ?? 0) * TRY_COST;
    };
    const [aim] = aimsOf(mode, part).toSorted((a, b) => costOf(a) - costOf(b));
    if (aim !== undefined) this.#tries.set(nameOf(aim), (this.#tries.get(nameOf(aim)) ?? 0) + 1);
    return aim;
  }

  hit({ mode, victim, when }: Aim): void {
    const name = nameOf({ mode, victim, when });
    this.#hits.set(name, (this.#hits.get(name) ?? 0) + 1);
  }

  /** How often each aim of these modes was hit. */
  counts(modes: readonly Mode[]): Readonly<Record<string, number>> {
    const aims = modes.flatMap((mode) => PARTS.flatMap((part) => aimsOf(mode, part)));
    return Object.fromEntries(aims.map((aim) => [nameOf(aim), this.#hits.get(nameOf(aim)) ?? 0]));
  }
}

const PARTS: readonly Part[] = ['birth', 'start', 'way', 'close'];

const nameOf = ({ mode, victim, when }: Aim): string => `${mode}: ${victim} at ${when}`;

/** The aims of a stage: the first victim of each moment, then the second of each, and so on. */
function aimsOf(mode: Mode, part: Part): readonly Aim[] {
  const whens = (Object.keys(MOMENTS) as When[]).filter((when) => partOf(when) === part);
  const most = Math.max(...whens.map((when) => AIMS[mode][when]?.length ?? 0));
  return Array.from({ length: most }, (_, nth) => nth).flatMap((nth) =>
    whens.flatMap((when) => {
      const victim = AIMS[mode][when]?.[nth];
      return victim === undefined ? [] : [{ mode, victim, when }];
    }),
  );
}

const partOf = (when: When): Part =>
  when === 'birth' || when === 'start' || when === 'close' ? when : 'way';
