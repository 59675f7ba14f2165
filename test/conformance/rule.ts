// Defines a rule of the API as data: its text, its source, and a violation that breaks only this rule.

/** If the specification and the real service differ, a rule and its cases belong to one of them. */
export type Flavour = 'specification' | 'vendor';

export type Rule = {
  readonly id: string;
  /** The chapter that states it: one of the specification, or `Real service: …` where the specification is silent. */
  readonly source: string;
  readonly text: string;
  /** The gateway uses it to break this rule. */
  readonly broken: Violation;
  readonly only?: Flavour;
};

/** A request that the gateway received. */
export type ReceivedRequest = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** An answer that the gateway sends. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** A webhook on its way from the service to its receiver. */
export type Hook = ReceivedRequest & { readonly url: string };

/** Forwards a request to the service, and returns its answer. */
export type Pass = (received: ReceivedRequest) => Promise<Answer>;

/** The state of a violation; it lives as long as the gateway. */
export type Memory = Map<string, string>;

/** The gateway's changes to requests, answers and webhooks. */
export type Violation = {
  readonly exchange?: (received: ReceivedRequest, pass: Pass, memory: Memory) => Promise<Answer>;
  /** Returns the status for the service; `deliver` sends a webhook to its receiver and returns the receiver's status. */
  readonly hook?: (hook: Hook, deliver: (hook: Hook) => Promise<number>, memory: Memory) => Promise<number>;
};

/** The rules of one chapter, each with its id, its text, and its violation. */
export const chapter = (
  source: string,
  rules: readonly (readonly [id: string, text: string, broken: Violation, only?: Flavour | undefined])[],
): readonly Rule[] =>
  rules.map(([id, text, broken, only]) => ({ id, source, text, broken, ...(only && { only }) }));
