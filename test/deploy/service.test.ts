// The run service for several people: as a unit of systemd, in Kubernetes and with docker compose.

import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/host/settings/config.ts';
import { refusal } from '../console/commands-in.ts';
import { manifest, ROOT } from './manifests.ts';

const unit = readFileSync(join(ROOT, 'deploy/systemd/runsheet-service.service'), 'utf8');
const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
const [program = '', ...unitArgs] = valueOf('ExecStart').split(' ');

type Pod = {
  readonly enableServiceLinks: boolean;
  readonly securityContext: object;
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly securityContext: object;
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
  readonly volumes: readonly { readonly name: string }[];
};
const set = manifest('StatefulSet', 'runsheet-service') as {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
};
const pod = set.spec.template.spec;
const [container] = pod.containers;

const compose = (
  parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    readonly services: {
      readonly service: { readonly command: readonly string[]; readonly secrets: string[] };
    };
  }
).services.service;

const PLACES: readonly (readonly [string, readonly string[]])[] = [
  ['systemd', unitArgs],
  ['Kubernetes', container.args],
  ['docker compose', compose.command.flatMap((word) => word.replace(/\$\{\w+:-(.*)\}/, '$1').split('='))],
];
const flag = (args: readonly string[], name: string): string => args[args.indexOf(name) + 1] ?? '';

describe.each(PLACES)('the run service of %s', (_where, args) => {
  it('is started with a command that the program takes, with keys from a secret, an address, and what it keeps', async () => {
    expect(await refusal([...args])).toBeUndefined();
    expect(flag(args, '--token-file')).toMatch(/^(%d|\/run\/secrets(\/runsheet)?)\/service-keys$/);
    expect(flag(args, '--public-url')).toMatch(/^https?:\/\/[\w.:]+$/);
    expect(flag(args, '--db')).toMatch(/^(%S\/runsheet-service|\/state)\//);
    expect(flag(args, '--deployments')).toMatch(/\/workflows\/deployments\.json$/);
  });
});

describe('deploy/systemd/runsheet-service.service', () => {
  it('is for one user, who reads the keys as a credential of systemd and writes to one folder', () => {
    expect([program, valueOf('User'), valueOf('UMask')]).toEqual([
      '/usr/local/bin/runsheet',
      'runsheet',
      '0077',
    ]);
    expect(valueOf('LoadCredential')).toBe('service-keys:/etc/runsheet/service-keys');
    expect([valueOf('StateDirectory'), valueOf('StateDirectoryMode')]).toEqual(['runsheet-service', '0700']);
    expect(valueOf('ReadWritePaths')).toBe('');
  });
});

describe('deploy/kubernetes/codec', () => {
  const { spec } = manifest('Deployment', 'runsheet-codec') as { readonly spec: typeof set.spec };
  const { containers, volumes, securityContext, enableServiceLinks } = spec.template.spec;
  const [codec] = containers;

  it('is started with a command and a key that the program takes, on its port, with nothing of the Secret but the payload key', async () => {
    expect(await refusal([...codec.args])).toBeUndefined();
    const env = (codec as unknown as { readonly env: readonly { name: string; value: string }[] }).env;
    const { payload } = loadConfig(Object.fromEntries(env.map(({ name, value }) => [name, value])));
    const mounts = codec.volumeMounts.map(({ mountPath }) => mountPath);
    expect([dirname(payload.keysFile ?? ''), dirname(flag(codec.args, '--token-file'))]).toEqual(
      mounts.slice(0, 2),
    );
    expect(volumes[0]).toMatchObject({ secret: { items: [{ key: 'payload-key', path: 'payload-key' }] } });
    expect(flag(codec.args, '--listen')).toBe(`0.0.0.0:${codec.ports[0]?.containerPort}`);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect([enableServiceLinks, codec.securityContext]).toEqual([false, container.securityContext]);
  });

  it('is reached by the Ingress only, and reaches nothing', () => {
    const { labels } = spec.template.metadata;
    const service = manifest('Service', 'runsheet-codec') as { spec: { selector: object } };
    const network = manifest('NetworkPolicy', 'runsheet-codec') as {
      spec: { podSelector: { matchLabels: object }; policyTypes: string[]; egress?: unknown };
    };
    for (const selector of [
      spec.selector.matchLabels,
      service.spec.selector,
      network.spec.podSelector.matchLabels,
    ])
      expect(labels).toMatchObject(selector);
    expect([network.spec.policyTypes, network.spec.egress]).toEqual([['Ingress', 'Egress'], undefined]);
  });
});

describe('deploy/kubernetes/service', () => {
  it('is one pod, no root, which writes to its volume and /tmp only', () => {
    expect([set.spec.replicas, pod.enableServiceLinks]).toEqual([1, false]);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const volumes = [...pod.volumes, ...set.spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      volumes.map(({ name }) => name).toSorted(),
    );
  });

  it('names what exists: labels, ports and hosts', () => {
    const { labels } = set.spec.template.metadata;
    const service = manifest('Service', 'runsheet-service') as {
      spec: { selector: object; ports: object[] };
    };
    const ingress = manifest('Ingress', 'runsheet-service') as { spec: { rules: { host: string }[] } };
    const network = manifest('NetworkPolicy', 'runsheet-service') as {
      spec: {
        podSelector: { matchLabels: object };
        egress: readonly { to: readonly { ipBlock?: { cidr: string; except?: readonly string[] } }[] }[];
      };
    };
    for (const selector of [
      set.spec.selector.matchLabels,
      service.spec.selector,
      network.spec.podSelector.matchLabels,
    ])
      expect(labels).toMatchObject(selector);
    // The policy of workers must not be added to it.
    const workers = manifest('NetworkPolicy', 'runsheet') as typeof network;
    expect(labels).not.toMatchObject(workers.spec.podSelector.matchLabels);
    expect(service.spec.ports).toMatchObject([{ targetPort: 'http' }]);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(flag(container.args, '--port')) },
    ]);
    expect(ingress.spec.rules.map(({ host }) => `https://${host}`)).toEqual([
      flag(container.args, '--public-url'),
    ]);
    const closed = new BlockList();
    const [everywhere] = network.spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    for (const range of everywhere?.except ?? [])
      closed.addSubnet(range.split('/')[0] ?? '', Number(range.split('/')[1]));
    for (const address of ['169.254.169.254', '10.0.0.1', '192.168.1.1'])
      expect(closed.check(address)).toBe(true);
  });
});
