export declare function fetchFromSuite(request: {
  readonly suites: readonly string[];
  readonly package: string;
  readonly into: string;
}): Promise<string>;
