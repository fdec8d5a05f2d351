/** Returns the paths of the values in JSON with their types, sorted; maps such as labels are one value. */
export function jsonShape(value: unknown): readonly string[] {
  return [...shapeOf(value, '')].toSorted();
}

const MAPS = /labels|annotations|managedFields|f:/;

function shapeOf(value: unknown, path: string): ReadonlySet<string> {
  if (Array.isArray(value))
    return joined(
      value.map((item) => shapeOf(item, `${path}[]`)),
      `${path}[]`,
    );
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([key, item]) =>
      MAPS.test(key) ? new Set([`${path}.${key}`]) : shapeOf(item, `${path}.${key}`),
    );
    return joined(fields, `${path}{}`);
  }
  return new Set([`${path}:${typeName(value)}`]);
}

function joined(sets: readonly ReadonlySet<string>[], empty: string): ReadonlySet<string> {
  return sets.length === 0 ? new Set([empty]) : new Set(sets.flatMap((set) => [...set]));
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Returns the series of an exposition, sorted, without the values of labels that name objects. */
export function metricsShape(text: string): readonly string[] {
  const series = text.split('\n').flatMap((line) => {
    const [found] = /^[\w:]+(?:\{[^}]*\})?/.exec(line) ?? [];
    return found === undefined ? [] : [found.replace(/(container|pod|namespace|node)="[^"]*"/g, '$1')];
  });
  return [...new Set(series)].toSorted();
}
