// Runs a local service as a separate process, so that a test can kill it. The first argument contains its options as JSON; it
// prints its address.

import {
  deploymentSpecSchema,
  startLocalService,
  type LocalServiceOptions,
} from '../../src/run-service/server.ts';

const options = JSON.parse(process.argv[2] ?? '') as Omit<LocalServiceOptions, 'deployments'> & {
  readonly deployment: unknown;
};
const deployments = [deploymentSpecSchema.parse(options.deployment)];
const { url } = await startLocalService({ ...options, deployments });
process.stdout.write(`${JSON.stringify({ url, deploymentId: deployments[0]?.id })}\n`);
