// The order of the stages of a pipeline: which stages may begin, and what each waits for.

export type Stage = {
  readonly name: string;
  /** The stage whose results are its sheet; undefined for a stage with a sheet of its own. */
  readonly from?: string;
};

/** `begun`: it may still wait for picks, or for rows of the stage before it. */
export type StageState = 'waiting' | 'begun' | 'ended' | 'failed';

/** The stages whose source has ended. */
export const dueStages = <S extends Stage>(
  stages: readonly S[],
  states: ReadonlyMap<string, StageState>,
): readonly S[] =>
  stages.filter(
    ({ name, from }) =>
      states.get(name) === 'waiting' && (from === undefined || states.get(from) === 'ended'),
  );

/** The stages of a circle, in which each waits for the next one and the last for the first; empty if all can begin. */
export function circleIn(stages: readonly Stage[]): readonly string[] {
  const sources = new Map(stages.map(({ name, from }) => [name, from]));
  for (const { name } of stages) {
    const path = [name];
    for (let at = sources.get(name); at !== undefined; at = sources.get(at)) {
      if (path.includes(at)) return path.slice(path.indexOf(at));
      path.push(at);
    }
  }
  return [];
}

/** The state that the batch of a stage has reached. */
export type StageBatch = {
  readonly hasEnded: boolean;
  readonly succeeded: number;
  /** Rows that have ended without success. */
  readonly notSucceeded: number;
};

export type StageFacts = {
  readonly batch: StageBatch | undefined;
  /** The batch of the stage before it. */
  readonly source: StageBatch | undefined;
  readonly hasSource: boolean;
  /** Whether it takes only the rows that the user picks, and whether they are picked. */
  readonly pick: boolean;
  readonly isPicked: boolean;
  /** Whether it begins with the rows that succeeded, although others did not. */
  readonly partial: boolean;
  /** Whether it takes only rows that succeeded. */
  readonly takesSucceeded: boolean;
};

/**
 * The event that a stage waits for: the end of the stage before it (`source`), a retry of the rows without success there
 * (`repair`), or the user's choice of rows (`picks`). Picking implies that the user has seen the failures, but
 * nothing can be picked while no row has succeeded.
 */
export type WaitsFor = 'source' | 'repair' | 'picks';

export function waitsFor({
  batch,
  source,
  hasSource,
  pick,
  isPicked,
  partial,
  takesSucceeded,
}: StageFacts): WaitsFor | undefined {
  if (batch !== undefined || !hasSource) return undefined;
  if (source?.hasEnded !== true) return 'source';
  if (takesSucceeded && source.succeeded === 0) return 'repair';
  if (pick) return isPicked ? undefined : 'picks';
  return source.notSucceeded > 0 && !partial ? 'repair' : undefined;
}

export type ShownStage = {
  readonly stage: string;
  readonly from: string | undefined;
  /** The state of its batch, once it has one. */
  readonly state: string;
  readonly waitsFor: WaitsFor | undefined;
  /** The batch is paused but still has runs in flight. */
  readonly hasRuns: boolean;
};

/** Batches in these states, and stages that failed, change only by a command. */
const STANDS: ReadonlySet<string> = new Set(['failed', 'finished', 'interrupted', 'unreadable']);

/** Whether only a command changes any of the stages. A stage whose source has just ended is about to begin. */
export function standStill(stages: readonly ShownStage[]): boolean {
  const stands = ({ state, from, waitsFor: what, hasRuns }: ShownStage): boolean => {
    if (state === 'paused') return !hasRuns;
    if (state !== 'waiting') return STANDS.has(state);
    if (what !== 'source') return true;
    return stages.some((source) => source.stage === from && source.state !== 'finished' && stands(source));
  };
  return stages.every(stands);
}
