/** Executions of a function and of the blocks in it. */
export interface ScriptFunction {
  readonly ranges: readonly {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly count: number;
  }[];
}

export interface FolderCoverage {
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  readonly covered: number;
}

export declare function markCovered(covered: Uint8Array, functions: readonly ScriptFunction[]): void;
export declare function coverageByFolder(
  coverage: ReadonlyMap<string, Uint8Array>,
  depth: number,
): FolderCoverage[];
