/** One bound of `[from:to:step]`. */
export type Bound = number | undefined;

/** A step from a list of values to another list of values. */
export type Step =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'literal'; readonly value: number | boolean}
  | {readonly kind: 'identifier'; readonly name: string}
  | {readonly kind: 'field'; readonly name: string}
  /** `['key']`: that very key, or else what the path in the quotes leads to. */
  | {readonly kind: 'key'; readonly key: string; readonly path: readonly Step[]}
  | {readonly kind: 'index'; readonly index: number}
  | {readonly kind: 'slice'; readonly from: Bound; readonly to: Bound; readonly step: Bound}
  | {readonly kind: 'wildcard'}
  | {readonly kind: 'descent'}
  | {readonly kind: 'union'; readonly paths: readonly (readonly Step[])[]}
  | Filter;

export interface Filter {
  readonly kind: 'filter';
  readonly left: readonly Step[];
  /** Without an operator the left side only has to be there. */
  readonly operator: string | undefined;
  readonly right: readonly Step[];
}

/** A part of a template: text as it is, what a path finds, or parts for each value that a path finds. */
export type Part =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'path'; readonly steps: readonly Step[]}
  | {readonly kind: 'range'; readonly steps: readonly Step[]; readonly parts: readonly Part[]};
