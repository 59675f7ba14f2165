// The flags of the local run service.

import { fail } from './flag-kinds.ts';
import { boolean, choice, optional, output, parsed, port, repeatable, textFlag, wholeFlag } from './flags.ts';

const number = wholeFlag(0);
/** At a higher speed a second takes less time than the clock can measure. */
const SPEED_MOST = 10_000;

const factorNumber = parsed((input): number => {
  const value = Number(input);
  return value > 0 && value <= SPEED_MOST
    ? value
    : fail(`is not a number above 0, up to ${SPEED_MOST.toLocaleString('en-US')}`);
});

/** How to start the local run service. */
export const serviceFlags = {
  port: { ...port('port', 'port on the loopback interface; 0 chooses a free one'), default: '0' },
  tokenFile: optional(
    textFlag('file', 'file with the accepted API keys, one per line (default: one random key)'),
  ),
  token: { ...repeatable(textFlag('key', 'refused: use --token-file')), hidden: true },
  speed: { ...factorNumber('x', 'run x times as fast: every waiting time is divided by x'), default: '1' },
  db: { ...textFlag('file', 'database file; :memory: keeps nothing'), default: ':memory:' },
  deployments: optional(
    textFlag('file', 'JSON file of deployments and their machines (default: demo deployments)'),
  ),
  fault: repeatable(textFlag('name=rate', 'inject this fault at a rate from 0 to 1, such as busy=0.03')),
  behaviour: choice(
    ['specification', 'vendor'],
    'specification',
    'which to follow where specification and vendor differ',
  ),
  only: {
    kind: 'enum',
    values: ['v1'],
    optional: true,
    brief: 'serve the V1 API only, as before a migration',
  },
  webhooksAnywhere: boolean('call webhooks on other machines too'),
  seed: { ...number('n', 'seed of the random faults and run times'), default: '1' },
  embedded: { ...boolean('run as a child of the embedded servers'), hidden: true },
  output,
} as const;
