/** One small fault: the text that stands between two offsets, and what takes its place. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  /** Counts from 1. */
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

export declare function listMutants(text: string): readonly Mutant[];
export declare function applyMutant(text: string, mutant: Pick<Mutant, 'start' | 'end' | 'to'>): string;
