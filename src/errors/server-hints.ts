// The reasons why a GPU server cannot be used, each with its remedy.

import { shellWord } from './outside-text.ts';

export type UnusableServer =
  | 'refused'
  | 'sign-in'
  | 'certificate'
  | 'speaks-http'
  | 'speaks-https'
  | 'comfy-api'
  | 'vendor'
  | 'vendor-key';

export type ServerHintFacts = {
  readonly url: string;
  readonly reason: string;
  readonly why?: UnusableServer;
  /** The variable that has the key of a vendor. */
  readonly variable?: string | undefined;
};

const otherScheme = (url: string): string =>
  url.startsWith('https:') ? url.replace('https:', 'http:') : url.replace('http:', 'https:');

const TEXTS: Readonly<
  Partial<Record<UnusableServer, (facts: ServerHintFacts) => readonly [string, string]>>
> = {
  refused: ({ url, reason }) => [
    `${url} refuses requests without a login: ${reason}`,
    'write the header that it wants into a file, such as "Authorization: Bearer …" or "Authorization: Basic …", and add: --comfyui-headers headers.txt',
  ],
  'sign-in': ({ url, reason }) => [
    `${url} answers with a page for people, such as one to sign in: ${reason}`,
    'give the address behind that page, or write the header of a signed-in program into a file, such as "Cookie: …", and add: --comfyui-headers headers.txt',
  ],
  certificate: ({ url, reason }) => [
    `the certificate of ${url} is not trusted: ${reason}`,
    'if you trust the authority that signed it: export NODE_EXTRA_CA_CERTS=/path/of/ca.pem, and repeat the command once no other command of runsheet runs',
  ],
  'speaks-http': ({ url, reason }) => [
    `${url} speaks http and not https: ${reason}`,
    `give its address with http: --comfyui ${shellWord(otherScheme(url))}`,
  ],
  'speaks-https': ({ url, reason }) => [
    `${url} speaks https and not http: ${reason}`,
    `give its address with https: --comfyui ${shellWord(otherScheme(url))}`,
  ],
  'comfy-api': ({ url, reason }) => [
    `${url} is a Comfy API and no ComfyUI: ${reason}`,
    `give it as one, with the file of its key if it wants one: --comfy-api ${shellWord(url)} --comfy-api-key-file key.txt`,
  ],
  vendor: ({ url, reason }) => [`${url} does not answer: ${reason}`, 'repeat the command later'],
  'vendor-key': ({ url, reason, variable }) => [
    `${url} refuses the key: ${reason}`,
    `copy a key from your account there: write it alone into a file, and add: --key-file key.txt${variable === undefined ? '' : `; or set ${variable}`}`,
  ],
};

const silent = ({ url, reason }: ServerHintFacts): readonly [string, string] => [
  `no ComfyUI answers at ${url}: ${reason}`,
  'start it (python main.py --listen), or give the address at which it answers: --comfyui http://HOST:8188',
];

export const unusableText = (facts: ServerHintFacts): readonly [string, string] => {
  const text = facts.why === undefined ? undefined : TEXTS[facts.why];
  return (text ?? silent)(facts);
};
