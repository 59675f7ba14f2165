import { expect, it } from 'vitest';
import { Console } from './console.ts';

it('a program that reads the JSON of a plan has all digits of a seed', async () => {
  const console = await Console.open();
  const sheet = console.write('seeds.csv', 'prompt,seed\na fox,18446744073709551615\n');
  const { stdout } = await console.run('plan', sheet, '-d', 'portraits', '-o', 'json');
  const { requests } = JSON.parse(stdout) as { readonly requests: readonly string[] };
  expect(requests[0]).toContain('"seed":18446744073709551615');
});
