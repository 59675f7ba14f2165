import { expect, it, onTestFinished } from 'vitest';
import { request } from 'undici';
import { errorMessage } from '../../src/errors/error.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { makeAuthority, openTls } from '../stage/proxy.ts';
import { serveForTest } from '../stage/serve.ts';

const failure = (port: number): Promise<string> =>
  request(`https://localhost:${port}`).then(() => 'none', errorMessage);

it('a certificate that is not trusted is explained with a setting of ours, once', async () => {
  const tls = await openTls(makeAuthority(freshFolder(), 'localhost'), 1);
  onTestFinished(tls.close);
  const message = await failure(tls.port);
  expect(message).toMatch(
    /does not trust: self-signed certificate; if its authority is yours, set NODE_EXTRA/,
  );
  expect(message).toMatch(/\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  expect(errorMessage(new Error(message))).toBe(message);
});

it.each([
  'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
  'unable to get local issuer certificate',
  'self-signed certificate in certificate chain',
])('so is: %s', (message) => {
  expect(errorMessage(new Error(message))).toMatch(
    /^its certificate is one .* trust: .*NODE_EXTRA_CA_CERTS=/,
  );
  expect(errorMessage(new Error(message))).not.toContain('Node.js');
});

it('a server without TLS is explained without lines of OpenSSL', async () => {
  const { port } = await serveForTest((_, response) => void response.end());
  expect(await failure(port)).toBe('TLS failed: wrong version number (ERR_SSL_WRONG_VERSION_NUMBER)');
});
