/** Bound of `[from:to:step]`. */
export type Bound = number | undefined;

/** Step from a list of values to another one. */
export type Step =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'literal'; readonly value: number | boolean}
  | {readonly kind: 'identifier'; readonly name: string}
  | {readonly kind: 'field'; readonly name: string}
  /** Step `['key']`: the key itself, or else the path in the quotes. */
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
  /** Comparison operator; undefined to test only whether the left operand exists. */
  readonly operator: string | undefined;
  readonly right: readonly Step[];
}

/** Part of a template: text, the values of a path, or parts for each value of a path. */
export type Part =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'path'; readonly steps: readonly Step[]}
  | {readonly kind: 'range'; readonly steps: readonly Step[]; readonly parts: readonly Part[]};
