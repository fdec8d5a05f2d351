/** An inclusive interval of completion indexes. */
export interface IndexInterval {
  readonly first: number;
  readonly last: number;
}

/** Returns the increasing intervals of a list such as `1,3-5`; undefined if it is malformed. */
export function parseIndexes(text: string): readonly IndexInterval[] | undefined {
  const intervals: IndexInterval[] = [];
  let previous = -1;
  for (const part of text === '' ? [] : text.split(',')) {
    const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    const isBackward = match[2] !== undefined && last <= first;
    if (first <= previous || isBackward) return undefined;
    intervals.push({first, last});
    previous = last;
  }
  return intervals;
}
