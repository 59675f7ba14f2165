// The manifests against the schemas of Kubernetes and KEDA, and against what the program takes.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as keda from '@kubernetes-models/keda/keda.sh/v1alpha1';
import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig, VARIABLES } from '../../src/host/settings/config.ts';
import { version } from '../../src/host/package-version.ts';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { DEFAULT_TIMING } from '../../src/batch/params.ts';
import { filesQueueOf, TASK_QUEUE, workQueueOf } from '../../workflows/task-queues.ts';
import { refusal } from '../console/commands-in.ts';
import { manifest, manifests, plain, ROOT, type Manifest } from './manifests.ts';

/** Where the classes and types of each API version are. */
const MODULES: Readonly<Record<string, readonly [path: string, module: object]>> = {
  v1: ['kubernetes-models/v1', core],
  'apps/v1': ['kubernetes-models/apps/v1', apps],
  'autoscaling/v2': ['kubernetes-models/autoscaling/v2', autoscaling],
  'networking.k8s.io/v1': ['kubernetes-models/networking.k8s.io/v1', networking],
  'policy/v1': ['kubernetes-models/policy/v1', policy],
  'keda.sh/v1alpha1': ['@kubernetes-models/keda/keda.sh/v1alpha1', keda],
};
type Model = new (data: object) => { validate(): void };

const objects = manifests.filter(
  ({ kind, apiVersion }) =>
    kind !== 'Kustomization' && kind !== 'Component' && !apiVersion.startsWith('temporal.io/'),
);
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

type Container = {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: unknown;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [probe: string]: unknown;
};
type Rule = {
  readonly ports: readonly { readonly port: string | number }[];
  readonly to: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  }[];
};
type Policy = {
  readonly podSelector: { readonly matchLabels: object };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly Rule[];
  readonly egress: readonly Rule[];
};
type Deployment = {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly emptyDir?: { readonly sizeLimit?: string };
        }[];
        readonly terminationGracePeriodSeconds: number;
        readonly enableServiceLinks: boolean;
        readonly securityContext: object;
      };
    };
  };
};
const { data } = manifest('ConfigMap', 'runsheet') as { readonly data: Readonly<Record<string, string>> };
const members = ['runsheet-worker', 'runsheet-receiver'].map((name) => {
  const { spec } = manifest('Deployment', name) as Deployment;
  const [container] = spec.template.spec.containers;
  const own = Object.fromEntries((container.env ?? []).map(({ name: variable, value }) => [variable, value]));
  return { name, spec, pod: spec.template.spec, container, environment: { ...data, ...own } };
});

/** The steps at the head of the first file. */
const [SETUP = ''] = readFileSync(join(ROOT, 'deploy/kubernetes/kustomization.yaml'), 'utf8').split(
  'apiVersion',
);
const kustomized = (folder: string): string =>
  execFileSync('kubectl', ['kustomize', folder], { cwd: ROOT, encoding: 'utf8' });

describe('deploy/kubernetes', () => {
  it.each(objects.map((object) => [nameOf(object), object] as const))('%s fits its schema', (_, object) => {
    const [, module = {}] = MODULES[object.apiVersion] ?? [];
    const Class = (module as Readonly<Record<string, Model>>)[object.kind];
    if (Class === undefined) throw new Error(`there is no schema of ${object.apiVersion} ${object.kind}`);
    expect(() => new Class(plain(object)).validate()).not.toThrow();
  });

  // The schemas take unknown fields, as the server does with a warning; the types do not.
  it('has no field that Kubernetes does not know', () => {
    const folder = join(ROOT, 'node_modules/.cache/runsheet');
    mkdirSync(folder, { recursive: true });
    const own = mkdtempSync(join(folder, 'manifests-'));
    const lines = objects.map((object, at) => {
      const [path = ''] = MODULES[object.apiVersion] ?? [];
      return `export const a${at}: import(${JSON.stringify(path)}).I${object.kind} = ${JSON.stringify(plain(object))};`;
    });
    writeFileSync(join(own, 'manifests.ts'), lines.join('\n'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, [...flags, join(own, 'manifests.ts')], { encoding: 'utf8' });
    rmSync(own, { recursive: true });
    expect([status, stdout]).toEqual([0, '']);
  });

  it.each(members)('$name is started with a command and settings that the program takes', async (member) => {
    const { container, environment } = member;
    expect(await refusal(container.args)).toBeUndefined();
    expect(container.envFrom).toEqual([
      { configMapRef: { name: 'runsheet' } },
      { secretRef: { name: 'runsheet-s3' } },
    ]);
    const names = Object.keys(environment).filter((name) => name.startsWith('RUNSHEET_'));
    expect(names.filter((name) => !VARIABLES.includes(name))).toEqual([]);
    const config = loadConfig(environment);
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(config.metrics).toEqual({ host: '0.0.0.0', port: ports['metrics'] });
    expect(config.webhook.listen?.port).toBe(ports['webhooks']);
    for (const probe of ['startupProbe', 'livenessProbe'])
      expect(container[probe]).toMatchObject({ httpGet: { path: '/healthz', port: 'metrics' } });
    // A receiver takes webhooks also while the bucket is away; a worker needs the bucket.
    const port = container.args.includes('--receiver-only') ? 'webhooks' : 'metrics';
    expect(container['readinessProbe']).toMatchObject({ httpGet: { path: '/readyz', port } });
    // The member writes only to the bucket and to /tmp.
    const mounted = container.volumeMounts.map(({ mountPath }) => mountPath);
    expect(mounted).toEqual(['/run/secrets/runsheet', '/tmp']);
    const tmp = member.pod.volumes.find(({ name }) => name === 'tmp');
    expect(tmp?.emptyDir?.sizeLimit).toMatch(/^\d+Gi$/);
    expect(config.out).toMatch(/^s3:/);
    expect(config.home).toMatch(/^\/tmp\//);
    expect(config.cache).toMatch(/^\/tmp\//);
  });

  it.each(members)(
    '$name may end every request, and is no root and writes to no image',
    ({ pod, container, environment }) => {
      const { member } = loadConfig(environment);
      expect(member.drainMs).toBeGreaterThan(DEFAULT_TIMING.postDeadlineMs);
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(member.drainMs);
      // The address of a Service runsheet-… would come as RUNSHEET_…
      expect(pod.enableServiceLinks).toBe(false);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    },
  );

  it('takes secrets from the files of one Secret, whose example has no usable value', () => {
    const { stringData } = manifest('Secret', 'runsheet') as { stringData: Record<string, string> };
    const files = Object.entries(data).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([, path]) => path.replace('/run/secrets/runsheet/', '')).sort()).toEqual(
      Object.keys(stringData).sort(),
    );
    const s3 = manifest('Secret', 'runsheet-s3') as { stringData: Record<string, string> };
    expect(takeS3Settings(s3.stringData)).toBeDefined();
    const values = [...Object.values(stringData), ...Object.values(s3.stringData)];
    expect(new Set(values)).toEqual(new Set(['REPLACE-ME']));
    for (const { pod } of members)
      expect(pod.volumes).toContainEqual(
        expect.objectContaining({ secret: expect.objectContaining({ secretName: 'runsheet' }) }),
      );
    for (const name of Object.keys(stringData)) expect(SETUP).toContain(`--from-file=${name}=./${name}`);
  });

  it('names what exists: labels, claims, ports, hosts, queues and deployments', () => {
    for (const { name, spec, container } of members) {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      const budget = manifest('PodDisruptionBudget', name) as { spec: { selector: object } };
      expect(budget.spec.selector).toEqual(spec.selector);
      expect(container.image).toBe('runsheet');
    }
    const service = manifest('Service', 'runsheet-webhooks') as {
      spec: { selector: object; ports: readonly object[] };
    };
    expect(members[0]?.spec.template.metadata.labels).toMatchObject(service.spec.selector);
    expect(service.spec.ports).toMatchObject([{ name: 'webhooks', targetPort: 'webhooks' }]);
    const ingress = manifest('Ingress', 'runsheet-webhooks') as {
      spec: { rules: readonly { host: string }[]; tls: readonly { secretName: string }[] };
    };
    expect(SETUP).toContain(`create secret tls ${ingress.spec.tls[0]?.secretName} `);
    expect(ingress.spec.rules.map(({ host }) => `https://${host}`)).toEqual([data['RUNSHEET_WEBHOOK_URL']]);
    for (const scaler of [
      manifest('HorizontalPodAutoscaler', 'runsheet-worker') as Scaler,
      manifest('ScaledObject', 'runsheet-worker') as Scaler,
    ])
      expect(scaler.spec.scaleTargetRef.name).toBe('runsheet-worker');
    const { triggers = [] } = (manifest('ScaledObject', 'runsheet-worker') as Scaler).spec;
    expect(
      triggers.map(({ metadata }) => [metadata['taskQueue'], metadata['endpoint'], metadata['namespace']]),
    ).toEqual(
      [TASK_QUEUE, workQueueOf(TASK_QUEUE), filesQueueOf(TASK_QUEUE)].map((queue) => [
        queue,
        data['TEMPORAL_ADDRESS'],
        data['TEMPORAL_NAMESPACE'],
      ]),
    );
    const kustomizations = manifests.filter(({ kind }) => kind === 'Kustomization') as unknown as readonly {
      readonly images?: readonly object[];
      readonly resources: readonly string[];
    }[];
    const images = kustomizations.flatMap((kustomization) => kustomization.images ?? []);
    expect(images).toHaveLength(5);
    for (const image of images) expect(image).toMatchObject({ name: 'runsheet', newTag: version });
    const resources = kustomizations.flatMap((kustomization) => kustomization.resources);
    expect(resources).toContain('hpa.yaml');
    // Two scalers work against each other.
    for (const file of ['secret.example.yaml', 'keda.yaml']) expect(resources).not.toContain(file);
  });

  it('lets pods be reached on their ports only, and reach no address of metadata or of a private network', () => {
    const { spec } = manifest('NetworkPolicy', 'runsheet') as { spec: Policy };
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    const named = spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
    for (const { container } of members)
      expect(named.map(String).toSorted()).toEqual(container.ports.map(({ name }) => name).toSorted());
    for (const { spec: deployment } of members)
      expect(deployment.template.metadata.labels).toMatchObject(spec.podSelector.matchLabels);
    const [host = '', port] = data['TEMPORAL_ADDRESS']?.split(':') ?? [];
    expect(spec.egress).toContainEqual({
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': host.split('.')[1] } } }],
      ports: [{ port: Number(port) }],
    });
    const blocks = spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const [all4, all6] = blocks;
    const isOpen = (address: string): boolean => {
      const list = new BlockList();
      for (const range of address.includes(':') ? [] : (all4?.except ?? []))
        list.addSubnet(range.split('/')[0] ?? '', Number(range.split('/')[1]));
      if (!address.includes(':')) return !list.check(address);
      list.addSubnet('2000::', 3, 'ipv6');
      return list.check(address, 'ipv6');
    };
    expect([all4?.cidr, all6?.cidr]).toEqual(['0.0.0.0/0', '2000::/3']);
    for (const address of ['93.184.215.14', '2606:4700::1111'])
      expect([address, isOpen(address)]).toEqual([address, true]);
    for (const address of [
      '169.254.169.254',
      '168.63.129.16',
      '100.100.100.200',
      '10.0.0.1',
      '172.20.0.1',
      '192.168.1.1',
      '127.0.0.1',
      'fd00:ec2::254',
    ])
      expect([address, isOpen(address)]).toEqual([address, false]);
  });

  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
  it.runIf(hasKubectl)('is what kubectl puts together', () => {
    const built = kustomized('deploy/kubernetes');
    expect(built.match(/^kind: .*/gm)?.sort()).toEqual(
      [
        'ConfigMap',
        'Deployment',
        'HorizontalPodAutoscaler',
        'Ingress',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
      ].map((kind) => `kind: ${kind}`),
    );
    expect(built).toContain(`image: registry.example.org/runsheet:${version}`);
  });

  it.runIf(hasKubectl)(
    'has receivers of their own if they are asked for, which then get the webhooks',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'runsheet-receivers-'));
      cpSync(join(ROOT, 'deploy/kubernetes'), folder, { recursive: true });
      const file = join(folder, 'kustomization.yaml');
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace('# components:\n#   - receivers', 'components:\n  - receivers'));
      const objectsIn = parseAllDocuments(kustomized(folder)).map((document) => document.toJS() as Manifest);
      rmSync(folder, { recursive: true });
      const deployments = objectsIn.filter(({ kind }) => kind === 'Deployment') as unknown as Deployment[];
      const templates = deployments.map(({ spec }) => spec.template);
      expect(templates.map(({ spec }) => spec.containers[0].args)).toEqual([
        ['worker', '--receiver-only'],
        ['worker', '--no-receiver'],
      ]);
      const selector = objectsIn.find(({ kind }) => kind === 'Service')?.spec['selector'] as object;
      expect(templates[0]?.metadata.labels).toMatchObject(selector);
      expect(templates[1]?.metadata.labels).not.toMatchObject(selector);
    },
  );

  it.runIf(hasKubectl)('starts a build beside another one, for the same webhooks', () => {
    const [usualObjects, buildObjects] = ['deploy/kubernetes', 'deploy/kubernetes/build'].map((folder) =>
      parseAllDocuments(kustomized(folder)).map((object) => object.toJS() as Manifest),
    );
    const deploymentIn = (some: readonly Manifest[] = []): Manifest & Deployment =>
      some.find(({ kind }) => kind === 'Deployment') as Manifest & Deployment;
    const [usual, build] = [deploymentIn(usualObjects), deploymentIn(buildObjects)];
    expect(build.metadata.name).not.toBe(usual.metadata.name);
    expect(build.spec.template.metadata.labels).not.toMatchObject(usual.spec.selector.matchLabels);
    expect(build.spec.template.metadata.labels).toMatchObject(build.spec.selector.matchLabels);
    const selector = usualObjects?.find(({ kind }) => kind === 'Service')?.spec['selector'] as object;
    expect(build.spec.template.metadata.labels).toMatchObject(selector);
    const scaler = buildObjects?.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as unknown as Scaler;
    expect(scaler.spec.scaleTargetRef.name).toBe(build.metadata.name);
  });

  it.runIf(hasKubectl)('is what the Worker Controller takes, with the pods of the usual Deployment', () => {
    const built = parseAllDocuments(kustomized('deploy/kubernetes/controller')).map(
      (document) => document.toJS() as Manifest,
    );
    expect(built.map(({ kind }) => kind).toSorted()).toEqual([
      'Connection',
      'PodDisruptionBudget',
      'WorkerDeployment',
    ]);
    const schemas = JSON.parse(
      readFileSync(join(import.meta.dirname, 'worker-controller.json'), 'utf8'),
    ) as Readonly<Record<string, object>>;
    for (const { kind, spec } of built.filter(({ apiVersion }) => apiVersion.startsWith('temporal.io/'))) {
      const ajv = new Ajv({ allErrors: true });
      ajv.validate(schemas[kind] ?? false, spec);
      expect([kind, ajv.errors ?? null]).toEqual([kind, null]);
    }
    const specOf = (kind: string) => built.find((object) => object.kind === kind)?.spec ?? {};
    const usual = parseAllDocuments(kustomized('deploy/kubernetes'))
      .map((document) => document.toJS() as Manifest)
      .find(({ kind }) => kind === 'Deployment');
    const { template, workerOptions } = specOf('WorkerDeployment');
    expect(template).toEqual(usual?.spec['template']);
    const { connectionRef, temporalNamespace } = workerOptions as {
      readonly connectionRef: { readonly name: string };
      readonly temporalNamespace: string;
    };
    const connection = built.find(({ kind }) => kind === 'Connection');
    expect([connection?.metadata.name, connection?.spec['hostPort'], temporalNamespace]).toEqual([
      connectionRef.name,
      data['TEMPORAL_ADDRESS'],
      data['TEMPORAL_NAMESPACE'],
    ]);
  });
});

type Scaler = {
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly triggers?: readonly { readonly metadata: Readonly<Record<string, string>> }[];
  };
};
