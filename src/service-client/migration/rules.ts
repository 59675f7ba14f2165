// Evaluates the specification's seven migration rules (V1 to V2) from collected facts, without requests.

import type { Outcome } from '../../batch/outcome.ts';
import { span } from '../../options/text/printed-numbers.ts';

/** The result of the verification run. Times are seconds. */
export type Check =
  | { readonly kind: 'left-out'; readonly why: 'asked' | 'v1' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unconfirmed'; readonly reason: string }
  | {
      readonly kind: 'ended';
      readonly runId: string;
      readonly outcome: Outcome;
      readonly reason?: string;
      readonly seconds: number;
    }
  | {
      readonly kind: 'abandoned';
      readonly runId: string;
      readonly seconds: number;
      readonly wasCancelled: boolean;
    };

export type Machine = { readonly version?: string | undefined; readonly type?: string | undefined };

export type MigrationFacts = {
  readonly base: string;
  readonly api: 'v1' | 'v2';
  /** Empty if no run names the machine. */
  readonly machine: Machine;
  readonly check: Check;
};

/** `yours`: no request can find out, so the user must know. */
export type Verdict = 'holds' | 'broken' | 'not-revealed' | 'not-checked' | 'does-not-apply' | 'yours';

export type RuleFinding = {
  /** The rule's number in the specification. */
  readonly rule: number;
  readonly about: string;
  readonly verdict: Verdict;
  readonly found: string;
  readonly todo?: string;
};

type Judged = Omit<RuleFinding, 'rule' | 'about'>;

const holds = (finding: string): Judged => ({ verdict: 'holds', found: finding });
const broken = (finding: string, todo?: string): Judged => ({
  verdict: 'broken',
  found: finding,
  ...(todo !== undefined && { todo }),
});
const notRevealed = (finding: string, todo: string): Judged => ({
  verdict: 'not-revealed',
  found: finding,
  todo,
});
const doesNotApply = (finding: string): Judged => ({ verdict: 'does-not-apply', found: finding });

const NODE_WANTED = 'v2.1.0';

const WANTED = [2, 1, 0] as const;
const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(-[0-9a-z.-]+)?(?:\+.*)?$/i;

/** undefined if the text is not a version. A pre-release comes before its release. */
export function isNewEnough(version = ''): boolean | undefined {
  const [whole, major, minor, patch = '0', early] = VERSION.exec(version.trim()) ?? [];
  if (whole === undefined) return undefined;
  const parts = [major, minor, patch].map(Number);
  const at = WANTED.findIndex((wanted, index) => parts[index] !== wanted);
  return at === -1 ? early === undefined : (parts[at] ?? 0) > (WANTED[at] ?? 0);
}

const RULES: readonly (readonly [about: string, judge: (facts: MigrationFacts) => Judged])[] = [
  ['base address', baseAddress],
  ['node component', nodeComponent],
  ['hosted machines', hostedMachines],
  ['provider machines', providerMachines],
  ['verification run', verificationRun],
  ['15 April', lastDay],
  ['client SDKs', clientSdks],
];

/** The seven rules, in their order. */
export const judge = (facts: MigrationFacts): readonly RuleFinding[] =>
  RULES.map(([about, judgeRule], index) => ({ rule: index + 1, about, ...judgeRule(facts) }));

export const isSound = (findings: readonly RuleFinding[]): boolean =>
  findings.every(({ verdict }) => verdict !== 'broken');

function baseAddress({ api, base }: MigrationFacts): Judged {
  if (api === 'v2') return holds(`V2 answers at ${base}`);
  const todo = 'use the V2 base address instead, here (RUNSHEET_API_URL) and in every other client';
  return broken(`V1 answers at ${base}`, todo);
}

const unknown = ({ check }: MigrationFacts, what: string): string =>
  check.kind === 'ended' || check.kind === 'abandoned'
    ? `the run does not show ${what}`
    : `without a run, ${what} is unknown`;

function nodeComponent(facts: MigrationFacts): Judged {
  const { version } = facts.machine;
  const wanted = `it needs ${NODE_WANTED} or newer`;
  const isFine = isNewEnough(version);
  if (isFine === true) return holds(`${version}; ${wanted}`);
  if (isFine === false)
    return broken(
      `${version}; ${wanted}`,
      `update the node component on the machine to ${NODE_WANTED} or newer`,
    );
  const finding = version === undefined ? unknown(facts, 'the version') : `"${version}" is not a version`;
  return notRevealed(finding, `check the machine: ${wanted}`);
}

/** The owner of a run's machine; undefined if the type is ambiguous. */
function ownerOf({ machine: { type } }: MigrationFacts): 'service' | 'provider' | 'user' | undefined {
  if (/^(?:[a-z]+-deploy-)?serverless$|^workspace(?:-v2)?$/.test(type ?? '')) return 'service';
  if (/^(?:runpod|provider)-serverless$/.test(type ?? '')) return 'provider';
  return type === 'classic' ? 'user' : undefined;
}

const WHOSE = {
  service: "the machine is the service's own",
  provider: "the machine is a third-party provider's",
  user: "the machine is the user's own",
};

function machineTypeText(facts: MigrationFacts): string {
  const { type } = facts.machine;
  return type === undefined ? unknown(facts, 'the owner of the machine') : `the machine type is "${type}"`;
}

function hostedMachines(facts: MigrationFacts): Judged {
  const owner = ownerOf(facts);
  if (owner === 'service') return holds(`${WHOSE.service}: nothing to do`);
  if (owner !== undefined) return doesNotApply(WHOSE[owner]);
  return notRevealed(machineTypeText(facts), "with the service's own hosted machines, nothing");
}

const UPDATE_IMAGE = `update the configuration of your worker image to node ${NODE_WANTED} or newer; you must update it yourself`;

function providerMachines(facts: MigrationFacts): Judged {
  const owner = ownerOf(facts);
  if (owner === undefined)
    return notRevealed(
      machineTypeText(facts),
      `with machines of a third-party GPU provider: ${UPDATE_IMAGE}`,
    );
  if (owner !== 'provider') return doesNotApply(WHOSE[owner]);
  const { version } = facts.machine;
  const isFine = isNewEnough(version);
  const finding = `the worker image has node ${version}`;
  if (isFine === undefined)
    return notRevealed(`${WHOSE.provider}, whose node version is not shown`, UPDATE_IMAGE);
  return isFine ? holds(finding) : broken(finding, UPDATE_IMAGE);
}

function verificationRun({ check }: MigrationFacts): Judged {
  switch (check.kind) {
    case 'left-out':
      return check.why === 'v1'
        ? { verdict: 'not-checked', found: 'V1 has no flags; no run was bought', todo: AGAIN_ON_V2 }
        : { verdict: 'not-checked', found: '--no-run: no run was bought' };
    case 'refused':
      return broken(`no run was made: ${check.reason}`);
    case 'unconfirmed':
      return broken(
        `a run may have been bought, but no answer arrived: ${check.reason}`,
        'look for the run on the service, then check again',
      );
    case 'abandoned': {
      const state = check.wasCancelled ? 'it was cancelled' : 'it is still running';
      return broken(
        `run ${check.runId} had not ended after ${span(check.seconds)}`,
        `${state}; check its machine`,
      );
    }
    case 'ended':
      return judgeEnd(check);
  }
}

const AGAIN_ON_V2 = 'check again with the V2 base address';

function judgeEnd({ runId, outcome, reason, seconds }: Extract<Check, { kind: 'ended' }>): Judged {
  if (outcome === 'succeeded') return holds(`run ${runId} with the flag succeeded after ${span(seconds)}`);
  return broken(
    `run ${runId} ended ${outcome}${reason === undefined ? '' : `: ${reason}`}`,
    "the reason is in the run's logs at the service",
  );
}

function lastDay(facts: MigrationFacts): Judged {
  const owner = ownerOf(facts);
  const { version } = facts.machine;
  const isFine = isNewEnough(version);
  if (isFine === false)
    return broken(`nodes as old as ${version} stop working after 15 April`, 'update before that day');
  if (owner === 'service' || owner === 'user') return doesNotApply(WHOSE[owner]);
  if (facts.api === 'v2' && owner === 'provider' && isFine)
    return holds('on V2 with a new node, nothing stops on that day');
  return notRevealed(
    'runsheet cannot see whether you use an old node of a third-party provider',
    'such machines must be on V2 with a new node by then: old nodes stop working after 15 April',
  );
}

function clientSdks(): Judged {
  return {
    verdict: 'yours',
    found: 'runsheet uses none of the SDKs',
    todo: 'update those of your other programs to their latest versions; the ones for Python and Ruby are not maintained',
  };
}
