import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  circleIn,
  dueStages,
  standStill,
  waitsFor,
  type ShownStage,
  type Stage,
  type StageFacts,
  type StageState,
} from '../../../src/batch/pipeline/stages.ts';

/** Each stage is from any other stage, from itself, or from a sheet. */
const stages = fc
  .array(fc.option(fc.nat(), { nil: undefined }), { minLength: 1, maxLength: 8 })
  .map((sources) =>
    sources.map((from, at): Stage => ({
      name: `s${at}`,
      ...(from === undefined ? {} : { from: `s${from % sources.length}` }),
    })),
  );

/** Runs all stages in any order; returns those that began, in that order. */
function runAll(pipeline: readonly Stage[], choose: (due: readonly Stage[]) => Stage): readonly string[] {
  const states = new Map<string, StageState>(pipeline.map(({ name }) => [name, 'waiting']));
  const began: string[] = [];
  for (let due = dueStages(pipeline, states); due.length > 0; due = dueStages(pipeline, states)) {
    const { name } = choose(due);
    began.push(name);
    states.set(name, 'ended');
  }
  return began;
}

describe('the stages of a pipeline', () => {
  it('all begin once and after their sources, unless there is a circle', () => {
    fc.assert(
      fc.property(stages, fc.nat(), (pipeline, seed) => {
        const began = runAll(pipeline, (due) => due[seed % due.length] as Stage);
        expect(new Set(began).size).toBe(began.length);
        const early = pipeline.filter(({ name, from }) => began.includes(name) && from !== undefined);
        for (const { name, from } of early) expect(began.slice(0, began.indexOf(name))).toContain(from);
        expect(began.length === pipeline.length).toBe(circleIn(pipeline).length === 0);
      }),
    );
  });

  it('name a circle by the stages in it, each from the next one', () => {
    fc.assert(
      fc.property(stages, (pipeline) => {
        const circle = circleIn(pipeline);
        for (const [at, name] of circle.entries())
          expect(pipeline.find((stage) => stage.name === name)?.from).toBe(circle[(at + 1) % circle.length]);
      }),
    );
  });

  it('do not begin after a stage that failed', () => {
    const pipeline = [{ name: 'a' }, { name: 'b', from: 'a' }];
    expect(
      dueStages(
        pipeline,
        new Map([
          ['a', 'failed' as const],
          ['b', 'waiting' as const],
        ]),
      ),
    ).toEqual([]);
  });
});

const FACTS: StageFacts = {
  batch: undefined,
  source: { hasEnded: true, succeeded: 2, notSucceeded: 0 },
  hasSource: true,
  pick: false,
  isPicked: false,
  partial: false,
  takesSucceeded: true,
};
const FAILED = { hasEnded: true, succeeded: 1, notSucceeded: 1 };
const NONE = { ...FAILED, succeeded: 0 };

describe('a stage waits', () => {
  it.each<[string, Partial<StageFacts>, ReturnType<typeof waitsFor>]>([
    ['for nothing with a sheet of its own', { hasSource: false, source: undefined }, undefined],
    ['for nothing once it has a batch', { batch: FAILED, source: FAILED }, undefined],
    ['for a source that has no batch', { source: undefined }, 'source'],
    [
      'for a source that has not ended, also if it is picked',
      { source: { hasEnded: false, succeeded: 0, notSucceeded: 0 }, pick: true, isPicked: true },
      'source',
    ],
    ['for nothing when its source has succeeded', {}, undefined],
    ['for rows without success', { source: FAILED }, 'repair'],
    ['for nothing if it may begin without them', { source: FAILED, partial: true }, undefined],
    ['for picks', { pick: true }, 'picks'],
    ['for picks rather than for rows without success', { source: FAILED, pick: true }, 'picks'],
    ['for rows without success if none succeeded', { source: NONE, partial: true }, 'repair'],
    ['for them rather than for picks of nothing', { source: NONE, pick: true, isPicked: true }, 'repair'],
    ['for picks of rows that failed', { source: NONE, pick: true, takesSucceeded: false }, 'picks'],
    ['for nothing once they are given', { source: FAILED, pick: true, isPicked: true }, undefined],
  ])('%s', (_, facts, expected) => {
    expect(waitsFor({ ...FACTS, ...facts })).toBe(expected);
  });
});

describe('stages stand still', () => {
  type State = Partial<Omit<ShownStage, 'stage' | 'from'>>;
  const stand = (drafts: State, finals: State): boolean => {
    const usual = { state: 'waiting', waitsFor: undefined, hasRuns: false };
    return standStill([
      { ...usual, stage: 'drafts', from: undefined, ...drafts },
      { ...usual, stage: 'finals', from: 'drafts', ...finals },
    ]);
  };
  it.each<[string, State, State, boolean]>([
    ['with the stage that they wait for', { state: 'interrupted' }, { waitsFor: 'source' }, true],
    ['if all have ended', { state: 'finished' }, { state: 'finished' }, true],
    ['if one waits for the user', { state: 'finished' }, { waitsFor: 'picks' }, true],
    ['behind a paused batch', { state: 'paused' }, { waitsFor: 'source' }, true],
    ['but not while its runs run', { state: 'paused', hasRuns: true }, { waitsFor: 'source' }, false],
    ['but not while one runs', { state: 'running' }, { waitsFor: 'source' }, false],
    ['but not if the source has just ended', { state: 'finished' }, { waitsFor: 'source' }, false],
  ])('%s', (_, drafts, finals, expected) => {
    expect(stand(drafts, finals)).toBe(expected);
  });
});
