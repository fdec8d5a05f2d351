export interface TestCount {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly {readonly status: string}[];
  }[];
}

export declare const NOTHING: TestCount;
export declare function countOf(report: TestReport): TestCount;
export declare function addCounts(one: TestCount, other: TestCount): TestCount;
export declare function closingLine(count: TestCount): string;
export declare function problemIn(run: {
  readonly total: TestCount;
  readonly onRuntimes: TestCount;
  readonly runtimes: number;
  readonly inCi: boolean;
}): string | undefined;
