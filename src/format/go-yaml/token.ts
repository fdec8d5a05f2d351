/** Kinds of tokens that have no content. */
export type Indicator =
  | 'stream-end'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value';

/** Content of a token. */
export type TokenContent =
  | {readonly kind: Indicator}
  | {readonly kind: 'version-directive'; readonly isSupported: boolean}
  | {readonly kind: 'tag-directive'; readonly handle: string; readonly prefix: string}
  | {readonly kind: 'alias' | 'anchor'; readonly name: string}
  | {readonly kind: 'tag'; readonly handle: string; readonly suffix: string}
  | {readonly kind: 'scalar'; readonly value: string; readonly isPlain: boolean};

/** A token of YAML with the line of its start, from 0. */
export type Token = TokenContent & {readonly line: number};
