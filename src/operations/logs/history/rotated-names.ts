/** Suffix that the kubelet or Docker adds to a rotated log; either file may be gzipped. */
const ROTATED = /^\.(?:(\d{8}-\d{6})|(\d{1,6}))(\.gz)?$/;

interface Rotated {
  readonly suffix: string;
  readonly order: number;
  readonly gzipped: boolean;
}

/**
 * Returns those of the suffixes of a log's name that rotations add, the oldest first. Omits that of a gzipped file if the plain
 * one exists.
 */
export function sortRotated(suffixes: readonly string[]): readonly string[] {
  const rotated = suffixes.flatMap((suffix): readonly Rotated[] => {
    const [, timestamp, number, gzip] = ROTATED.exec(suffix) ?? [];
    if (timestamp === undefined && number === undefined) return [];
    // Docker's numbers increase with age.
    const order = timestamp === undefined ? -Number(number) : Number(timestamp.replace('-', ''));
    return [{suffix, order, gzipped: gzip !== undefined}];
  });
  return rotated
    .filter((segment) => !isDuplicate(segment, rotated))
    .toSorted((a, b) => a.order - b.order)
    .map(({suffix}) => suffix);
}

function isDuplicate({gzipped, order}: Rotated, all: readonly Rotated[]): boolean {
  return gzipped && all.some((other) => !other.gzipped && other.order === order);
}
