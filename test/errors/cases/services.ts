// Errors of the run service and of its settings that `plan` meets.

import type { Console } from '../../console/console.ts';
import type { OtherServices } from '../other-services.ts';
import type { Provocation } from '../provocation.ts';

const plan = (...flags: readonly string[]): readonly string[] => [
  'plan',
  'ok.csv',
  '-d',
  'portraits',
  ...flags,
];
const arrange = (console: Console): void => void console.write('ok.csv', 'prompt\na\n');
const NO_SERVER = 'http://127.0.0.1:1/api';

/** `others` are services that answer otherwise. */
export const servicesWith = (services: OtherServices): readonly Provocation<Console>[] => {
  const at = (name: string) => ({ RUNSHEET_API_URL: services.at(name) });
  return [
    {
      code: 'E301',
      name: 'the service does not know the key',
      arrange,
      args: plan(),
      env: { RUNSHEET_API_KEY: 'wrong-key-0123456789' },
      says: /read from RUNSHEET_API_KEY and ends in …6789; put a valid key there/,
    },
    {
      code: 'E614',
      name: 'no ComfyUI answers at the address of a GPU server',
      args: ['service', '--comfyui', 'http://127.0.0.1:1'],
      says: /start it \(python main\.py --listen\), or give the address at which it answers/,
    },
    ...unusable(services),
    {
      code: 'E302',
      name: 'a deployment with an umlaut and quotes is misspelt',
      arrange,
      args: ['plan', 'ok.csv', '-d', 'Portäts fur "alle"'],
      leads: [0],
    },
    {
      code: 'E302',
      name: 'two deployments have one name',
      arrange,
      args: plan(),
      env: at('twofold'),
      says: /several deployments "portraits"; name one by its id[^]*deployments: 0d2ab3c4-[-\w]+, 1d2ab3c4-/,
    },
    {
      code: 'E302',
      name: 'the service has no deployment',
      arrange,
      args: plan(),
      env: at('empty'),
      says: /that service has no deployments/,
    },
    {
      code: 'E303',
      name: 'the service has no list of deployments',
      arrange,
      args: plan(),
      env: at('listless'),
      says: /pass the deployment id, a UUID: -d <id>/,
    },
    {
      code: 'E304',
      name: 'nothing listens at the address',
      arrange,
      args: plan('--retries', '0'),
      env: { RUNSHEET_API_URL: NO_SERVER },
      leads: [/run service +the run service at http:\/\/127\.0\.0\.1:1\/api cannot be reached/],
    },
    {
      code: 'E306',
      name: 'no key is set',
      arrange,
      args: plan(),
      env: { RUNSHEET_API_KEY: '' },
      says: /set RUNSHEET_API_KEY, or RUNSHEET_API_KEY_FILE/,
    },
    {
      code: 'E307',
      name: 'another program answers at the address',
      arrange,
      args: plan(),
      env: at('unknown'),
      says: /base address with its path, such as https:\/\/…\/api/,
    },
    {
      code: 'E308',
      name: 'the service speaks V2, and V1 was given',
      arrange,
      args: plan('--api', 'v1'),
      leads: [0],
    },
    {
      code: 'E308',
      name: 'the service speaks V2, and the settings say V1',
      arrange,
      args: plan(),
      env: { RUNSHEET_API: 'v1' },
      leads: [0],
    },
    {
      code: 'E309',
      name: 'the key has a line break',
      arrange,
      args: plan(),
      env: { RUNSHEET_API_KEY: 'sk-0123\n4567' },
      says: /the key, which is one line of printable ASCII characters/,
    },
    {
      code: 'E310',
      name: 'the list of deployments is a page',
      arrange,
      args: plan(),
      env: at('garbage'),
      leads: [/run service +.*(?:E310|unexpected response|responds, but not as a run service)/],
    },
    {
      code: 'E311',
      name: 'the deployment has a limit below zero',
      arrange,
      args: plan(),
      env: at('no-limit'),
      leads: [0],
    },
    {
      code: 'E311',
      name: 'the deployment has no time for a run',
      arrange,
      args: plan(),
      env: at('no-time'),
      says: /add the longest time that a run may take, for example: --run-timeout 30m/,
    },
    {
      code: 'E312',
      name: 'a run may take any time',
      arrange,
      args: plan('--max-cost', '3'),
      env: at('unbounded'),
      says: /--run-timeout <time>, such as 30m/,
    },
    {
      code: 'E313',
      name: 'the service does not list its deployments',
      args: ['deployments'],
      env: at('listless'),
      says: /by its id, a UUID/,
    },
  ];
};

/** Answers at the address of a GPU server that are not from a ComfyUI. */
function unusable({ gpu, secured }: OtherServices): readonly Provocation<Console>[] {
  const wrong = (name: string, url: string, says: RegExp): Provocation<Console> => ({
    code: 'E614',
    name,
    args: ['service', '--comfyui', url],
    says,
  });
  return [
    wrong('a GPU server wants a login', gpu('wants-login'), /--comfyui-headers headers\.txt/),
    wrong('a GPU server forbids it', gpu('forbids'), /--comfyui-headers headers\.txt/),
    wrong('a page to sign in answers', gpu('sign-in-page'), /address behind that page/),
    wrong('a GPU server redirects to a login', gpu('sends-elsewhere'), /address behind that page/),
    wrong('nobody trusts its certificate', secured, /export NODE_EXTRA_CA_CERTS=/),
    wrong('a GPU server speaks https', secured.replace('https:', 'http:'), /--comfyui https:\/\/localhost:/),
    wrong(
      'a GPU server speaks http',
      gpu('forbids').replace('http:', 'https:'),
      /--comfyui http:\/\/127\.0\.0\.1:/,
    ),
    wrong('a Comfy API is given as a ComfyUI', gpu('is-an-api'), /--comfy-api http:.*--comfy-api-key-file/),
  ];
}
