// The document's examples: one run, written by the same functions that write real answers.

import { deploymentToWire } from '../deployment.ts';
import { lineToWire, logToWire, type LogLine } from '../log-entry.ts';
import { runPageToWire, runToLightRow, runToListWire, runToWire, type RunRecord } from '../run.ts';
import { uploadToWire } from '../upload.ts';
import { runToV1Wire } from '../v1.ts';
import { webhookToWire } from '../webhook.ts';

const RUN_ID = '0b5f7a52-6f0c-4c5e-9a53-2f0d8f1c7f11';
const DEPLOYMENT_ID = '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f';
const WORKFLOW_ID = '9c1d6a40-7b52-4be2-8a0e-51f3c9d27b60';
const CREATED_MS = Date.parse('2025-01-02T03:04:05.123Z');
const WEBHOOK = 'https://example.com/hooks/runs';
const INPUTS = { prompt: 'a lighthouse at dawn', seed: 7 };

const RUN: RunRecord = {
  id: RUN_ID,
  workflowVersionId: '5b0f44aa-2c9e-4d11-b9f7-6e1f0c6a9d02',
  workflowInputs: INPUTS,
  workflowId: WORKFLOW_ID,
  machineId: '77f3a0de-1b67-4e0b-a3a4-c0b6f3f4e9d1',
  origin: 'api',
  status: 'success',
  endedAtMs: CREATED_MS + 18_759,
  createdAtMs: CREATED_MS,
  updatedAtMs: CREATED_MS + 18_759,
  queuedAtMs: CREATED_MS + 4_813,
  startedAtMs: CREATED_MS + 12_576,
  gpuEventId: 'd1c6a7b0-63a5-4a0c-8d1e-4b7b2f6f0c3a',
  gpu: 'A10G',
  machineVersion: 'v2.3.10',
  machineType: 'serverless',
  callId: 'fc-010B5F7A526F0C4C5E9A532F0D',
  userId: 'user_local',
  orgId: null,
  liveStatus: 'Executing SaveImage',
  progress: 1,
  webhook: WEBHOOK,
  webhookIntermediateStatus: false,
  outputs: [
    {
      id: 'c0a1f7de-5a3b-4c1f-8b8e-1d2c3b4a5f60',
      runId: RUN_ID,
      nodeId: '9',
      nodeClass: 'SaveImage',
      data: {
        images: [
          {
            url: `http://127.0.0.1:8188/files/runs/${RUN_ID}/picture-1.png`,
            filename: 'picture-1.png',
            type: 'output',
          },
        ],
      },
      createdAtMs: CREATED_MS + 18_759,
    },
  ],
  deploymentId: DEPLOYMENT_ID,
};

const run = runToWire(RUN);
const LINE: LogLine = { atMs: CREATED_MS + 12_576, level: 'info', message: 'Executing KSampler' };

/** An example of each request and answer, by name. */
export const EXAMPLES = {
  order: { deployment_id: DEPLOYMENT_ID, inputs: INPUTS, webhook: WEBHOOK, gpu: 'A10G' },
  queued: { run_id: RUN_ID },
  run,
  listedRuns: [runToListWire(RUN, { inputs: false, outputs: false })],
  lightRows: [runToLightRow(RUN)],
  runPage: runPageToWire([RUN], { total: 1, limit: 60, offset: 0 }),
  v1Run: runToV1Wire(RUN),
  webhook: webhookToWire({
    eventType: 'run.updated',
    status: 'success',
    liveStatus: RUN.liveStatus,
    progress: 1,
    runId: RUN_ID,
    outputs: run.outputs,
  }),
  deployment: deploymentToWire(
    {
      id: DEPLOYMENT_ID,
      name: 'portraits',
      workflowId: WORKFLOW_ID,
      versionId: RUN.workflowVersionId,
      machineId: RUN.machineId,
      gpu: 'A10G',
      concurrencyLimit: 4,
      runTimeoutSeconds: 300,
      inputTypes: [
        { name: 'prompt', type: 'string', required: true },
        { name: 'steps', type: 'int', required: false, default: 20, min: 1, max: 150 },
      ],
    },
    RUN.userId,
  ),
  pricing: { T4: 0.00018, H100: 0.002338 },
  upload: uploadToWire({
    id: '5f3c1b7e-8a2d-4c61-9e0f-7b6a5d4c3b2a',
    name: 'face.png',
    url: 'http://127.0.0.1:8188/files/uploads/5f3c1b7e-8a2d-4c61-9e0f-7b6a5d4c3b2a/face.png',
  }),
  log: logToWire([LINE], { id: RUN_ID, owner: 'user_local' }),
  logStream: `data: ${JSON.stringify(lineToWire(LINE))}\n\n`,
};
