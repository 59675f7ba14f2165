// The kinds of servers that run tasks: a ComfyUI, a Comfy API, a GPU of this machine for programs, and vendors of hosted models.

export const VENDORS = ['replicate', 'router', 'runpod', 'fal'] as const;
export type Vendor = (typeof VENDORS)[number];

export const SERVER_KINDS = ['comfyui', 'comfy-api', 'gpu', ...VENDORS] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];
