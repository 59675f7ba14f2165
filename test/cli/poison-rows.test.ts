import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentsOf, Stage } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 8, runSeconds: 0.2 });

const ODD = '\u202Eright to left\u2066 \u200B zero 👩‍👩‍👧‍👦  \u2028 ﷽ Z\u0351\u036B\u0343';

/** What could hurt the rows beside it, and whether the service takes it. */
const ROWS: readonly (readonly [what: string, inputs: object, outcome: 'succeeded' | 'refused'])[] = [
  ['an honest one', { prompt: 'a portrait' }, 'succeeded'],
  ['an input that the service refuses', { prompt: 'x', runsheet_faults: 'no-such-fault' }, 'refused'],
  ['text of 2 MB', { prompt: 'x'.repeat(2 << 20) }, 'succeeded'],
  ['text from all corners of Unicode', { prompt: ODD }, 'succeeded'],
  ['a formula', { prompt: '=HYPERLINK("http://x.invalid","x")' }, 'succeeded'],
  ['a path', { prompt: '../../etc/passwd' }, 'succeeded'],
  ['a script', { prompt: '</script><script>document.title="x"</script>' }, 'succeeded'],
  ['an honest one after them', { prompt: 'another portrait' }, 'succeeded'],
];

describe('a row that could hurt others', () => {
  const stage = new Stage();
  let code: number | null;

  beforeAll(async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const lines = ROWS.map(([, inputs]) => `${JSON.stringify(inputs)}\n`);
    const sheet = stage.write('poison.jsonl', lines.join(''));
    ({ code } = await stage.run(['run', sheet, '-d', 'portraits', '-c', '8']));
  });
  afterAll(() => stage.close());

  it('fails alone, with the message of the service', () => {
    expect(code).toBe(3);
    expect(stage.results().map(({ outcome }) => outcome)).toEqual(ROWS.map(([, , outcome]) => outcome));
    expect(stage.results()[1]?.['reason']).toContain('body.inputs.runsheet_faults');
  });

  it('buys one run if it is accepted and none if it is refused', async () => {
    const runs = await stage.truth();
    expect(runs).toHaveLength(ROWS.filter(([, , outcome]) => outcome === 'succeeded').length);
    expect(runs.map(({ inputs }) => inputs?.['prompt'])).toContain('x'.repeat(2 << 20));
  });
});
