// Inputs that a row gets when it is sent again.

import { describe, expect, it } from 'vitest';
import { isRunsheetError } from '../../src/errors/error.ts';
import { bothChanges, changedInputs, changeFrom } from '../../src/sheet/input-change.ts';
import type { InputFiles } from '../../src/sheet/input-files.ts';

const TYPES = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'seed', type: 'int', required: false, min: 0 },
  { name: 'style', type: 'enum', required: false, options: ['flat', 'oil'] },
  { name: 'photo', type: 'image', required: false, default: 'example.png' },
] as never;

const NO_FILES: InputFiles = {
  read: () => undefined,
  valueOf: (path) => ({ what: `there is no ${path}`, hint: '', isAbsent: true }),
  taken: () => {},
  atServer: () => {},
};

const from = (given: Record<string, string>, types = TYPES) => changeFrom(given, {}, types, NO_FILES);
const refusal = async (given: Record<string, string>): Promise<string> => {
  try {
    await from(given);
    return 'accepted';
  } catch (error) {
    if (!isRunsheetError(error, 'E602')) throw error;
    return `${error.message} ${error.hint}`;
  }
};

describe('the inputs of --set', () => {
  it('have the types of the deployment and keep every digit', async () => {
    const { set, unset } = await from({ seed: '18446744073709551615', prompt: '7', style: '' });
    expect([JSON.stringify(set), unset]).toEqual(['{"seed":18446744073709551615,"prompt":"7"}', ['style']]);
  });

  it('are addresses of files', async () => {
    const { set } = await from({ photo: ' https://a.example/fox.png' });
    expect(set).toEqual({ photo: 'https://a.example/fox.png' });
  });

  it('name a file of the server if the workflow does so by default, and no other one', async () => {
    expect((await from({ photo: 'example.png' })).set).toEqual({ photo: 'example.png' });
    expect(await refusal({ photo: 'other.png' })).toContain('there is no other.png');
  });

  it('have the types of the batch if the service does not tell them', async () => {
    const kinds = { prompt: 'string', seed: 'auto', other: 'int' } as const;
    expect(await changeFrom({ prompt: '7', seed: '7' }, kinds, undefined, NO_FILES)).toEqual({
      set: { prompt: '7', seed: 7 },
    });
  });

  it.each([
    [{ promt: 'a' }, 'did you mean prompt?'],
    [{ seed: 'x' }, 'the value is not an integer'],
    [{ seed: '-1' }, 'the value is too small'],
    [{ style: 'oi' }, 'allowed: flat oil'],
    [{ prompt: '' }, 'the deployment requires this input'],
    [{ photo: 'fox.png' }, 'there is no fox.png'],
  ])('are refused if they are wrong: %j', async (given, text) => {
    expect(await refusal(given as unknown as Record<string, string>)).toContain(text);
  });
});

describe('changed inputs', () => {
  it('are in canonical order, whichever change came first', () => {
    const first = { set: { zoom: 1, style: 'oil' }, unset: ['seed'] };
    const second = { set: { seed: 9 }, unset: ['style'] };
    const both = bothChanges(first, second);
    expect(both).toEqual({ set: { zoom: 1, seed: 9 }, unset: ['style'] });
    const changed = changedInputs({ prompt: 'a', seed: 1 }, both);
    expect(JSON.stringify(changed)).toBe('{"prompt":"a","seed":9,"zoom":1}');
    expect(changedInputs(changedInputs({ prompt: 'a', seed: 1 }, first), second)).toEqual(changed);
  });

  it('are the sheet’s own without a change', () => {
    const inputs = { prompt: 'a' };
    expect(changedInputs(inputs, bothChanges(undefined, undefined))).toBe(inputs);
  });
});
