// Settings of a worker or receiver in a cluster: its drain time and its release.

import { z } from 'zod';

/** Stays below the 30 s that Kubernetes grants a container by default. */
const DRAIN_SECONDS = 25;
const MAX_DRAIN_SECONDS = 3_600;

const name = (what: string) =>
  z.string().regex(/^[\w.+-]{1,100}$/, `is no ${what} of letters, digits, -, _, + and .`);

export const MEMBER_SETTINGS = {
  drain_seconds: z.coerce.number().min(1).max(MAX_DRAIN_SECONDS),
  worker_deployment: name('name'),
  worker_build: name('build id'),
} as const;

type MemberValues = {
  readonly [K in keyof typeof MEMBER_SETTINGS]?: z.output<(typeof MEMBER_SETTINGS)[K]>;
};

/** `environment`: Temporal's Worker Controller tells its workers their deployment and build in variables of its own. */
export const memberSettings = (
  values: MemberValues,
  environment: Readonly<Record<string, string | undefined>>,
) => ({
  /** How long a worker that was asked to stop waits for its activities. */
  drainMs: (values.drain_seconds ?? DRAIN_SECONDS) * 1_000,
  /** The Worker Deployment of Temporal that the worker belongs to, if any. */
  deployment: values.worker_deployment ?? (environment['TEMPORAL_DEPLOYMENT_NAME'] || undefined),
  /** The build id in that deployment; undefined means the version of this package. */
  build: values.worker_build ?? (environment['TEMPORAL_WORKER_BUILD_ID'] || undefined),
});

export type MemberSettings = ReturnType<typeof memberSettings>;
