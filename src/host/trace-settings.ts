// Where a worker sends traces: RUNSHEET_TRACES, or the variables that every OpenTelemetry program reads.

import { keepSecret } from '../errors/redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PATH = '/v1/traces';

/** The complete address, or undefined for none. `wish`: the setting, an address or `off`. */
export function tracesAddress(environment: Environment, wish: string | undefined): string | undefined {
  keepHeaders(environment);
  if (wish === 'off') return undefined;
  if (wish !== undefined) return withPath(wish);
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return undefined;
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole, OTEL_EXPORTER_OTLP_ENDPOINT: base } = environment;
  return whole || (base ? withPath(base.replace(/\/+$/, '')) : undefined);
}

const withPath = (base: string): string => (base.endsWith(PATH) ? base : `${base}${PATH}`);

/** The headers usually contain a token; the exporter reads them itself. */
function keepHeaders(environment: Environment): void {
  const { OTEL_EXPORTER_OTLP_HEADERS: all, OTEL_EXPORTER_OTLP_TRACES_HEADERS: own } = environment;
  for (const pair of [all, own].join(',').split(',')) {
    const value = pair.slice(pair.indexOf('=') + 1).trim();
    keepSecret(value);
    keepSecret(decoded(value));
  }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // The exporter does not accept it either.
    return value;
  }
}
