/** A small fault: the text between two offsets, and its replacement. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  /** Starts at 1. */
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

export declare function listMutants(text: string): readonly Mutant[];
export declare function applyMutant(text: string, mutant: Pick<Mutant, 'start' | 'end' | 'to'>): string;
