// What verify found, as JSON.

import { z } from 'zod';
import { shaped, type Given } from './shape.ts';

export const verificationSchema = z.object({
  batch: z.string(),
  holds: z.boolean(),
  lists_checked: z.boolean().describe('whether the run list of the service was compared'),
  lists_unread: z.string().nullable().describe('why the run list of the service could not be read'),
  findings: z.array(z.object({ claim: z.string(), holds: z.boolean(), message: z.string() })),
});

type Verification = z.infer<typeof verificationSchema>;

export const verificationJson = (verification: Given<Verification>): Verification =>
  shaped(verificationSchema, verification);
