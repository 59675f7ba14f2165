import { describe, expect, it } from 'vitest';
import { withCommand } from '../../src/cli/flags/correction.ts';
import { problem, type Correction, type RunsheetError } from '../../src/errors/error.ts';

const corrected = (command: string, correction: Correction): string | undefined => {
  const error = problem('E602', { what: 'it is wrong' }, { correction });
  return (withCommand(error, command.split(' ')) as RunsheetError).hint?.trim();
};

describe('a corrected command', () => {
  const deployment = { wrong: 'portrait', right: 'portrait-v3' };

  it('leaves values that are sent, and names, as they are', () => {
    const own = '--name portrait --set prompt=woman,portrait --where key=portrait --reason=portrait';
    expect(corrected(`run s.csv -d portrait ${own}`, deployment)).toBe(
      `runsheet run s.csv -d portrait-v3 ${own}`,
    );
  });

  it('leaves the sheet alone if the wrong word is the value of a flag', () =>
    expect(corrected('run portrait -d portrait', deployment)).toBe('runsheet run portrait -d portrait-v3'));

  it('has another sheet if that is wrong', () =>
    expect(corrected('run promts.csv -d x', { wrong: 'promts.csv', right: 'prompts.csv' })).toBe(
      'runsheet run prompts.csv -d x',
    ));

  it('has another word in a list', () =>
    expect(corrected('run s.csv --ladder T4,A10', { wrong: 'A10', right: 'A10G' })).toBe(
      'runsheet run s.csv --ladder T4,A10G',
    ));
});
