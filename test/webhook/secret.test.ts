// The secret that signs webhook addresses: with an empty one anyone could sign.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { webhookSecret } from '../../src/webhook/webhook-secret.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('a webhook secret from a file', () => {
  const withFile = (content: string | undefined) => {
    const home = freshFolder();
    const secretFile = join(home, 'secret');
    if (content !== undefined) writeFileSync(secretFile, content);
    return () =>
      webhookSecret({ home, webhook: { url: undefined, listen: undefined, secret: undefined, secretFile } });
  };

  it.each([
    ['that is empty', ' \n', /RUNSHEET_WEBHOOK_SECRET_FILE \(.*\) cannot be used: it is empty/],
    [
      'that does not exist',
      undefined,
      /RUNSHEET_WEBHOOK_SECRET_FILE \(.*\) cannot be used: there is no such file/,
    ],
  ])('%s is refused', (_, content, message) => {
    const read = withFile(content);
    expect(read).toThrow(expect.objectContaining({ code: 'E602', message: expect.stringMatching(message) }));
  });

  it('is trimmed', () => {
    expect(withFile(' a-secret-of-some-length\n')()).toBe('a-secret-of-some-length');
  });
});
