/** Cost of a step of a pod's life: times in ms, numbers of calls, requests and fsyncs, by name. */
export type Cost = Readonly<Record<string, number>>;

/** Limits of the steps, each a list such as `StartContainer 1, PATCH pods/status 2`. */
export type Limits = Readonly<Record<string, readonly string[]>>;

/** Counts how often each name occurs. */
export function tally(names: readonly string[]): Cost {
  return Object.fromEntries(
    [...new Set(names)].map((name) => [name, names.filter((other) => other === name).length]),
  );
}

function parseLimits(lines: readonly string[]): ReadonlyMap<string, number> {
  const entries = lines.flatMap((line) => line.split(', '));
  return new Map(
    entries.map((entry) => {
      const at = entry.lastIndexOf(' ');
      return [entry.slice(0, at), Number(entry.slice(at + 1))];
    }),
  );
}

/**
 * Returns the figures that exceed their limit, one text for each. What has no limit must not occur. Less is no fault, since
 * what happens at one moment of the clock may be combined.
 */
export function excessOver(limits: Limits, costs: Readonly<Record<string, Cost>>): readonly string[] {
  return Object.entries(costs).flatMap(([step, cost]) => {
    const limitOf = parseLimits(limits[step] ?? []);
    return Object.entries(cost).flatMap(([name, figure]) => {
      const limit = limitOf.get(name) ?? 0;
      return figure <= limit ? [] : [`${step}: ${name}: ${figure}, at most ${limit}`];
    });
  });
}
