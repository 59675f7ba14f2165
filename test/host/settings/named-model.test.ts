import { expect, it } from 'vitest';
import { namedModel } from '../../../src/host/settings/named-model.ts';

const read = (text: string): unknown =>
  namedModel(text, { place: '--model', write: (name) => `--model ${name}` });

it('a Cog container is named by its address, with or without http', () => {
  expect(read('cog:127.0.0.1:5000')).toEqual({ vendor: 'cog', model: 'http://127.0.0.1:5000' });
  expect(read('cog:https://gpu-1.example/cog')).toEqual({
    vendor: 'cog',
    model: 'https://gpu-1.example/cog',
  });
});

it('a Cog container with a price, or without an address, is refused with the right name', () => {
  const hinted = (text: string): unknown => {
    try {
      return read(text);
    } catch (error) {
      return (error as { readonly hint?: string }).hint;
    }
  };
  expect(hinted('0.1/run=cog:gpu-1:5000')).toBe('--model cog:http://gpu-1:5000');
  expect(hinted('cog:owner/name')).toBe('--model cog:http://127.0.0.1:5000');
});
