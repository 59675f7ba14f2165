// Reads the text format of Prometheus.

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

export function samplesIn(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] =
        /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? fail(line);
      return { name, labels: labelsIn(labels), value: Number(value.replace('Inf', 'Infinity')) };
    });
}

const fail = (line: string): never => {
  throw new Error(`not a sample: ${line}`);
};

const labelsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );

export type Labels = Readonly<Record<string, string>>;

/** The only value with these labels; undefined if there is none. */
export function valueOf(samples: readonly Sample[], name: string, labels: Labels = {}): number | undefined {
  const matches = samples.filter((sample) => sample.name === name && hasAll(sample.labels, labels));
  if (matches.length > 1)
    throw new Error(`${name} has ${matches.length} values with ${JSON.stringify(labels)}`);
  return matches[0]?.value;
}

const hasAll = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** The values by one of their labels. */
export const byLabel = (
  samples: readonly Sample[],
  name: string,
  label: string,
  labels: Labels = {},
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    samples
      .filter((sample) => sample.name === name && hasAll(sample.labels, labels))
      .map((sample) => [sample.labels[label] ?? '', sample.value]),
  );
