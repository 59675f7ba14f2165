// The kinds of servers that run workflows on GPUs of the user's own.

export const SERVER_KINDS = ['comfyui', 'comfy-api'] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];
