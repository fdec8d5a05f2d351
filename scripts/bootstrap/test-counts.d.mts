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

export interface FailuresReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Why the file could not be run, or empty. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export declare const NO_TESTS: TestCount;
export declare function countTests(report: TestReport): TestCount;
export declare function describeFailures(report: FailuresReport): string[];
export declare function addCounts(one: TestCount, other: TestCount): TestCount;
export declare function formatTestCount(count: TestCount): string;
export declare function findProblem(run: {
  readonly total: TestCount;
  readonly onRuntimes: TestCount;
  readonly runtimes: number;
  readonly inCi: boolean;
}): string | undefined;
