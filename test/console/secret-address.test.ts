import { expect, it } from 'vitest';
import { onTerminal } from '../../src/cli/context.ts';

it('the secret end of an address is printed on a terminal only, not into a file', () => {
  const at = (isTTY: boolean, address?: string) =>
    onTerminal({ process: { stdout: { isTTY } } } as never, address);
  expect(at(true, 'http://127.0.0.1:1/open/secret')).toBe('http://127.0.0.1:1/open/secret');
  expect(at(false, 'http://127.0.0.1:1/open/secret')).toMatch(/^http:\/\/127\.0\.0\.1:1\/open\/… \(whole on/);
  expect(at(false)).toBe('none');
});
