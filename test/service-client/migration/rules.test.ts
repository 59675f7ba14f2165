import { describe, expect, it } from 'vitest';
import {
  isNewEnough,
  isSound,
  judge,
  type MigrationFacts,
  type Verdict,
} from '../../../src/service-client/migration/rules.ts';

const RUN = '0b3f1c1e-5a55-4c0e-9d3e-6a8f0f2f7a11';
const SUCCEEDED = { kind: 'ended', runId: RUN, outcome: 'succeeded', seconds: 12 } as const;
const facts = (more: Partial<MigrationFacts> = {}): MigrationFacts => ({
  base: 'https://runs.example/api',
  api: 'v2',
  machine: { version: 'v2.3.10', type: 'serverless' },
  check: SUCCEEDED,
  ...more,
});
const verdicts = (migration: MigrationFacts): readonly Verdict[] =>
  judge(migration).map(({ verdict }) => verdict);
const V1 = { api: 'v1', machine: {}, check: { kind: 'left-out', why: 'v1' } } as const;
const provider = (version?: string) => ({ machine: { version, type: 'provider-serverless' } });

const [H, B, R, C, N, Y] = [
  'holds',
  'broken',
  'not-revealed',
  'not-checked',
  'does-not-apply',
  'yours',
] as const;

describe('the seven rules of the migration', () => {
  it.each<readonly [string, Partial<MigrationFacts>, readonly Verdict[]]>([
    ['a hosted machine on V2', {}, [H, H, H, N, H, N, Y]],
    [
      'a hosted machine with an old node',
      { machine: { version: 'v2.0.9', type: 'serverless' } },
      [H, B, H, N, H, B, Y],
    ],
    ['a hosted machine without a node version', { machine: { type: 'serverless' } }, [H, R, H, N, H, N, Y]],
    ['a provider’s machine with a new node', provider('v2.1.0'), [H, H, N, H, H, H, Y]],
    ['a provider’s machine with an old node', provider('2.0.0'), [H, B, N, B, H, B, Y]],
    ['a provider’s machine without a node version', provider(), [H, R, N, R, H, R, Y]],
    [
      'a machine of the user’s own',
      { machine: { version: 'v2.3.10', type: 'classic' } },
      [H, H, N, N, H, N, Y],
    ],
    ['a machine without any facts, like some of the real service', { machine: {} }, [H, R, R, R, H, R, Y]],
    [
      'a type that may be anybody’s',
      { machine: { version: 'v2.3.10', type: 'modal-serverless' } },
      [H, H, R, R, H, R, Y],
    ],
    [
      'a node that is no version',
      { machine: { version: 'main', type: 'serverless' } },
      [H, R, H, N, H, N, Y],
    ],
    ['V1', V1, [B, R, R, R, C, R, Y]],
    ['no verification run', { check: { kind: 'left-out', why: 'asked' } }, [H, H, H, N, C, N, Y]],
    ['a run that failed', { check: { ...SUCCEEDED, outcome: 'failed' } }, [H, H, H, N, B, N, Y]],
    [
      'a run that was refused',
      { check: { kind: 'refused', reason: '422' }, machine: {} },
      [H, R, R, R, B, R, Y],
    ],
    [
      'a lost answer',
      { check: { kind: 'unconfirmed', reason: 'reset' }, machine: {} },
      [H, R, R, R, B, R, Y],
    ],
    [
      'a run that did not end',
      { check: { kind: 'abandoned', runId: RUN, seconds: 960, wasCancelled: true } },
      [H, H, H, N, B, N, Y],
    ],
  ])('are judged for %s', (_, more, expected) => {
    expect(verdicts(facts(more))).toEqual(expected);
    expect(isSound(judge(facts(more)))).toBe(!expected.includes('broken'));
  });

  it('are numbered as in the specification', () => {
    expect(judge(facts()).map(({ rule }) => rule)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('name an action for every rule that is broken, not revealed, or must be checked by the user', () => {
    const cases = [V1, provider('v2.0.0'), provider(), { machine: {} }].map((more) => facts(more));
    const open = cases
      .flatMap(judge)
      .filter(({ verdict }) => verdict !== 'holds' && verdict !== 'does-not-apply');
    expect(open.length).toBeGreaterThan(10);
    expect(open.filter(({ todo }) => todo === undefined)).toEqual([]);
  });

  it('name the worker image to users of a provider, and nothing to users of hosted machines', () => {
    const image = judge(facts(provider('v2.0.0'))).find(({ rule }) => rule === 4);
    expect(image?.todo).toContain('worker image to node v2.1.0 or newer');
    const hosted = judge(facts()).find(({ rule }) => rule === 3);
    expect([hosted?.found, hosted?.todo]).toEqual([expect.stringContaining('nothing to do'), undefined]);
  });

  it('distinguish a run that shows no version from a missing run', () => {
    const findingOf = (more: Partial<MigrationFacts>): string =>
      judge(facts({ machine: {}, ...more }))[1]?.found ?? '';
    expect(findingOf({})).toBe('the run does not show the version');
    expect(findingOf(V1)).toBe('without a run, the version is unknown');
  });
});

describe('a node version', () => {
  it.each([
    ['v2.1.0', true],
    ['2.1.0', true],
    ['v2.1', true],
    ['v2.1.1', true],
    ['v2.10.0', true],
    ['v3.0.0', true],
    ['v10.0.0', true],
    ['v2.1.0+build.5', true],
    ['v2.2.0-beta', true],
    ['v2.1.0-rc.1', false],
    ['v2.0.99', false],
    ['v1.99.99', false],
    ['v0.2.1', false],
    ['', undefined],
    ['98c1aca', undefined],
    ['latest', undefined],
    ['v2', undefined],
  ])('%s is at least v2.1.0: %s', (version, isFine) => {
    expect(isNewEnough(version)).toBe(isFine);
  });
});
