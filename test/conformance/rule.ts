// A rule of the interface, as data: what it says, where that is written, and a lie that breaks it and nothing else.

/** Where the specification and the real service differ, a rule and its cases are for one of them. */
export type Flavour = 'specification' | 'vendor';

export type Rule = {
  readonly id: string;
  /** The chapter that states it: one of the specification, or `Real service: …` where the specification is silent. */
  readonly source: string;
  readonly says: string;
  /** Switched on in the gateway, it breaks this rule. */
  readonly broken: Lie;
  readonly only?: Flavour;
};

/** A request as the gateway got it. */
export type Asked = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** An answer as the gateway gives it. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** A webhook on its way from the service to its receiver. */
export type Hook = Asked & { readonly url: string };

/** Passes a request on to the service, and gives its answer. */
export type Pass = (asked: Asked) => Promise<Answer>;

/** What a lie keeps for later; it lives as long as the gateway. */
export type Memory = Map<string, string>;

/** What the gateway does to what passes through it. */
export type Lie = {
  readonly exchange?: (asked: Asked, pass: Pass, memory: Memory) => Promise<Answer>;
  /** Gives the status that the service sees; `deliver` brings a webhook to its receiver and gives that one's status. */
  readonly hook?: (hook: Hook, deliver: (hook: Hook) => Promise<number>, memory: Memory) => Promise<number>;
};

/** The rules of one chapter: each with its id, what it says, and how it is broken. */
export const chapter = (
  source: string,
  rules: readonly (readonly [id: string, says: string, broken: Lie, only?: Flavour | undefined])[],
): readonly Rule[] =>
  rules.map(([id, says, broken, only]) => ({ id, source, says, broken, ...(only && { only }) }));
